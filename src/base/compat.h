/*
 * compat.h
 *	  What the rest takes from PostgreSQL, in the shape of the newest major.
 *
 * Only this file, am/thunks.c (callbacks of the access method) and plan/hooks.c
 * (hooks) know for which major they are compiled.  Older majors are shaped like the
 * newest one here, so that the rest reads as if only that existed.  A wrapper that
 * has the name of core's function takes its place; what exists in no major is called
 * sliced_*.
 */
#ifndef SLICED_BASE_COMPAT_H
#define SLICED_BASE_COMPAT_H

#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"
#include "replication/reorderbuffer.h"
#include "replication/slot.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#else
#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#endif
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/jsonpath.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#if PG_VERSION_NUM < 150000
#error "pg_sliced needs PostgreSQL 15 or later"
#elif PG_VERSION_NUM >= 200000
#error "pg_sliced has not been tried with this major version of PostgreSQL"
#endif

/* ---- 16 ---- */

#if PG_VERSION_NUM < 160000

/* files are "locators" of "numbers" */
#include "storage/relfilenode.h"
typedef RelFileNode RelFileLocator;
#define rd_locator		rd_node
#define relNumber		relNode
#define spcOid			spcNode
#define dbOid			dbNode
#define RelationSetNewRelfilenumber(rel, persistence)	RelationSetNewRelfilenode(rel, persistence)

/* one function that asks for privileges, one for ownership, of any kind of object */
#include "catalog/pg_class_d.h"
#include "catalog/pg_proc_d.h"

static inline AclResult
object_aclcheck(Oid classid, Oid objectid, Oid roleid, AclMode mode)
{
	Assert(classid == ProcedureRelationId);
	return pg_proc_aclcheck(objectid, roleid, mode);
}

static inline bool
object_ownercheck(Oid classid, Oid objectid, Oid roleid)
{
	Assert(classid == RelationRelationId);
	return pg_class_ownercheck(objectid, roleid);
}

/* which indexes need entries for a new row version: summarizing ones may need less */
typedef enum TU_UpdateIndexes
{
	TU_None,
	TU_All,
	TU_Summarizing
} TU_UpdateIndexes;

#endif

/* True if the index has entries for blocks, not for rows. */
static inline bool
sliced_index_summarizes(const IndexInfo *info)
{
#if PG_VERSION_NUM >= 160000
	return info->ii_Summarizing;
#else
	return false;
#endif
}

/*
 * What the n-th backend, counted from 0, reports of itself.  (The betas of 16 have
 * the older name.)
 */
static inline PgBackendStatus *
sliced_backend_status(int n)
{
#if PG_VERSION_NUM > 160000
	LocalPgBackendStatus *local = pgstat_get_local_beentry_by_index(n + 1);
#else
	LocalPgBackendStatus *local = pgstat_fetch_stat_local_beentry(n + 1);
#endif

	return local == NULL ? NULL : &local->backendStatus;
}

/*
 * If the expression looks into a document for SQL/JSON, return true and set *document
 * and *path. JsonExpr (17) looks by a path.  IS JSON (16) only looks at what kind of
 * document it is, so *path is NULL.
 */
static inline bool
sliced_sql_json_query(Node *expr, Node ***document, Node **path)
{
#if PG_VERSION_NUM >= 160000
	if (IsA(expr, JsonIsPredicate))
	{
		*document = &((JsonIsPredicate *) expr)->expr;
		*path = NULL;
		return true;
	}
#endif
#if PG_VERSION_NUM >= 170000
	if (IsA(expr, JsonExpr))
	{
		*document = &((JsonExpr *) expr)->formatted_expr;
		*path = ((JsonExpr *) expr)->path_spec;
		return true;
	}
#endif
	return false;
}

/*
 * True if a standby may decode what is written here without the primary's knowledge.
 */
static inline bool
sliced_standbys_decode(void)
{
	return PG_VERSION_NUM >= 160000;
}

/* ---- 17 ---- */

/* The conditions that decide which actions of a MERGE apply. */
static inline List *
sliced_merge_conditions(const ModifyTable *node)
{
#if PG_VERSION_NUM >= 170000
	return node->mergeJoinConditions;
#else
	return NIL;
#endif
}

/* True if this method of jsonpath looks at nothing but its item and constants. */
static inline bool
sliced_jsonpath_is_method(JsonPathItemType type)
{
	switch (type)
	{
		case jpiType:
		case jpiSize:
		case jpiAbs:
		case jpiFloor:
		case jpiCeiling:
		case jpiDouble:
		case jpiDatetime:
		case jpiKeyValue:
#if PG_VERSION_NUM >= 170000
		case jpiBigint:
		case jpiBoolean:
		case jpiDate:
		case jpiDecimal:
		case jpiInteger:
		case jpiNumber:
		case jpiStringFunc:
		case jpiTime:
		case jpiTimeTz:
		case jpiTimestamp:
		case jpiTimestampTz:
#endif
#if PG_VERSION_NUM >= 190000
		case jpiStrReplace:
		case jpiStrLower:
		case jpiStrUpper:
		case jpiStrLtrim:
		case jpiStrRtrim:
		case jpiStrBtrim:
		case jpiStrInitcap:
		case jpiStrSplitPart:
#endif
			return true;
		default:
			return false;
	}
}

/* True if a partitioned table has an access method that new partitions get. */
#define SLICED_PARTITIONED_TABLES_HAVE_AM	(PG_VERSION_NUM >= 170000)

/*
 * Fail if rows that our snapshot sees may have been vacuumed
 * (old_snapshot_threshold).
 */
static inline void
sliced_snapshot_check_age(void)
{
#if PG_VERSION_NUM < 170000
	if (OldSnapshotThresholdActive())
		ereport(ERROR,
				errcode(ERRCODE_SNAPSHOT_TOO_OLD),
				errmsg("snapshot too old"));
#endif
}

/*
 * A few bytes that all sessions share under this name, until the server stops or
 * crashes. Only one session at a time may call this.
 */
static inline void *
sliced_named_bytes(const char *name, Size size, bool *found)
{
#if PG_VERSION_NUM >= 190000
	return GetNamedDSMSegment(name, size, NULL, found, NULL);
#elif PG_VERSION_NUM >= 170000
	return GetNamedDSMSegment(name, size, NULL, found);
#else
	/* core has some to spare for late comers */
	return ShmemInitStruct(name, size, found);
#endif
}

/* Since 17 functions of other users look up names in pg_catalog and pg_temp alone. */
#if PG_VERSION_NUM < 170000
#define RestrictSearchPath()	((void) 0)
#endif

/*
 * A row that the decoder passes on.  Before 17 it is wrapped in a buffer.
 * sliced_decoded_row() takes it out, sliced_make_decoded_row() puts another one in
 * its place.
 */
#if PG_VERSION_NUM >= 170000
typedef HeapTuple SlicedDecodedRow;

static inline HeapTuple
sliced_decoded_row(HeapTuple decoded)
{
	return decoded;
}
#else
typedef ReorderBufferTupleBuf *SlicedDecodedRow;

static inline HeapTuple
sliced_decoded_row(ReorderBufferTupleBuf *decoded)
{
	return &decoded->tuple;
}
#endif

/* Mark a transaction as aborted, so that the decoder skips its further changes. */
static inline void
sliced_set_aborted(ReorderBufferTXN *txn)
{
#if PG_VERSION_NUM >= 180000
	txn->txn_flags |= RBTXN_IS_ABORTED;
#else
	txn->concurrent_abort = true;
#endif
}

/* The backend of a file that belongs to no temporary table. */
#if PG_VERSION_NUM >= 170000
#define SLICED_NO_BACKEND	INVALID_PROC_NUMBER
#else
#define SLICED_NO_BACKEND	InvalidBackendId
#endif

/* Make a row for the decoder to pass on, in the current context. */
static inline SlicedDecodedRow
sliced_make_decoded_row(HeapTuple tuple)
{
#if PG_VERSION_NUM >= 170000
	return tuple;
#else
	ReorderBufferTupleBuf *result = (ReorderBufferTupleBuf *) palloc0(sizeof(ReorderBufferTupleBuf));

	result->tuple = *tuple;
	return result;
#endif
}

/* ---- 18 ---- */

#if PG_VERSION_NUM < 180000
#define pg_noreturn		pg_attribute_noreturn()
#define ReorderBufferAllocChange(rb)	ReorderBufferGetChange(rb)
#define RBTXN_IS_PREPARED				RBTXN_PREPARE
#endif

/*
 * Since 18 the groups of a hash aggregate have memory apart from that of what is
 * aggregated.
 */
#if PG_VERSION_NUM >= 190000
#define SLICED_AGG_TUPLES_MEMORY(agg)	MemoryContextMemAllocated((agg)->hash_tuplescxt, true)
#elif PG_VERSION_NUM >= 180000
#define SLICED_AGG_TUPLES_MEMORY(agg)	MemoryContextMemAllocated((agg)->hash_tablecxt, true)
#else
#define SLICED_AGG_TUPLES_MEMORY(agg)	((Size) 0)
#endif

/*
 * Since 18 each node counts the disabled nodes in its subtree, itself included.
 * EXPLAIN compares the count of a custom node with those of its custom_plans, a list
 * that our nodes use for nothing else.
 */
static inline void
sliced_copy_disabled_nodes(CustomScan *to, const Plan *from)
{
#if PG_VERSION_NUM >= 180000
	Result	   *same;

	if (from->disabled_nodes == 0)
		return;
	same = makeNode(Result);
	same->plan.disabled_nodes = to->scan.plan.disabled_nodes = from->disabled_nodes;
	to->custom_plans = list_make1(same);
#endif
}

/* ---- 19 ---- */

/*
 * The most replication slots there can be.  Some are for REPACK CONCURRENTLY alone.
 */
static inline int
sliced_max_slots(void)
{
#if PG_VERSION_NUM >= 190000
	return max_replication_slots + max_repack_replication_slots;
#else
	return max_replication_slots;
#endif
}

#if PG_VERSION_NUM < 190000

typedef struct varlena varlena;

/* Before 19 every session registers the names of tranches of locks itself. */
#define LWLockNewTrancheId(name)	((LWLockNewTrancheId) ())

/* Flags and instrumentation that callers ask scans for; older majors get none. */
#define index_beginscan(rel, index, snapshot, instrument, nkeys, norderbys, flags) \
	sliced_index_beginscan(rel, index, snapshot, nkeys, norderbys)
#define table_beginscan(rel, snapshot, nkeys, keys, flags) \
	table_beginscan(rel, snapshot, nkeys, keys)
#define table_beginscan_tidrange(rel, snapshot, first, last, flags) \
	table_beginscan_tidrange(rel, snapshot, first, last)

static inline IndexScanDesc
sliced_index_beginscan(Relation rel, Relation index, Snapshot snapshot, int nkeys, int norderbys)
{
#if PG_VERSION_NUM < 180000
	return (index_beginscan) (rel, index, snapshot, nkeys, norderbys);
#else
	return (index_beginscan) (rel, index, snapshot, NULL, nkeys, norderbys);
#endif
}

/*
 * Options of updates and deletes.  Before 19 logical decoding sees all updates and
 * deletes.
 */
#define TABLE_DELETE_CHANGING_PARTITION		(1 << 0)
#define TABLE_UPDATE_NO_LOGICAL				0

#define heap_delete(rel, tid, cid, options, crosscheck, wait, tmfd) \
	(heap_delete) (rel, tid, cid, crosscheck, wait, tmfd, \
				   ((options) & TABLE_DELETE_CHANGING_PARTITION) != 0)
#define heap_update(rel, tid, tuple, cid, options, crosscheck, wait, tmfd, lockmode, update_indexes) \
	sliced_heap_update(rel, tid, tuple, cid, crosscheck, wait, tmfd, lockmode, update_indexes)

static inline TM_Result
sliced_heap_update(Relation rel, ItemPointer tid, HeapTuple tuple, CommandId cid,
				   Snapshot crosscheck, bool wait, TM_FailureData *tmfd,
				   LockTupleMode *lockmode, TU_UpdateIndexes *update_indexes)
{
#if PG_VERSION_NUM < 160000
	TM_Result	result = (heap_update) (rel, tid, tuple, cid, crosscheck, wait, tmfd, lockmode);

	*update_indexes = result == TM_Ok && !HeapTupleIsHeapOnly(tuple) ? TU_All : TU_None;
	return result;
#else
	return (heap_update) (rel, tid, tuple, cid, crosscheck, wait, tmfd, lockmode, update_indexes);
#endif
}

/*
 * Since 19 VACUUM FULL and CLUSTER are cases of REPACK, and report their progress as
 * REPACK does.
 */
#define PROGRESS_REPACK_PHASE					PROGRESS_CLUSTER_PHASE
#define PROGRESS_REPACK_PHASE_SEQ_SCAN_HEAP		PROGRESS_CLUSTER_PHASE_SEQ_SCAN_HEAP
#define PROGRESS_REPACK_PHASE_INDEX_SCAN_HEAP	PROGRESS_CLUSTER_PHASE_INDEX_SCAN_HEAP
#define PROGRESS_REPACK_PHASE_SORT_TUPLES		PROGRESS_CLUSTER_PHASE_SORT_TUPLES
#define PROGRESS_REPACK_PHASE_WRITE_NEW_HEAP	PROGRESS_CLUSTER_PHASE_WRITE_NEW_HEAP
#define PROGRESS_REPACK_INDEX_RELID				PROGRESS_CLUSTER_INDEX_RELID
#define PROGRESS_REPACK_HEAP_TUPLES_SCANNED		PROGRESS_CLUSTER_HEAP_TUPLES_SCANNED
#define PROGRESS_REPACK_HEAP_TUPLES_INSERTED	PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN
#define PROGRESS_REPACK_TOTAL_HEAP_BLKS			PROGRESS_CLUSTER_TOTAL_HEAP_BLKS
#define PROGRESS_REPACK_HEAP_BLKS_SCANNED		PROGRESS_CLUSTER_HEAP_BLKS_SCANNED

/* Further parameters of planner_hook. */
#define PLANNER_PARAMS
#define PLANNER_ARGS

#else

#define LWLockRegisterTranche(tranche, name)	((void) 0)

#define PLANNER_PARAMS		, ExplainState *explain
#define PLANNER_ARGS		, explain

#endif

#endif
