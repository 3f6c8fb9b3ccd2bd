/*
 * train.c
 *	  sliced.train(): trains dictionaries on request.
 */
#include "postgres.h"

#include "access/relation.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/locks.h"
#include "base/settings.h"
#include "base/tables.h"
#include "catalog/pg_class.h"
#include "commands/tablecmds.h"
#include "fmgr.h"
#include "funcapi.h"
#include "learn/train.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

/* Train for a column and show the result. */
static void
train_and_show(ReturnSetInfo *rsinfo, Relation rel, int attno, const SlicedColumn *column)
{
	SlicedWriter *writer;
	SlicedEntry entry;
	char	   *bytes = sliced_train_column(rel, GetLatestSnapshot(), attno, column, &entry);
	Datum		values[8];
	bool		nulls[8] = {false};

	if (bytes != NULL)
	{
		writer = sliced_dictionary_writer(rel);
		sliced_dictionary_add(writer, attno, &entry, bytes);
		sliced_writer_close(writer);
	}
	values[0] = sliced_table_datum(RelationGetRelid(rel));
	values[1] = NameGetDatum(&TupleDescAttr(RelationGetDescr(rel), attno - 1)->attname);
	values[2] = ObjectIdGetDatum(entry.id);
	values[3] = Int32GetDatum(entry.samples);
	values[4] = Int32GetDatum(entry.len);
	values[5] = Int64GetDatum(entry.raw);
	values[6] = Int64GetDatum(entry.before);
	values[7] = Int64GetDatum(entry.after);
	nulls[2] = nulls[4] = bytes == NULL;
	nulls[5] = nulls[6] = nulls[7] = entry.raw == 0;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* The user has named the column: report why it can have no dictionary. */
static void
complain_of_column(Relation rel, int attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	SlicedColumn column;

	if (att->attlen != -1 || !OidIsValid(rel->rd_rel->reltoastrelid))
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("column \"%s\" cannot have a dictionary", NameStr(att->attname)),
				att->attlen == -1 ?
				errdetail("Values of table \"%s\" always stay in their row.", RelationGetRelationName(rel)) :
				errdetail("Values of type %s are short and always stay in their row.",
						  format_type_be(att->atttypid)));
	column = sliced_column(rel, attno);
	if (column.dictionary == SLICED_DICTIONARY_OFF)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("dictionaries are off for column \"%s\"", NameStr(att->attname)),
				errhint("Option \"dictionary\" and setting sliced.dictionary decide that; sliced.columns shows what holds."));
	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("column \"%s\" cannot have a dictionary with compression %s",
				   NameStr(att->attname), sliced_codec_get(column.compression.codec)->name),
			errhint("Use compression lz4 or zstd."));
}

/* 'column_name' may be NULL: all columns that can have one. */
static void
train_table(ReturnSetInfo *rsinfo, Relation rel, const char *column_name)
{
	int			only = column_name == NULL ? 0 : get_attnum(RelationGetRelid(rel), column_name);

	if (column_name != NULL && only <= 0)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", column_name,
					   RelationGetRelationName(rel)));
	if (!OidIsValid(rel->rd_rel->reltoastrelid))
	{
		if (only != 0)
			complain_of_column(rel, only);
		return;
	}
	if (sliced_toast_is_foreign(rel))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("toast relation of \"%s\" does not have access method \"sliced\"",
					   RelationGetRelationName(rel)),
				errhint("VACUUM FULL repairs that."));
	/* wait for another session's dictionary, which decides what is worth it here */
	sliced_own_lock_take(SLICED_LOCK_DIRECTORY, rel->rd_rel->reltoastrelid, true);
	for (int attno = 1; attno <= RelationGetDescr(rel)->natts; attno++)
	{
		SlicedColumn column;

		if (only != 0 && only != attno)
			continue;
		if (sliced_wants_dictionary(rel, attno, &column))
			train_and_show(rsinfo, rel, attno, &column);
		else if (only != 0)
			complain_of_column(rel, attno);
	}
}

PG_FUNCTION_INFO_V1(sliced_train);

Datum
sliced_train(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	sliced_argument_check(fcinfo, 0, "rel");
	sliced_refuse_read_only("sliced.train()");
	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, sliced_tables_lock(PG_GETARG_OID(0), SLICED_OWNER, RowExclusiveLock))
	{
		Relation	rel = relation_open(lfirst_oid(lc), NoLock);

		train_table(rsinfo, rel, PG_ARGISNULL(1) ? NULL : NameStr(*PG_GETARG_NAME(1)));
		relation_close(rel, NoLock);
	}
	return (Datum) 0;
}
