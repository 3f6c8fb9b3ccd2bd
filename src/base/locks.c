/*
 * locks.c
 *	  What a caller may do to a relation, and locks.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/locks.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_am.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

void
sliced_refuse_read_only(const char *function)
{
	/* a standby's transactions are READ ONLY as well */
	PreventCommandDuringRecovery(function);
	PreventCommandIfReadOnly(function);
}

static void
check_right(Oid relid, SlicedRight right)
{
	if (right == SLICED_OWNER && !object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
	if ((right == SLICED_READER || (right == SLICED_SCANNER && !has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES))) &&
		pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
}

bool
sliced_relation_lock(Oid relid, SlicedRight right, LOCKMODE mode, bool missing_ok)
{
	bool		locked = false;

	while (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
	{
		check_right(relid, right);
		if (locked)
			return true;
		LockRelationOid(relid, mode);
		locked = true;
	}
	if (locked)
		UnlockRelationOid(relid, mode);
	if (!missing_ok)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", relid));
	return false;
}

List *
sliced_relation_lock_tree(Oid relid, SlicedRight right, LOCKMODE mode)
{
	List	   *result = NIL;
	ListCell   *lc;

	sliced_relation_lock(relid, right, mode, false);
	if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		return list_make1_oid(relid);
	foreach(lc, find_all_inheritors(relid, NoLock, NULL))
		if (lfirst_oid(lc) == relid || sliced_relation_lock(lfirst_oid(lc), right, mode, true))
			result = lappend_oid(result, lfirst_oid(lc));
	return result;
}

LOCKTAG
sliced_own_lock(SlicedOwnLock what, Oid relid)
{
	LOCKTAG		tag;

	/* core locks access methods as a whole, which is number 0 */
	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, AccessMethodRelationId, relid, what);
	return tag;
}

bool
sliced_own_lock_take(SlicedOwnLock what, Oid relid, bool wait)
{
	LOCKTAG		tag = sliced_own_lock(what, relid);

	return LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}
