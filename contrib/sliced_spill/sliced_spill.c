/*
 * sliced_spill.c
 *	  Sets up everything when the library is loaded.
 */
#include "postgres.h"

#include "fmgr.h"
#include "spill.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	sliced_spill_init();
}
