/*
 * macros.h
 *	  PostgreSQL's macros that branch, as functions: "./dev coverage" includes this first.
 *
 * A macro's branches count for the line that uses it, but are not ours to test.  Those of
 * a function count for the file that has it.  These are the macros that our decisions use
 * most.
 */
#ifndef COVERAGE_MACROS_H
#define COVERAGE_MACROS_H

#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "executor/tuptable.h"
#include "portability/instr_time.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

static inline Size
covered_varsize_any(const void *p)
{
	return VARSIZE_ANY(p);
}

static inline Size
covered_varsize_any_exhdr(const void *p)
{
	return VARSIZE_ANY_EXHDR(p);
}

static inline char *
covered_vardata_any(const void *p)
{
	return VARDATA_ANY(p);
}

static inline bool
covered_varatt_is_external_ondisk(const void *p)
{
	return VARATT_IS_EXTERNAL_ONDISK(p);
}

static inline bool
covered_varatt_is_external_expanded(const void *p)
{
	return VARATT_IS_EXTERNAL_EXPANDED(p);
}

static inline bool
covered_item_pointer_is_valid(const ItemPointerData *pointer)
{
	return ItemPointerIsValid(pointer);
}

static inline bool
covered_relation_needs_wal(Relation relation)
{
	return RelationNeedsWAL(relation);
}

static inline bool
covered_relation_is_logically_logged(Relation relation)
{
	return RelationIsLogicallyLogged(relation);
}

static inline bool
covered_relation_is_other_temp(Relation relation)
{
	return RELATION_IS_OTHER_TEMP(relation);
}

static inline OffsetNumber
covered_page_get_max_offset_number(Page page)
{
	return PageGetMaxOffsetNumber(page);
}

static inline TransactionId
covered_heap_tuple_header_get_xmin(HeapTupleHeader row)
{
	return HeapTupleHeaderGetXmin(row);
}

static inline TransactionId
covered_heap_tuple_header_get_update_xid(HeapTupleHeader row)
{
	return HeapTupleHeaderGetUpdateXid(row);
}

static inline bool
covered_is_mvcc_snapshot(Snapshot snapshot)
{
	return IsMVCCSnapshot(snapshot);
}

static inline bool
covered_tup_is_null(const TupleTableSlot *slot)
{
	return TupIsNull(slot);
}

static inline bool
covered_instr_time_is_zero(instr_time time)
{
	return INSTR_TIME_IS_ZERO(time);
}

#undef VARSIZE_ANY
#define VARSIZE_ANY(p) covered_varsize_any(p)
#undef VARSIZE_ANY_EXHDR
#define VARSIZE_ANY_EXHDR(p) covered_varsize_any_exhdr(p)
#undef VARDATA_ANY
#define VARDATA_ANY(p) covered_vardata_any(p)
#undef VARATT_IS_EXTERNAL_ONDISK
#define VARATT_IS_EXTERNAL_ONDISK(p) covered_varatt_is_external_ondisk(p)
#undef VARATT_IS_EXTERNAL_EXPANDED
#define VARATT_IS_EXTERNAL_EXPANDED(p) covered_varatt_is_external_expanded(p)
#undef ItemPointerIsValid
#define ItemPointerIsValid(pointer) covered_item_pointer_is_valid(pointer)
#undef RelationNeedsWAL
#define RelationNeedsWAL(relation) covered_relation_needs_wal(relation)
#undef RelationIsLogicallyLogged
#define RelationIsLogicallyLogged(relation) covered_relation_is_logically_logged(relation)
#undef RELATION_IS_OTHER_TEMP
#define RELATION_IS_OTHER_TEMP(relation) covered_relation_is_other_temp(relation)
#undef PageGetMaxOffsetNumber
#define PageGetMaxOffsetNumber(page) covered_page_get_max_offset_number(page)
#undef HeapTupleHeaderGetXmin
#define HeapTupleHeaderGetXmin(row) covered_heap_tuple_header_get_xmin(row)
#undef HeapTupleHeaderGetUpdateXid
#define HeapTupleHeaderGetUpdateXid(row) covered_heap_tuple_header_get_update_xid(row)
#undef IsMVCCSnapshot
#define IsMVCCSnapshot(snapshot) covered_is_mvcc_snapshot(snapshot)
#undef TupIsNull
#define TupIsNull(slot) covered_tup_is_null(slot)
#undef INSTR_TIME_IS_ZERO
#define INSTR_TIME_IS_ZERO(time) covered_instr_time_is_zero(time)

#endif
