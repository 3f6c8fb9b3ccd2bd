/*
 * leave.c
 *	  Refuses to drop the extension while tables are ours.
 *
 * Tables depend on their access method, and that on the extension.  So CASCADE would
 * drop every sliced table with its rows, and without CASCADE core's hint is to use
 * it.  An event trigger calls us first.  DROP OWNED drops the extension of a role,
 * and with CASCADE all users' tables.  We wait for a session that is about to make a
 * table, which we do not see yet: it has locked the access method
 * (sliced_method_keep()).  Core refuses to drop all else that leads to the extension,
 * its schema or its functions.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_seclabel.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/user.h"
#include "decode/kept_files.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "toaster/label.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#define EXTENSION_NAME	"pg_sliced"

/* Name this many tables, and count the others. */
#define NAMES	10

static bool
drops_extension(List *objects)
{
	ListCell   *lc;

	foreach(lc, objects)
		if (strcmp(strVal(lfirst(lc)), EXTENSION_NAME) == 0)
			return true;
	return false;
}

static Oid
extension_owner(void)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	Oid			result = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum(EXTENSION_NAME));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = ((Form_pg_extension) GETSTRUCT(tuple))->extowner;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

static int
by_name(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* The names of the tables that are ours, except those of some roles. */
static List *
find_tables(List *but_of)
{
	Oid			am = get_table_am_oid("sliced", true);
	Relation	rel;
	List	   *names = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(am))
		return NIL;
	/* a user who may not drop the extension need not wait */
	if (has_privs_of_role(GetUserId(), extension_owner()))
		LockDatabaseObject(AccessMethodRelationId, am, 0, AccessExclusiveLock);
	rel = table_open(RelationRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_class_relam, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(am));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->relkind != RELKIND_TOASTVALUE && !list_member_oid(but_of, form->relowner))
			names = lappend(names, DatumGetCString(DirectFunctionCall1(regclassout,
																	   ObjectIdGetDatum(form->oid))));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	list_sort(names, by_name);
	return names;
}

static void
refuse_while_used(List *but_of)
{
	List	   *names = find_tables(but_of);
	int			n = list_length(names);
	StringInfoData text;

	if (n == 0)
		return;
	initStringInfo(&text);
	for (int i = 0; i < Min(n, NAMES); i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", (char *) list_nth(names, i));
	if (n > NAMES)
		appendStringInfo(&text, " and %d more", n - NAMES);
	ereport(ERROR,
			errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			errmsg_plural("cannot drop extension %s because %d table has access method sliced",
						  "cannot drop extension %s because %d tables have access method sliced",
						  n, EXTENSION_NAME, n),
			errdetail("Tables: %s.", text.data),
			errhint("ALTER TABLE ... SET ACCESS METHOD heap keeps their rows. DROP ... CASCADE would drop the tables, so it is refused as well."));
}

/* Labels depend on nothing, so they stay. */
static void
warn_of_labels(void)
{
	Relation	rel = table_open(SecLabelRelationId, AccessShareLock);
	int			n = 0;
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		provider = heap_getattr(tuple, Anum_pg_seclabel_provider, RelationGetDescr(rel),
											&isnull);

		if (strcmp(TextDatumGetCString(provider), SLICED_LABEL_PROVIDER) == 0)
			n++;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	if (n > 0)
		ereport(WARNING,
				errmsg_plural("%d label of provider \"%s\" stays in this database",
							  "%d labels of provider \"%s\" stay in this database",
							  n, n, SLICED_LABEL_PROVIDER),
				errhint("A server without pg_sliced does not restore them. Dump with --no-security-labels, or remove them (see pg_seclabels) before you drop the extension."));
}

PG_FUNCTION_INFO_V1(sliced_before_drop);

Datum
sliced_before_drop(PG_FUNCTION_ARGS)
{
	Node	   *command;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("not called by an event trigger"));
	command = ((EventTriggerData *) fcinfo->context)->parsetree;

	if (IsA(command, DropStmt) && ((DropStmt *) command)->removeType == OBJECT_EXTENSION &&
		drops_extension(((DropStmt *) command)->objects))
	{
		refuse_while_used(NIL);
		warn_of_labels();
		/* without the library no decoder can read them */
		sliced_kept_files_remove(true);
	}
	else if (IsA(command, DropOwnedStmt))
	{
		List	   *roles = roleSpecsToIds(((DropOwnedStmt *) command)->roles);

		/* tables of these roles go as well, so allow that */
		if (list_member_oid(roles, extension_owner()))
			refuse_while_used(roles);
	}
	PG_RETURN_NULL();
}
