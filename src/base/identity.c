/*
 * identity.c
 *	  Which relations are ours.
 */
#include "postgres.h"

#include "base/identity.h"

const TableAmRoutine *sliced_routine = NULL;
