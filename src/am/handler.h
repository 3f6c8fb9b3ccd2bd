/*
 * handler.h
 *	  The table of callbacks.
 */
#ifndef SLICED_AM_HANDLER_H
#define SLICED_AM_HANDLER_H

#include "postgres.h"

#include "access/tableam.h"

/* heap's routine, which ours calls */
extern const TableAmRoutine *sliced_heap;

#endif
