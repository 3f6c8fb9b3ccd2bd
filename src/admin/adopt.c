/*
 * adopt.c
 *	  Turns tables of heap's into ours, without writing them anew.
 *
 * Files of heap are files of ours: we read a row that core has toasted as it is.  So
 * a table becomes ours when its entry in the catalog, and its toast relation's, says
 * so.  A row becomes ours when an update writes its first value of ours: from then on
 * we look after the values that it keeps from before as well.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/tableam.h"
#include "am/foreign_toast.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/locks.h"
#include "base/stop.h"
#include "base/tables.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/*
 * True if this relation can become ours.  Reports why not; false if there is nothing
 * to do.
 */
static bool
check_relation(Relation rel, bool is_partition)
{
	const char *name = RelationGetRelationName(rel);
	char		relkind = rel->rd_rel->relkind;

	if (relkind == RELKIND_PARTITIONED_TABLE)
		return SLICED_PARTITIONED_TABLES_HAVE_AM;
	if (relkind == RELKIND_FOREIGN_TABLE && is_partition)
		return false;
	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table or materialized view", name),
				errdetail_relkind_not_supported(relkind));
	if (IsSystemRelation(rel))
		ereport(ERROR,
				errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("permission denied: \"%s\" is a system catalog", name));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("\"%s\" is a temporary table of another session", name));
	if (sliced_is_ours(rel))
	{
		if (!is_partition)
			ereport(NOTICE, errmsg("\"%s\" has access method \"sliced\" already", name));
		return false;
	}
	if (rel->rd_tableam != GetHeapamTableAmRoutine())
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" cannot be adopted, since its access method is \"%s\"", name,
					   get_am_name(rel->rd_rel->relam)),
				errdetail("Only files of access method \"heap\" can be taken as they are."),
				errhint("ALTER TABLE ... SET ACCESS METHOD sliced writes the table anew."));
	return true;
}

/* What adopt() has met, to say what to expect. */
typedef struct Adopted
{
	int			tables;
	int			with_toast;		/* tables that can have long values */
	int			with_values;	/* tables with something in their toast relation */
} Adopted;

static bool
has_pages(Oid relid)
{
	Relation	rel = relation_open(relid, NoLock);
	bool		result = RelationGetNumberOfBlocks(rel) > 0;

	relation_close(rel, NoLock);
	return result;
}

/* The relation is locked. */
static void
adopt_relation(Oid relid, Oid am, bool is_partition, Adopted *adopted)
{
	Relation	rel = relation_open(relid, NoLock);
	Oid			toastrelid = rel->rd_rel->reltoastrelid;
	Oid			oldam = rel->rd_rel->relam;

	if (!check_relation(rel, is_partition) || oldam == am)
	{
		relation_close(rel, NoLock);
		return;
	}
	CheckTableNotInUse(rel, "adopt");
	relation_close(rel, NoLock);

	sliced_relation_set_am(relid, am);
	SLICED_STOP("adopt.table");
	if (OidIsValid(toastrelid))
	{
		LockRelationOid(toastrelid, AccessExclusiveLock);
		adopted->with_toast++;
		adopted->with_values += has_pages(toastrelid);
		sliced_relation_set_am(toastrelid, am);
	}
	adopted->tables += get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE;
	SLICED_STOP("adopt.toast-relation");
	if (OidIsValid(oldam))
		changeDependencyFor(RelationRelationId, relid, AccessMethodRelationId, oldam, am);
	else
	{
		ObjectAddress table = {RelationRelationId, relid, 0};
		ObjectAddress method = {AccessMethodRelationId, am, 0};

		recordDependencyOn(&table, &method, DEPENDENCY_NORMAL);
	}
	InvokeObjectPostAlterHook(RelationRelationId, relid, 0);
	CommandCounterIncrement();
	SLICED_STOP("adopt.dependency");
}

static void
say_what_follows(Oid relid, const Adopted *adopted)
{
	const char *name = get_rel_name(relid);

	if (adopted->tables > 0 && adopted->with_toast == 0)
		ereport(NOTICE,
				errmsg("\"%s\" has no columns for long values, so nothing changes for its rows", name));
	if (adopted->with_values > 0)
		ereport(NOTICE,
				errmsg("long values of \"%s\" stay as heap stored them until they are changed", name),
				errhint("CALL sliced.convert(%s) stores them anew, while the table is used.",
						quote_literal_cstr(sliced_table_name(relid))));
	if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE && !SLICED_PARTITIONED_TABLES_HAVE_AM &&
		strcmp(default_table_access_method, "sliced") != 0)
		ereport(NOTICE,
				errmsg("new partitions of \"%s\" will have access method \"%s\"", name,
					   default_table_access_method),
				errhint("Make them with USING sliced, or adopt them."));
}

PG_FUNCTION_INFO_V1(sliced_adopt);

Datum
sliced_adopt(PG_FUNCTION_ARGS)
{
	Oid			relid;
	Oid			am = get_table_am_oid("sliced", false);
	List	   *relids;
	Adopted		adopted = {0};
	ListCell   *lc;

	sliced_argument_check(fcinfo, 0, "rel");
	sliced_refuse_read_only("sliced.adopt()");
	relid = PG_GETARG_OID(0);
	relids = sliced_relation_lock_tree(relid, SLICED_OWNER, AccessExclusiveLock);
	sliced_method_keep(am);
	foreach(lc, relids)
		adopt_relation(lfirst_oid(lc), am, lfirst_oid(lc) != relid, &adopted);
	say_what_follows(relid, &adopted);
	PG_RETURN_VOID();
}
