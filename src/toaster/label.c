/*
 * label.c
 *	  Labels of provider "sliced":  SECURITY LABEL FOR sliced ON COLUMN ...  IS
 *	  '...'.
 *
 * Core stores a label and checks who may set it, but sends no invalidation.  It asks
 * us to check the label, and then we invalidate what sessions remember of the table.
 * If the transaction is rolled back, core invalidates it once more.
 *
 * A restored dump may set labels when a toaster is missing, or a column has another
 * type.  That is only a WARNING in a session that does not check bodies of functions
 * either, as pg_dump and pg_restore set it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/locks.h"
#include "base/settings.h"
#include "base/stop.h"
#include "base/tables.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "codec/codec.h"
#include "commands/event_trigger.h"
#include "commands/seclabel.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "toaster/label.h"
#include "toaster/registry.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* ---- the text ---- */

/*
 * Cut the next "key=value" off *rest, without blanks around key and value.  Returns
 * false if nothing is left.  'value' is NULL if there is no "=".
 */
static bool
next_option(char **rest, char **key, char **value)
{
	char	   *end = strchr(*rest, ',');
	char	   *option = *rest;
	char	   *ends[2];

	if (**rest == '\0')
		return false;
	*rest = end == NULL ? option + strlen(option) : end + 1;
	if (end != NULL)
		*end = '\0';
	*key = option;
	*value = strchr(option, '=');
	if (*value != NULL)
		*(*value)++ = '\0';

	while (isspace((unsigned char) **key))
		(*key)++;
	while (*value != NULL && isspace((unsigned char) **value))
		(*value)++;
	ends[0] = *key;
	ends[1] = *value;
	for (int i = 0; i < lengthof(ends); i++)
		for (int n = ends[i] == NULL ? 0 : strlen(ends[i]);
			 n > 0 && isspace((unsigned char) ends[i][n - 1]); n--)
			ends[i][n - 1] = '\0';
	return true;
}

/* A whole number of 1 or more; 0 if the text is not one. */
static int
read_level(const char *text)
{
	char	   *end;
	long		level;

	errno = 0;
	level = strtol(text, &end, 10);
	return errno != 0 || end == text || *end != '\0' || level < 1 || level > INT_MAX ? 0 : level;
}

void
sliced_label_read(const char *text, SlicedLabel *label)
{
	char	   *copy = pstrdup(text);
	char	   *rest = copy;
	char	   *key;
	char	   *value;

	memset(label, 0, sizeof(*label));
	label->codec = -1;
	label->dictionary = -1;
	while (next_option(&rest, &key, &value))
	{
		if (value == NULL)
			continue;
		if (strcmp(key, "toaster") == 0)
			strlcpy(label->toaster, value, NAMEDATALEN);
		else if (strcmp(key, "compression") == 0)
			label->codec = sliced_codec_named(value);
		else if (strcmp(key, "level") == 0)
			label->level = read_level(value);
		else if (strcmp(key, "dictionary") == 0)
			label->dictionary = sliced_dictionary_use_named(value);
	}
	pfree(copy);
}

/* ---- checks ---- */

static char *
codec_names(void)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int id = 0; id < SLICED_N_CODECS; id++)
		appendStringInfo(&names, "%s%s", id > 0 ? ", " : "", sliced_codec_get(id)->name);
	return names.data;
}

static char *
codec_levels(void)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int id = 0; id < SLICED_N_CODECS; id++)
		if (sliced_codec_get(id)->max_level > 0)
			appendStringInfo(&names, "%s%s (1 to %d)", names.len > 0 ? ", " : "",
							 sliced_codec_get(id)->name, sliced_codec_get(id)->max_level);
	return names.data;
}

/* Check everything in the text that does not depend on the database. */
static void
check_text(const char *text)
{
	char	   *rest = pstrdup(text);
	char	   *key;
	char	   *value;
	List	   *seen = NIL;
	ListCell   *lc;

	while (next_option(&rest, &key, &value))
	{
		if (strcmp(key, "toaster") != 0 && strcmp(key, "compression") != 0 &&
			strcmp(key, "level") != 0 && strcmp(key, "dictionary") != 0)
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unrecognized option \"%s\"", key),
					errhint("Options are toaster, compression, level and dictionary, as in 'toaster=jsonb, compression=zstd, level=9, dictionary=auto'."));
		if (value == NULL || *value == '\0')
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("option \"%s\" has no value", key),
					errhint("Options look like 'toaster=jsonb, compression=zstd, level=9'."));
		foreach(lc, seen)
			if (strcmp(lfirst(lc), key) == 0)
				ereport(ERROR,
						errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("option \"%s\" is given twice", key));
		seen = lappend(seen, key);
		if (strcmp(key, "compression") == 0 && sliced_codec_named(value) < 0)
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unrecognized compression \"%s\"", value),
					errhint("Available are %s.", codec_names()));
		if (strcmp(key, "level") == 0 && read_level(value) == 0)
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("invalid compression level \"%s\"", value),
					errhint("Compression methods with levels are %s.", codec_levels()));
		if (strcmp(key, "dictionary") == 0 && sliced_dictionary_use_named(value) < 0)
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unrecognized use of dictionaries \"%s\"", value),
					errhint("Available are off, on, auto."));
	}
	if (seen == NIL)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("label says nothing"),
				errhint("Use NULL to remove a label."));
}

/* Without a codec, one codec with that many levels is enough. */
static void
check_level(const SlicedLabel *label)
{
	bool		found = false;

	if (label->level == 0)
		return;
	for (int id = 0; id < SLICED_N_CODECS; id++)
		if ((label->codec < 0 || label->codec == id) &&
			label->level <= sliced_codec_get(id)->max_level)
			found = true;
	if (found)
		return;
	if (label->codec >= 0 && sliced_codec_get(label->codec)->max_level == 0)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("compression %s has no levels", sliced_codec_get(label->codec)->name),
				errhint("Compression methods with levels are %s.", codec_levels()));
	ereport(ERROR,
			errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("compression level %d is out of range", label->level),
			errhint("Compression methods with levels are %s.", codec_levels()));
}

/* A dump must be restorable even if toasters and types do not fit. */
static int
misfit_level(void)
{
	return check_function_bodies ? ERROR : WARNING;
}

/* 'att' is the column, or NULL for the label of a table. */
static void
check_toaster(const SlicedLabel *label, Form_pg_attribute att)
{
	Oid			type = att == NULL ? InvalidOid : att->atttypid;
	SlicedRegistered *registered;

	if (label->toaster[0] == '\0')
		return;
	registered = sliced_registered_named(type, label->toaster);
	if (registered == NULL)
	{
		char	   *names = sliced_registered_names(type);

		ereport(misfit_level(),
				errcode(ERRCODE_UNDEFINED_OBJECT),
				OidIsValid(type) ?
				errmsg("type %s has no toaster \"%s\"", format_type_be(type), label->toaster) :
				errmsg("toaster \"%s\" does not exist", label->toaster),
				*names == '\0' ? 0 : errhint("Available are %s.", names));
	}
	else if (misfit_level() == ERROR)
	{
		const SlicedToaster *toaster = sliced_registered_load(registered);

		if (att != NULL && toaster->validate != NULL)
			toaster->validate(type, att->attstorage);
	}
}

static void
check_column(Relation rel, int attno, const SlicedLabel *label)
{
	Form_pg_attribute att;

	if (attno < 0)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("system columns have no options"));
	att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	if (att->attlen != -1)
		ereport(misfit_level(),
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("column \"%s\" cannot have options", NameStr(att->attname)),
				errdetail("Values of type %s are short and always stay in their row.",
						  format_type_be(att->atttypid)));
	else
		check_toaster(label, att);
}

static void
check_relation(const ObjectAddress *object, const SlicedLabel *label)
{
	/* core has locked it for us */
	Relation	rel = RelationIdGetRelation(object->objectId);
	char		relkind;

	if (rel == NULL)
		elog(ERROR, "could not open relation with OID %u", object->objectId);
	relkind = rel->rd_rel->relkind;
	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW &&
		relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" cannot have options of pg_sliced", RelationGetRelationName(rel)),
				errdetail_relkind_not_supported(relkind));
	if (object->objectSubId != 0)
		check_column(rel, object->objectSubId, label);
	else
		check_toaster(label, NULL);
	if (relkind != RELKIND_PARTITIONED_TABLE && !sliced_is_ours(rel))
		ereport(NOTICE,
				errmsg("\"%s\" is not a sliced table", RelationGetRelationName(rel)),
				errdetail("The label takes effect when the table has access method sliced."));
	RelationClose(rel);
}

/* ---- core asks us ---- */

static void
invalidate(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));

	if (!HeapTupleIsValid(tuple))
		return;
	CacheInvalidateRelcacheByTuple(tuple);
	ReleaseSysCache(tuple);
}

/*
 * Core is about to set a label, or to remove it if 'text' is NULL.  We invalidate
 * partitions as well, for their cached plans.  toaster/column.c needs it only for the
 * table itself, so partitions that we do not see yet do no harm.
 */
static void
relabel(const ObjectAddress *object, const char *text)
{
	ListCell   *lc;

	if (object->classId != RelationRelationId)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("labels of provider %s are for tables and their columns",
					   SLICED_LABEL_PROVIDER));
	if (text != NULL)
	{
		SlicedLabel label;

		check_text(text);
		sliced_label_read(text, &label);
		check_level(&label);
		check_relation(object, &label);
	}
	foreach(lc, find_all_inheritors(object->objectId, NoLock, NULL))
		invalidate(lfirst_oid(lc));
	SLICED_STOP("label.before-change");
}

/*
 * Labels cannot be set before the library is loaded.  An event trigger calls this
 * before each SECURITY LABEL, and the call loads it.
 */
PG_FUNCTION_INFO_V1(sliced_before_label);

Datum
sliced_before_label(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("not called by an event trigger"));
	PG_RETURN_NULL();
}

void
sliced_label_init(void)
{
	register_label_provider(SLICED_LABEL_PROVIDER, relabel);
}

/* ---- functions that set labels ---- */

/*
 * Execute SECURITY LABEL for a table, or for its column; NULL options remove the
 * label.
 */
static void
set_label(Oid relid, const char *column, const char *options)
{
	StringInfoData sql;
	char	   *table;

	sliced_refuse_read_only(column != NULL ? "sliced.alter_column()" : "sliced.alter_table()");
	/* once locked, the table keeps its name */
	sliced_relation_lock(relid, SLICED_OWNER, ShareUpdateExclusiveLock, false);
	table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									   get_rel_name(relid));

	initStringInfo(&sql);
	appendStringInfo(&sql, "SECURITY LABEL FOR %s ON ", SLICED_LABEL_PROVIDER);
	if (column != NULL)
		appendStringInfo(&sql, "COLUMN %s.%s", table, quote_identifier(column));
	else
		appendStringInfo(&sql, "%s %s", get_rel_relkind(relid) == RELKIND_MATVIEW ?
						 "MATERIALIZED VIEW" : "TABLE", table);
	appendStringInfo(&sql, " IS %s", options == NULL ? "NULL" : quote_literal_cstr(options));

	SLICED_STOP("label.table-locked");
	if (SPI_connect() != SPI_OK_CONNECT || SPI_execute(sql.data, false, 0) != SPI_OK_UTILITY ||
		SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "could not execute \"%s\"", sql.data);
	SLICED_STOP("label.changed");
}

static char *
text_argument(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

PG_FUNCTION_INFO_V1(sliced_alter_column);

Datum
sliced_alter_column(PG_FUNCTION_ARGS)
{
	sliced_argument_check(fcinfo, 0, "rel");
	sliced_argument_check(fcinfo, 1, "col");
	set_label(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), text_argument(fcinfo, 2));
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(sliced_alter_table);

Datum
sliced_alter_table(PG_FUNCTION_ARGS)
{
	sliced_argument_check(fcinfo, 0, "rel");
	set_label(PG_GETARG_OID(0), NULL, text_argument(fcinfo, 1));
	PG_RETURN_VOID();
}
