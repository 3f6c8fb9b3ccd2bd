/*
 * server.h
 *	  As much of a server as decoders need: memory, errors, documents and scans.
 *
 * What a target does not call may be missing: see run.
 */
#ifndef FUZZ_SERVER_H
#define FUZZ_SERVER_H

#include "postgres.h"

/* Run this; true if it has raised no error.  Its memory is freed. */
extern bool server_run(void (*function) (void *arg), void *arg);

/* Make the checksum of a row right, wherever it is. */
extern void correct_checksum(char *row, uint32 len, uint32 objid, int32 seq);

#endif
