/*
 * bracket.c
 *	  A command that must be the latest to have registered something, as REPACK and
 *	  CREATE DATABASE are: it cancels that when a statement has been executed.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "storage/ipc.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(in_bracket);

extern PGDLLEXPORT Datum in_bracket(PG_FUNCTION_ARGS);

static void
clean_up(int code, Datum arg)
{
}

Datum
in_bracket(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(0));

	PG_ENSURE_ERROR_CLEANUP(clean_up, (Datum) 0);
	{
		SPI_connect();
		SPI_execute(statement, false, 0);
		SPI_finish();
	}
	PG_END_ENSURE_ERROR_CLEANUP(clean_up, (Datum) 0);
	PG_RETURN_VOID();
}
