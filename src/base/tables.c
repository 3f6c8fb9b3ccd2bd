/*
 * tables.c
 *	  The tables that a call of one of our functions names.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "base/identity.h"
#include "base/tables.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/regproc.h"

void
sliced_argument_check(FunctionCallInfo fcinfo, int arg, const char *name)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("%s must not be null", name));
}

bool
sliced_table_check(Relation rel, bool is_partition)
{
	const char *name = RelationGetRelationName(rel);
	bool		can_be = rel->rd_tableam == GetHeapamTableAmRoutine() && !IsSystemRelation(rel);

	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return false;
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("\"%s\" is a temporary table of another session", name));
	if (sliced_is_ours(rel) && rel->rd_rel->relkind != RELKIND_TOASTVALUE)
		return true;
	if (is_partition)
		ereport(NOTICE,
				errmsg("partition \"%s\" is not a sliced table and is passed over", name));
	else
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a sliced table", name),
				can_be ? errhint("sliced.adopt() makes it one.") : 0);
	return false;
}

List *
sliced_tables_lock(Oid relid, SlicedRight right, LOCKMODE mode)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, sliced_relation_lock_tree(relid, right, mode))
	{
		Relation	rel = relation_open(lfirst_oid(lc), NoLock);

		if (sliced_table_check(rel, lfirst_oid(lc) != relid))
			result = lappend_oid(result, lfirst_oid(lc));
		relation_close(rel, NoLock);
	}
	return result;
}

char *
sliced_table_name(Oid relid)
{
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid)));
}

Datum
sliced_table_datum(Oid relid)
{
	return CStringGetTextDatum(sliced_table_name(relid));
}
