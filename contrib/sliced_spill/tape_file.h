/*
 * tape_file.h
 *	  The files of tapes.
 */
#ifndef SLICED_SPILL_TAPE_FILE_H
#define SLICED_SPILL_TAPE_FILE_H

#include "postgres.h"

#include "base/compat.h"
#include "portability/instr_time.h"
#include "tape.h"

static inline instr_time
sliced_time_since(instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return now;
}

/* Give the tape a file, unless it has one. */
extern void sliced_tape_need_file(SlicedTape *tape);

/* Write at the end of the tape's file. */
extern void sliced_tape_write(SlicedTape *tape, const char *bytes, Size len);

/* Read from where the last call has ended. */
extern void sliced_tape_read(SlicedTape *tape, char *bytes, Size len);

/* Fail: we read something else than we wrote. */
pg_noreturn extern void sliced_tape_corrupted(SlicedTape *tape);

/* Turn to the next part that is not empty, if the tape is shared; false if there is none. */
extern bool sliced_tape_next_part(SlicedTape *tape);

extern void sliced_tape_close(SlicedTape *tape);

#endif
