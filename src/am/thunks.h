/*
 * thunks.h
 *	  Callbacks whose arguments depend on the major.
 */
#ifndef SLICED_AM_THUNKS_H
#define SLICED_AM_THUNKS_H

#include "postgres.h"

#include "access/tableam.h"

extern void sliced_thunk_callbacks(TableAmRoutine *routine);

#endif
