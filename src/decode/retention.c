/*
 * retention.c
 *	  Slices that decoders still have to read.
 *
 * Core asks whether a relation is a table with the option user_catalog_table.  So we
 * exchange the kind and the options of the relcache entry during a call.  The
 * relcache may rebuild the entry meanwhile, for one while VACUUM opens indexes; then
 * we exchange them again.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "base/invalidation.h"
#include "base/options.h"
#include "base/stop.h"
#include "decode/retention.h"
#include "utils/memutils.h"

/* Innermost first. */
static SlicedRetaining *retaining_now = NULL;

/* Options not in use at the moment, for the next call. */
static bytea *spare = NULL;

static void
exchange(SlicedRetaining *r)
{
	StdRdOptions *options = (StdRdOptions *) spare;

	spare = NULL;
	if (options == NULL)
		options = MemoryContextAlloc(CacheMemoryContext, sizeof(StdRdOptions));
	r->saved = r->rel->rd_options;
	sliced_options_copy(options, r->saved);
	options->user_catalog_table = true;
	r->ours = (bytea *) options;
	r->rel->rd_options = r->ours;
	r->rel->rd_rel->relkind = RELKIND_RELATION;
}

void
sliced_retain_enter(SlicedRetaining *r, Relation rel)
{
	r->rel = sliced_is_retained(rel) ? rel : NULL;
	if (r->rel == NULL)
		return;
	exchange(r);
	r->outer = retaining_now;
	retaining_now = r;
}

void
sliced_retain_leave(SlicedRetaining *r)
{
	if (r->rel == NULL)
		return;
	Assert(retaining_now == r);
	retaining_now = r->outer;
	Assert(r->rel->rd_options == r->ours);
	r->rel->rd_options = r->saved;
	r->rel->rd_rel->relkind = RELKIND_TOASTVALUE;
	if (spare == NULL)
		spare = r->ours;
	else
		pfree(r->ours);
}

/*
 * An entry that was rebuilt has its own kind and options again.  The relcache has
 * freed the options it found there, which were ours, and those that we saved have no
 * owner.
 */
static void
exchange_again(Datum arg, Oid relid)
{
	for (SlicedRetaining *r = retaining_now; r != NULL; r = r->outer)
		if ((!OidIsValid(relid) || RelationGetRelid(r->rel) == relid) &&
			r->rel->rd_options != r->ours)
		{
			if (r->saved != NULL)
				pfree(r->saved);
			exchange(r);
		}
}

void
sliced_retention_init(void)
{
	sliced_at_relation_change(exchange_again);
}

/* ---- where heap removes rows ---- */

static TransactionId
sliced_index_delete_tuples(Relation rel, TM_IndexDeleteOp *delstate)
{
	TransactionId result = InvalidTransactionId;

	if (!sliced_is_retained(rel))
		return GetHeapamTableAmRoutine()->index_delete_tuples(rel, delstate);
	SLICED_RETAIN_BEGIN(rel);
	result = GetHeapamTableAmRoutine()->index_delete_tuples(rel, delstate);
	SLICED_RETAIN_END();
	return result;
}

void
sliced_retention_callbacks(TableAmRoutine *routine)
{
	routine->index_delete_tuples = sliced_index_delete_tuples;
}
