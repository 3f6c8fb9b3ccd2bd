/*
 * columns.c
 *	  sliced_functions.column_options(): which options the columns of a table have, and why.
 */
#include "postgres.h"

#include "access/relation.h"
#include "base/settings.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "codec/codec.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "toaster/column.h"
#include "toaster/registry.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

/* "label of table", or "label of table docs" if the label is another table's. */
static char *
label_source(const char *what, Oid label_relid, Oid relid)
{
	if (label_relid == relid)
		return psprintf("label of %s", what);
	return psprintf("label of %s %s", what,
					DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(label_relid))));
}

static char *
source_text(const SlicedSource *source, Oid relid, Form_pg_attribute att, const char *by_default)
{
	switch (source->origin)
	{
		case SLICED_FROM_STORAGE:
			return att->attstorage == get_typstorage(att->atttypid) ? "type" : "SET STORAGE";
		case SLICED_FROM_COMPRESSION:
			return "SET COMPRESSION";
		case SLICED_FROM_COLUMN_LABEL:
			return label_source(source->relid == relid ? "column" : "column of", source->relid, relid);
		case SLICED_FROM_TABLE_LABEL:
			return label_source("table", source->relid, relid);
		case SLICED_FROM_DEFAULT:
			break;
	}
	return unconstify(char *, by_default);
}

static void
put_column(ReturnSetInfo *rsinfo, Relation rel, int attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	Oid			relid = RelationGetRelid(rel);
	SlicedColumnSources sources;
	SlicedColumn column = sliced_column_explain(rel, attno, &sources);
	const SlicedCodec *codec = sliced_codec_get(column.compression.codec);
	SlicedRegistered *by_default = sliced_registered_default(att->atttypid);
	NameData	toaster = sources.toaster;
	char	   *toaster_from = source_text(&sources.toaster_from, relid, att, "type");
	Datum		values[10];
	bool		nulls[10] = {false};

	if (sources.missing)
		toaster_from = psprintf("type, as there is no toaster \"%s\" for it (%s)",
								NameStr(sources.toaster), toaster_from);
	if (sources.missing || NameStr(sources.toaster)[0] == '\0')
		namestrcpy(&toaster, by_default != NULL ? NameStr(by_default->name) : "plain");

	values[0] = NameGetDatum(&att->attname);
	values[1] = ObjectIdGetDatum(att->atttypid);
	values[2] = NameGetDatum(&toaster);
	values[3] = CStringGetTextDatum(toaster_from);
	values[4] = CStringGetTextDatum(codec->name);
	values[5] = CStringGetTextDatum(source_text(&sources.codec_from, relid, att, "setting"));
	values[6] = Int32GetDatum(column.compression.level);
	values[7] = CStringGetTextDatum(source_text(&sources.level_from, relid, att, "setting"));
	values[8] = CStringGetTextDatum(sliced_dictionary_use_name(column.dictionary));
	values[9] = CStringGetTextDatum(source_text(&sources.dictionary_from, relid, att, "setting"));
	nulls[6] = nulls[7] = codec->max_level == 0;
	nulls[8] = nulls[9] = !codec->has_dictionaries;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(sliced_column_options);

Datum
sliced_column_options(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel;

	InitMaterializedSRF(fcinfo, 0);
	rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	/* dropped since the caller has seen it */
	if (rel == NULL)
		return (Datum) 0;
	if (rel->rd_rel->relkind == RELKIND_RELATION || rel->rd_rel->relkind == RELKIND_MATVIEW ||
		rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
		{
			Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);

			if (att->attlen == -1 && !att->attisdropped)
				put_column(rsinfo, rel, i + 1);
		}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
