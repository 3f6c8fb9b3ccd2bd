/*
 * stop.h
 *	  Points at which a test makes us wait or fail, or kills the server.
 *
 *		SLICED_STOP("insert.row-inserted");
 *
 * stands between two writes, or between two changes of what a session remembers.
 * It compiles to nothing unless the tests ask for it (-DSLICED_STOP_POINTS, which
 * "./dev test stops" sets).  Each name is there once: test/stops finds all of them
 * in the sources, and fails for one that no scenario reaches.
 *
 * A test says what happens at which point:
 *
 *		SET sliced.stop_at = 'insert.row-inserted:cancel:2'		-- the second time
 *		SET sliced.stop_at = 'any:trace:1'						-- say where we are
 *		SET sliced.stop_at = 'insert.row-inserted:pause:1'		-- for pg_advisory_lock(1)
 *
 * An error must be allowed there, so no point stands in a critical section.  Where
 * the transaction has ended and nothing may fail any more, use SLICED_STOP_DEAD(): a
 * test can only kill the server there.
 */
#ifndef SLICED_BASE_STOP_H
#define SLICED_BASE_STOP_H

#include "postgres.h"

#ifdef SLICED_STOP_POINTS

#define SLICED_STOP(name)		sliced_stop(name, true)
#define SLICED_STOP_DEAD(name)	sliced_stop(name, false)

extern void sliced_stop(const char *name, bool may_fail);
extern void sliced_stop_init(void);

#else

#define SLICED_STOP(name)		((void) 0)
#define SLICED_STOP_DEAD(name)	((void) 0)
#define sliced_stop_init()		((void) 0)

#endif

#endif
