/*
 * server.h
 *	  As much of a server as decoders need: memory, errors, documents and scans.
 *
 * Functions that a target does not call may be missing: see run.
 */
#ifndef FUZZ_SERVER_H
#define FUZZ_SERVER_H

#include "postgres.h"

/* Call the function; true if it raised no error.  Frees its memory. */
extern bool server_run(void (*function) (void *arg), void *arg);

/* Make the checksum of a row right, at either place where it may be. */
extern void correct_checksum(char *row, uint32 len, uint32 objid, int32 seq);

#endif
