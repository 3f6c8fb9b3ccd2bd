/*
 * convert.c
 *	  CALL sliced.convert(): stores values as new ones would be stored, in small
 *	  transactions, while others use the table.
 *
 * We remember nothing beyond the call: a converted value passes for a new one, so
 * after a crash or a cancel another call continues where this one was.
 *
 * We go through the blocks in their order, and look again later at those with rows
 * that others have locked.  Rows that others have moved to blocks behind us have xids
 * that began after us: further passes look for those.
 *
 * Each transaction takes the lock that an UPDATE takes, so VACUUM can go on.  A lock
 * that nothing else uses allows one conversion of a table at a time.
 *
 * The transactions are serializable.  A row's new version is at another place.  A
 * serializable transaction that has read the old one conflicts with one that changes
 * the new one.  Core sees that conflict only if our transaction is serializable too.
 * We read nothing by our snapshot, so only our writes can make core roll back others
 * in vain.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "admin/convert.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/limits.h"
#include "base/locks.h"
#include "base/pretty.h"
#include "base/tables.h"
#include "catalog/pg_class.h"
#include "commands/progress.h"
#include "decode/decoding.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "learn/train.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "tcop/pquery.h"
#include "utils/backend_progress.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#define NOTICE_EVERY_MS		10000
#define LOOK_AGAIN_MS		200
#define MAX_PASSES			5

typedef struct Conversion
{
	/* the arguments */
	double		max_rate;		/* bytes of values a second; 0: unlimited */
	double		max_wait;		/* ms, in all, for rows that are locked */
	double		max_dead;		/* part of the toast relation's rows; 0: any */
	bool		top_level;		/* called directly: we can end transactions */
	MemoryContext mcxt;			/* lasts as long as the call */

	/* the table */
	Oid			relid;
	bool		is_partition;	/* one of many: if it cannot be converted, skip it */
	Oid			toastrelid;		/* as of the last transaction; may come and go */
	char	   *name;
	TimestampTz started;
	TimestampTz last_notice;
	double		waited;
	bool		said_dead;
	SlicedConvertCounts counts;
	SlicedConvertFilter filter;

	/* the pass: all blocks, or those in the list */
	BlockNumber *blocks;
	BlockNumber nblocks;
	TransactionId began;		/* an earlier writer has an older xid, and has ended */

	/* the blocks of the pass with rows that others have locked */
	BlockNumber *locked;
	BlockNumber nlocked;
	BlockNumber locked_room;
} Conversion;

/* ---- transactions ---- */

/* End the transaction and begin another.  Sends statistics if we are at top level. */
static void
next_transaction(Conversion *c)
{
	if (!c->top_level)
		SPI_commit();
	else
	{
		ForgetPortalSnapshots();
		CommitTransactionCommand();
		pgstat_report_stat(true);
		StartTransactionCommand();
	}
	MemoryContextSwitchTo(TopTransactionContext);
}

static void
sleep_ms(double ms)
{
	while (ms > 0)
	{
		long		step = (long) Min(ms, 1000) + 1;

		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, step,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		ms -= step;
	}
}

static double
ms_since(TimestampTz start)
{
	return (GetCurrentTimestamp() - start) / 1000.0;
}

/* ---- tables ---- */

/*
 * Open the table, and lock it for the transaction.  The OID may name another table in
 * each transaction.  NULL if it is a partition that has been dropped, or is not ours.
 */
static Relation
open_table(Conversion *c)
{
	Relation	rel;

	if (!sliced_relation_lock(c->relid, SLICED_OWNER, RowExclusiveLock, c->is_partition))
		return NULL;
	rel = relation_open(c->relid, NoLock);
	if (!sliced_table_check(rel, c->is_partition))
	{
		relation_close(rel, NoLock);
		return NULL;
	}
	if (OidIsValid(rel->rd_rel->reltoastrelid) && sliced_toast_is_foreign(rel))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("the toast relation of \"%s\" does not have access method \"sliced\"",
					   RelationGetRelationName(rel)),
				errhint("VACUUM FULL takes it over, and converts the table."));
	return rel;
}

/* The session holds it, errors release it.  Returns false for a partition to skip. */
static bool
lock_conversion(Conversion *c)
{
	LOCKTAG		tag = sliced_own_lock(SLICED_LOCK_CONVERSION, c->relid);

	if (LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL)
		return true;
	ereport(c->is_partition ? WARNING : ERROR,
			errcode(ERRCODE_OBJECT_IN_USE),
			errmsg("another session is converting \"%s\"", c->name),
			errhint("The view sliced.convert_progress shows how far it is."));
	return false;
}

/* ---- progress ---- */

static void
report_counts(Conversion *c, SlicedConvertPhase phase)
{
	const int	index[] = {SLICED_PROGRESS_PHASE, SLICED_PROGRESS_ROWS, SLICED_PROGRESS_LOCKED,
		SLICED_PROGRESS_LEFT, SLICED_PROGRESS_RAW, SLICED_PROGRESS_BEFORE, SLICED_PROGRESS_AFTER};
	const int64 value[] = {phase, c->counts.rows, c->counts.locked, c->counts.left, c->counts.raw,
		c->counts.before, c->counts.after};

	pgstat_progress_update_multi_param(lengthof(index), index, value);
}

static void
report_pass(Conversion *c, int pass)
{
	const int	index[] = {SLICED_PROGRESS_PASS, SLICED_PROGRESS_PASS_STARTED,
		SLICED_PROGRESS_BLOCKS, SLICED_PROGRESS_BLOCKS_DONE};
	const int64 value[] = {pass, GetCurrentTimestamp(), c->nblocks, 0};

	pgstat_progress_update_multi_param(lengthof(index), index, value);
}

static char *
pretty_rate(Conversion *c)
{
	return sliced_pretty_bytes(c->counts.raw * 1000.0 / Max(ms_since(c->started), 1));
}

static void
say_how_far(Conversion *c, BlockNumber done, TimestampTz pass_started)
{
	if (ms_since(c->last_notice) < NOTICE_EVERY_MS)
		return;
	c->last_notice = GetCurrentTimestamp();
	ereport(NOTICE,
			errmsg("converting \"%s\": %u of %u blocks, %s", c->name, done, c->nblocks,
				   sliced_pretty_count(c->counts.rows, "row")),
			errdetail("%s of values, stored in %s before and %s now; %s per second, %s left.",
					  sliced_pretty_bytes(c->counts.raw), sliced_pretty_bytes(c->counts.before), sliced_pretty_bytes(c->counts.after),
					  pretty_rate(c),
					  sliced_pretty_time(ms_since(pass_started) / Max(done, 1) * (c->nblocks - done))));
}

static void
say_what_was_done(Conversion *c)
{
	ereport(NOTICE,
			errmsg("converted %s of \"%s\"", sliced_pretty_count(c->counts.rows, "row"), c->name),
			c->counts.rows == 0 ? 0 :
			errdetail("%s of values, stored in %s before and %s now; %s per second.",
					  sliced_pretty_bytes(c->counts.raw), sliced_pretty_bytes(c->counts.before), sliced_pretty_bytes(c->counts.after),
					  pretty_rate(c)));
	if (c->nlocked > 0)
		ereport(WARNING,
				errmsg("rows of \"%s\" were locked and have not been converted", c->name),
				errdetail("Rows: %s, in %s.", sliced_pretty_number(c->counts.locked),
						  sliced_pretty_count(c->nlocked, "block")),
				errhint("Call sliced.convert() again, or with a larger max_wait."));
	if (c->counts.left > 0)
		ereport(NOTICE,
				errmsg_plural("%s of \"%s\" stays as it is", "%s of \"%s\" stay as they are", c->counts.left,
							  sliced_pretty_count(c->counts.left, "row"), c->name),
				errdetail("Their values belong to a replica identity that is decoded, or they have too many columns."));
}

/* ---- throttling ---- */

/* Wait until VACUUM has caught up, so that at most 'max_dead' of the rows are dead. */
static void
wait_for_vacuum(Conversion *c)
{
	for (;;)
	{
		Datum		oid = ObjectIdGetDatum(c->toastrelid);
		double		dead = DatumGetInt64(DirectFunctionCall1(pg_stat_get_dead_tuples, oid));
		double		live = DatumGetInt64(DirectFunctionCall1(pg_stat_get_live_tuples, oid));

		if (dead <= c->max_dead * (dead + live))
			return;
		if (!c->said_dead)
			ereport(NOTICE,
					errmsg("waiting for VACUUM of \"%s\"", c->name),
					errdetail("Dead rows of its toast relation: %s of %s.",
							  sliced_pretty_number(dead), sliced_pretty_number(dead + live)));
		c->said_dead = true;
		report_counts(c, SLICED_CONVERT_WAITS_FOR_VACUUM);
		sliced_let_slots_go_on();
		sleep_ms(LOOK_AGAIN_MS);
		next_transaction(c);
	}
}

static void
throttle(Conversion *c, int64 raw, double ms)
{
	if (c->max_rate > 0 && raw > 0)
	{
		report_counts(c, SLICED_CONVERT_THROTTLED);
		sleep_ms(raw * 1000.0 / c->max_rate - ms);
	}
	if (c->max_dead > 0 && raw > 0)
		wait_for_vacuum(c);
}

/* ---- passes ---- */

/* How far a pass has come. */
typedef struct Position
{
	BlockNumber i;				/* of its blocks */
	OffsetNumber next;			/* row in that block */
	int			locked;			/* rows so far */
} Position;

static void
add_locked_block(Conversion *c, BlockNumber block)
{
	if (c->nlocked == c->locked_room)
	{
		c->locked_room = c->locked_room * 2 + 64;
		c->locked = c->locked == NULL ?
			MemoryContextAllocHuge(c->mcxt, c->locked_room * sizeof(BlockNumber)) :
			repalloc_huge(c->locked, c->locked_room * sizeof(BlockNumber));
	}
	c->locked[c->nlocked++] = block;
}

/* Convert as many blocks as one transaction should take: by time, and by bytes. */
static int64
convert_blocks(Conversion *c, Relation rel, Position *at)
{
	int64		max_raw = c->max_rate > 0 ?
		Min(SLICED_CONVERT_BYTES, (int64) (c->max_rate / 10)) : SLICED_CONVERT_BYTES;
	BlockNumber end = RelationGetNumberOfBlocks(rel);
	TimestampTz started = GetCurrentTimestamp();
	SlicedConvertBatch *batch = sliced_convert_begin(rel, &c->filter, &c->counts);
	int64		raw;

	do
	{
		BlockNumber block = c->blocks != NULL ? c->blocks[at->i] : at->i;

		CHECK_FOR_INTERRUPTS();
		if (block < end)
			at->locked += sliced_convert_block(batch, block, &at->next, max_raw);
		else
			at->next = InvalidOffsetNumber;
		if (at->next != InvalidOffsetNumber)
			break;
		if (at->locked > 0)
			add_locked_block(c, block);
		c->counts.locked += at->locked;
		*at = (Position) {at->i + 1, FirstOffsetNumber, 0};
		pgstat_progress_update_param(SLICED_PROGRESS_BLOCKS_DONE, at->i);
	} while (at->i < c->nblocks && sliced_convert_batch_raw(batch) < max_raw &&
			 ms_since(started) < SLICED_CONVERT_MS);
	raw = sliced_convert_batch_raw(batch);
	sliced_convert_end(batch);
	return raw;
}

static void
remember_xid(Conversion *c, TransactionId xid)
{
	SlicedConvertFilter *f = &c->filter;

	if (f->own == NULL)
		f->own = MemoryContextAlloc(c->mcxt, 64 * sizeof(TransactionId));
	else if (f->nown >= 64 && (f->nown & (f->nown - 1)) == 0)
		f->own = repalloc_huge(f->own, (Size) f->nown * 2 * sizeof(TransactionId));
	f->own[f->nown++] = xid;
}

/* One transaction.  Functions in indexes run as the table's owner. */
static void
run_batch(Conversion *c, Position *at)
{
	TimestampTz started = GetCurrentTimestamp();
	Relation	rel;
	Oid			user;
	int			context;
	int			level;
	int64		raw;

	XactIsoLevel = XACT_SERIALIZABLE;
	sliced_refuse_read_only("sliced.convert()");
	rel = open_table(c);
	c->toastrelid = rel == NULL ? InvalidOid : rel->rd_rel->reltoastrelid;
	if (!OidIsValid(c->toastrelid))
	{
		at->i = c->nblocks;
		if (rel != NULL)
			relation_close(rel, NoLock);
		next_transaction(c);
		return;
	}
	PushActiveSnapshot(GetTransactionSnapshot());
	if (!TransactionIdIsValid(c->began))
		c->began = GetActiveSnapshot()->xmin;
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(rel->rd_rel->relowner, context | SECURITY_RESTRICTED_OPERATION);
	level = NewGUCNestLevel();
	RestrictSearchPath();

	raw = convert_blocks(c, rel, at);

	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, context);
	PopActiveSnapshot();
	relation_close(rel, NoLock);
	if (raw > 0)
	{
		remember_xid(c, GetTopTransactionId());
		/* a transaction lost in a crash will be converted again */
		(void) set_config_option("synchronous_commit", "off", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_LOCAL, true, 0, false);
	}
	next_transaction(c);
	report_counts(c, SLICED_CONVERTING);
	throttle(c, raw, ms_since(started));
}

static void
run_blocks(Conversion *c)
{
	Position	at = {0, FirstOffsetNumber, 0};
	TimestampTz started = GetCurrentTimestamp();

	while (at.i < c->nblocks)
	{
		run_batch(c, &at);
		say_how_far(c, at.i, started);
	}
}

/* Look again at blocks with rows that were locked, until 'max_wait' is used up. */
static void
look_again(Conversion *c)
{
	while (c->nlocked > 0 && c->waited < c->max_wait)
	{
		double		ms = Min(LOOK_AGAIN_MS, c->max_wait - c->waited);

		report_counts(c, SLICED_CONVERT_WAITS_FOR_LOCKS);
		sleep_ms(ms);
		c->waited += ms;

		c->blocks = c->locked;
		c->nblocks = c->nlocked;
		c->locked = NULL;
		c->nlocked = c->locked_room = 0;
		c->counts.locked = 0;
		run_blocks(c);
		pfree(c->blocks);
		c->blocks = NULL;
	}
}

/* Go through all blocks, then again through those with rows that were locked. */
static void
run_pass(Conversion *c, int pass)
{
	Relation	rel = open_table(c);

	c->nblocks = 0;
	if (rel != NULL)
	{
		c->nblocks = RelationGetNumberOfBlocks(rel);
		if (pass == 1)
			sliced_train_if_due(rel);
		relation_close(rel, NoLock);
	}
	next_transaction(c);

	c->began = InvalidTransactionId;
	report_pass(c, pass);
	run_blocks(c);
	look_again(c);
}

static void
convert_table(Conversion *c, Oid relid)
{
	LOCKTAG		tag = sliced_own_lock(SLICED_LOCK_CONVERSION, relid);
	Relation	rel;
	int64		rows;
	int			pass = 0;

	c->relid = relid;
	if ((rel = open_table(c)) == NULL)
		return;
	c->toastrelid = rel->rd_rel->reltoastrelid;
	c->name = MemoryContextStrdup(c->mcxt, RelationGetRelationName(rel));
	c->started = c->last_notice = GetCurrentTimestamp();
	c->waited = 0;
	memset(&c->counts, 0, sizeof(c->counts));
	memset(&c->filter, 0, sizeof(c->filter));
	c->nlocked = 0;
	relation_close(rel, NoLock);

	if (!lock_conversion(c))
		return;
	pgstat_progress_start_command((ProgressCommandType) SLICED_PROGRESS_COMMAND, relid);
	pgstat_progress_update_param(SLICED_PROGRESS_STARTED, c->started);
	if (OidIsValid(c->toastrelid))
		do
		{
			rows = c->counts.rows;
			run_pass(c, ++pass);
			c->filter.since = c->began;
		} while (c->counts.rows > rows && c->nlocked == 0 && pass < MAX_PASSES);
	say_what_was_done(c);
	pgstat_progress_end_command();
	LockRelease(&tag, ExclusiveLock, true);
}

/* ---- the procedure ---- */

/* True if the client has called the procedure directly. */
static bool
is_top_level(FunctionCallInfo fcinfo)
{
	PlannedStmt *stmt;

	if (ActivePortal == NULL || list_length(ActivePortal->stmts) != 1)
		return false;
	stmt = linitial_node(PlannedStmt, ActivePortal->stmts);
	return stmt->utilityStmt != NULL && IsA(stmt->utilityStmt, CallStmt) &&
		castNode(CallStmt, stmt->utilityStmt)->funcexpr->funcid == fcinfo->flinfo->fn_oid;
}

/* Argument 'n', in its unit, or 'by_default' if it is NULL. */
static double
get_limit(FunctionCallInfo fcinfo, int n, const char *name, double by_default, double max)
{
	double		value = PG_ARGISNULL(n) ? by_default : PG_GETARG_FLOAT8(n);

	if (!(value >= 0 && value <= max))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("%s must be between 0 and %g", name, max));
	return value;
}

PG_FUNCTION_INFO_V1(sliced_convert);

Datum
sliced_convert(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	Conversion	c = {.top_level = is_top_level(fcinfo)};
	MemoryContext old;
	List	   *relids;
	ListCell   *lc;

	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				errmsg("sliced.convert() cannot run inside a transaction block"),
				errhint("It commits as it goes: call it by itself, outside of BEGIN and of functions."));
	sliced_refuse_read_only("sliced.convert()");
	sliced_argument_check(fcinfo, 0, "rel");
	c.max_rate = get_limit(fcinfo, 1, "max_rate", 0, 1e9) * 1e6;
	c.max_wait = get_limit(fcinfo, 2, "max_wait", 10, 1e9) * 1e3;
	c.max_dead = get_limit(fcinfo, 3, "max_dead", 0, 1);

	/* our transactions end, but this context stays */
	c.mcxt = AllocSetContextCreate(PortalContext, "sliced conversion", ALLOCSET_DEFAULT_SIZES);
	if (!c.top_level)
		SPI_connect_ext(SPI_OPT_NONATOMIC);
	old = MemoryContextSwitchTo(c.mcxt);
	relids = sliced_tables_lock(PG_GETARG_OID(0), SLICED_OWNER, AccessShareLock);
	MemoryContextSwitchTo(old);
	c.is_partition = get_rel_relkind(PG_GETARG_OID(0)) == RELKIND_PARTITIONED_TABLE;
	/* each is locked and checked again, with a stronger lock: keep no weaker one */
	next_transaction(&c);
	foreach(lc, relids)
		convert_table(&c, lfirst_oid(lc));
	if (!c.top_level)
		SPI_finish();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(c.mcxt);
	PG_RETURN_VOID();
}
