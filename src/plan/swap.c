/*
 * swap.c
 *	  Puts our functions in the place of core's, in finished plans.
 *
 * Core plans a query that reads substr(body, ...) or sets body = body || ... as ever.
 * Then, if the query uses a table of ours, we exchange the numbers of some functions
 * in the plan: those that the toasters of the table's columns offer (swap_table.c).
 * Operators keep theirs, and indexes have been matched already.  Our functions give
 * the same results for any argument, but do not read or write all of a value of ours.
 *
 * Functions that read are exchanged everywhere.  Functions that make promises
 * (value/promise.h) are exchanged only where an UPDATE, an ON CONFLICT or a MERGE
 * computes the new value of a column, at the top of the expression.  Elsewhere the
 * query looks at the result, and a promise would be a detour.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/identity.h"
#include "base/settings.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "plan/exchange.h"
#include "plan/plan.h"
#include "plan/swap_table.h"
#include "toaster/at_work.h"
#include "toaster/column.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/*
 * In jitFlags of a plan, which has no other room for a mark: functions are exchanged.
 * Core looks at its own bits only, and gives the flags to parallel workers.
 */
#define PLAN_IS_SWAPPED		(1 << 30)

/* State of the work on one plan. */
typedef struct Work
{
	SlicedSwapWork public;		/* what toasters see */
	Oid			namespace;		/* of the toaster asked about a subscript */
	PlannedStmt *stmt;
	List	   *used;			/* functions exchanged, and our own for them */
} Work;

/* Exchange the function if there is one of ours for this use. */
static bool
swap_function(Oid *function, SlicedSwapKind kind, Work *work)
{
	Oid			ours = sliced_swap_table_find(*function, kind);

	if (!OidIsValid(ours))
		return false;
	work->used = list_append_unique_oid(work->used, *function);
	work->used = list_append_unique_oid(work->used, ours);
	*function = ours;
	return true;
}

/* The function that an expression calls, or NULL. */
static Oid *
called_function(Node *expr)
{
	if (IsA(expr, FuncExpr))
		return &((FuncExpr *) expr)->funcid;
	if (IsA(expr, OpExpr))
		return &((OpExpr *) expr)->opfuncid;
	return NULL;
}

/* The arguments of the function that an expression calls. */
static List *
call_arguments(Node *expr)
{
	return IsA(expr, FuncExpr) ? ((FuncExpr *) expr)->args : ((OpExpr *) expr)->args;
}

/* List the subexpressions that 'expr' may return the value of. */
static List *
alternatives(Node *expr)
{
	List	   *result = NIL;
	ListCell   *lc;

	switch (nodeTag(expr))
	{
		case T_RelabelType:
			return list_make1(((RelabelType *) expr)->arg);
		case T_CoerceToDomain:
			return list_make1(((CoerceToDomain *) expr)->arg);
		case T_CoalesceExpr:
			return ((CoalesceExpr *) expr)->args;
		case T_CaseExpr:
			foreach(lc, ((CaseExpr *) expr)->args)
				result = lappend(result, lfirst_node(CaseWhen, lc)->result);
			return lappend(result, ((CaseExpr *) expr)->defresult);
		default:
			return NIL;
	}
}

static bool swap_subscript(Node *expr, SlicedSwapKind kind, Work *work);
static void swap_first_argument(Node *call, Work *work);

/* Exchange functions in an argument of one of our functions: it may be a part. */
static void
swap_part(Node *expr, Work *work)
{
	Oid		   *function;
	ListCell   *lc;

	if (expr == NULL)
		return;
	check_stack_depth();

	function = called_function(expr);
	if (IsA(expr, SubscriptingRef))
		swap_subscript(expr, SLICED_SWAP_PART, work);
	else if (function != NULL && swap_function(function, SLICED_SWAP_PART, work))
		swap_first_argument(expr, work);
	foreach(lc, alternatives(expr))
		swap_part(lfirst(lc), work);
}

/* The same for the first argument of one of our functions. */
static void
swap_first_argument(Node *call, Work *work)
{
	if (call_arguments(call) != NIL)
		swap_part(linitial(call_arguments(call)), work);
}

/* ---- subscripts ---- */

static Oid
function_for_toaster(SlicedSwapWork *public, const char *name, int nargs, const Oid *argtypes)
{
	Work	   *work = (Work *) public;
	Oid			function = sliced_exchange_function(work->namespace, name, nargs, argtypes);

	if (OidIsValid(function))
		work->used = list_append_unique_oid(work->used, function);
	return function;
}

/* Fail unless 'call', which a toaster has returned, fits the expression.  NULL does. */
static void
check_call(const FuncExpr *call, const Node *expr, const Work *work)
{
	if (call != NULL && (!IsA(call, FuncExpr) || call->funcresulttype != exprType(expr) ||
						 !list_member_oid(work->used, call->funcid)))
		ereport(ERROR,
				errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg("a call that is to take the place of an expression is not what was offered"));
}

/* Call only if what 'ref' subscripts is not NULL: else subscripts are not evaluated. */
static Expr *
unless_null(const SubscriptingRef *ref, FuncExpr *call)
{
	NullTest   *test = makeNode(NullTest);
	CaseWhen   *when = makeNode(CaseWhen);
	CaseExpr   *result = makeNode(CaseExpr);

	test->arg = copyObject(ref->refexpr);
	test->nulltesttype = IS_NULL;
	test->location = -1;
	when->expr = (Expr *) test;
	when->result = (Expr *) makeNullConst(ref->refrestype, ref->reftypmod, ref->refcollid);
	when->location = -1;
	result->casetype = ref->refrestype;
	result->casecollid = ref->refcollid;
	result->args = list_make1(when);
	result->defresult = (Expr *) call;
	result->location = -1;
	return (Expr *) result;
}

/* Add the typmod: an element of varchar(10)[] is a varchar(10); calls have none. */
static Expr *
with_typmod(const SubscriptingRef *ref, Expr *expr)
{
	return ref->reftypmod == -1 ? expr :
		(Expr *) makeRelabelType(expr, ref->refrestype, ref->reftypmod, ref->refcollid,
								 COERCE_IMPLICIT_CAST);
}

/*
 * True if the new value is made of the old one, as in c[5].field = ...  Core passes
 * the old value as a CaseTestExpr, at any depth; a function's argument cannot have
 * one.  CaseTestExprs of a CASE, or of a coercion of arrays, mean something else.
 */
static bool
contains_old_value(Node *node, void *context)
{
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, CaseTestExpr))
		return true;
	if (IsA(node, ArrayCoerceExpr))
		return contains_old_value((Node *) ((ArrayCoerceExpr *) node)->arg, context);
	if (IsA(node, CaseExpr) && ((CaseExpr *) node)->arg != NULL)
	{
		CaseExpr   *expr = (CaseExpr *) node;

		foreach(lc, expr->args)
			if (contains_old_value((Node *) lfirst_node(CaseWhen, lc)->result, context))
				return true;
		return contains_old_value((Node *) expr->arg, context) ||
			contains_old_value((Node *) expr->defresult, context);
	}
	return expression_tree_walker(node, contains_old_value, context);
}

/* Overwrite a subscript in memory with another expression. */
static void
replace_subscript(SubscriptingRef *ref, const Expr *expr)
{
	StaticAssertStmt(sizeof(FuncExpr) <= sizeof(SubscriptingRef), "no room for a FuncExpr");
	StaticAssertStmt(sizeof(CaseExpr) <= sizeof(SubscriptingRef), "no room for a CaseExpr");
	StaticAssertStmt(sizeof(RelabelType) <= sizeof(SubscriptingRef), "no room for a RelabelType");
	memcpy(ref, expr, IsA(expr, FuncExpr) ? sizeof(FuncExpr) :
		   IsA(expr, CaseExpr) ? sizeof(CaseExpr) : sizeof(RelabelType));
}

/*
 * Turn a subscript, which core evaluates in its own way, into a function call at the
 * same place in memory, if the type's toaster has one for it.
 */
static bool
swap_subscript(Node *expr, SlicedSwapKind kind, Work *work)
{
	SubscriptingRef *ref = (SubscriptingRef *) expr;
	SlicedRegistered *registered = sliced_registered_default(ref->refcontainertype);
	const SlicedToaster *toaster;
	SlicedAtWork at_work;
	FuncExpr   *call;

	if (registered == NULL || (ref->refassgnexpr != NULL) != (kind == SLICED_SWAP_EDIT) ||
		contains_old_value((Node *) ref->refassgnexpr, NULL))
		return false;
	work->namespace = registered->namespace;
	work->public.unless_null = false;
	toaster = sliced_registered_try(registered, NULL);
	if (toaster == NULL || toaster->swap_subscript == NULL)
		return false;
	sliced_at_work_begin(&at_work, toaster, NULL, 0);
	call = toaster->swap_subscript(ref, kind, &work->public);
	check_call(call, expr, work);
	sliced_at_work_end(&at_work);
	if (call == NULL)
		return false;
	if (kind == SLICED_SWAP_EDIT)
		replace_subscript(ref, (Expr *) call);
	else
	{
		swap_first_argument((Node *) call, work);
		replace_subscript(ref, with_typmod(ref, work->public.unless_null ?
										   unless_null(ref, call) : (Expr *) call));
	}
	return true;
}

/* ---- SQL/JSON ---- */

/* True if the path may be evaluated twice. */
static bool
is_constant(const Node *path)
{
	return IsA(path, Const) ||
		(IsA(path, Param) && ((const Param *) path)->paramkind == PARAM_EXTERN);
}

/*
 * Core's code looks into a document without a function that we could exchange.  Give
 * it a document that lacks what it will not look at.
 */
static void
swap_document(Node **document, Node *path, Work *work)
{
	SlicedRegistered *registered;
	const SlicedToaster *toaster;
	SlicedAtWork at_work;
	FuncExpr   *call;

	/* skip rows of JSON_TABLE, which are in memory, and parts of a plan seen before */
	if (IsA(*document, CaseTestExpr) ||
		(IsA(*document, FuncExpr) && list_member_oid(work->used, ((FuncExpr *) *document)->funcid)) ||
		(path != NULL && !is_constant(path)))
		return;
	registered = sliced_registered_default(exprType(*document));
	toaster = registered == NULL ? NULL : sliced_registered_try(registered, NULL);
	if (toaster == NULL || toaster->swap_document == NULL)
		return;
	work->namespace = registered->namespace;
	sliced_at_work_begin(&at_work, toaster, NULL, 0);
	call = toaster->swap_document(*document, path, &work->public);
	check_call(call, *document, work);
	sliced_at_work_end(&at_work);
	if (call != NULL)
		*document = (Node *) call;
}

/* ---- functions that read ---- */

static bool
swap_readers(Node *expr, Work *work)
{
	Oid		   *function;
	Node	  **document;
	Node	   *path;

	if (expr == NULL)
		return false;
	if (IsA(expr, SubscriptingRef))
		swap_subscript(expr, SLICED_SWAP_READ, work);
	else if (sliced_sql_json_query(expr, &document, &path))
		swap_document(document, path, work);
	function = called_function(expr);
	if (function != NULL && swap_function(function, SLICED_SWAP_READ, work))
		swap_first_argument(expr, work);
	return expression_tree_walker(expr, swap_readers, work);
}

static void
visit_expression(Node *expr, bool top, void *arg)
{
	if (top)
		swap_readers(expr, arg);
	else
		expression_tree_walker(expr, swap_readers, arg);
}

static void
ignore_expression(Node *expr, bool top, void *arg)
{
}

/* ---- functions that make promises ---- */

static void swap_editors(Node *expr, Plan *plan, Work *work);

/*
 * Exchange functions in the arguments of a call that changes its first one.  That may
 * be changed itself, or be a part; so may others of the call's type, as in a || b.
 */
static void
swap_changed_arguments(Node *call, Plan *plan, Work *work)
{
	List	   *args = call_arguments(call);
	ListCell   *lc;

	foreach(lc, args)
		if (lc == list_head(args) || exprType(lfirst(lc)) == exprType(call))
		{
			swap_editors(lfirst(lc), plan, work);
			swap_part(lfirst(lc), work);
		}
}

/* The new value is column 'resno' of what the plan returns. */
static void
swap_editors_in_column(Plan *plan, AttrNumber resno, Work *work)
{
	List	   *plans;
	ListCell   *lc;

	/* another extension's node may have its plans elsewhere */
	if (plan == NULL)
		return;
	check_stack_depth();
	if (IsA(plan, Append) || IsA(plan, MergeAppend))
	{
		plans = IsA(plan, Append) ? ((Append *) plan)->appendplans : ((MergeAppend *) plan)->mergeplans;
		foreach(lc, plans)
			swap_editors_in_column(lfirst(lc), resno, work);
		return;
	}
	if (resno >= 1 && resno <= list_length(plan->targetlist))
		swap_editors((Node *) list_nth_node(TargetEntry, plan->targetlist, resno - 1)->expr,
					 plan, work);
}

/* The new value is a column of something below the plan. */
static void
swap_editors_below(Var *var, Plan *plan, Work *work)
{
	if (plan == NULL)
		return;
	if (var->varno == OUTER_VAR)
		swap_editors_in_column(outerPlan(plan), var->varattno, work);
	else if (var->varno == INNER_VAR)
		swap_editors_in_column(innerPlan(plan), var->varattno, work);
	else if (IsA(plan, SubqueryScan) && var->varno == ((Scan *) plan)->scanrelid)
		swap_editors_in_column(((SubqueryScan *) plan)->subplan, var->varattno, work);
	else if (var->varno == INDEX_VAR && IsA(plan, CustomScan))
	{
		const TargetEntry *passed = list_nth(((CustomScan *) plan)->custom_scan_tlist, var->varattno - 1);

		/* follow a column passed on from below; only the provider knows the others */
		if (IsA(passed->expr, Var) && ((Var *) passed->expr)->varno != INDEX_VAR)
			swap_editors_below((Var *) passed->expr, plan, work);
	}
}

/*
 * 'expr', computed by 'plan' (NULL if nothing is below), is a column's new value.
 */
static void
swap_editors(Node *expr, Plan *plan, Work *work)
{
	Oid		   *function;
	ListCell   *lc;

	if (expr == NULL)
		return;
	check_stack_depth();

	function = called_function(expr);
	if (function != NULL ? swap_function(function, SLICED_SWAP_EDIT, work) :
		IsA(expr, SubscriptingRef) && swap_subscript(expr, SLICED_SWAP_EDIT, work))
		swap_changed_arguments(expr, plan, work);
	else if (IsA(expr, Var))
		swap_editors_below((Var *) expr, plan, work);
	foreach(lc, alternatives(expr))
		swap_editors(lfirst(lc), plan, work);
}

static void
swap_editors_in_list(List *targetlist, Plan *plan, Work *work)
{
	ListCell   *lc;

	foreach(lc, targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk)
			swap_editors((Node *) entry->expr, plan, work);
	}
}

static void
visit_modify(ModifyTable *node, void *arg)
{
	Plan	   *subplan = outerPlan(node);
	ListCell   *lc;
	ListCell   *lc2;

	if (node->operation == CMD_UPDATE)
		foreach(lc, subplan->targetlist)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, lc);

			if (!entry->resjunk)
				swap_editors_in_column(subplan, entry->resno, arg);
		}
	swap_editors_in_list(node->onConflictSet, NULL, arg);
	foreach(lc, node->mergeActionLists)
		foreach(lc2, (List *) lfirst(lc))
		{
			MergeAction *action = lfirst_node(MergeAction, lc2);

			if (action->commandType == CMD_UPDATE)
				swap_editors_in_list(action->targetList, NULL, arg);
		}
}

/* ---- the hook ---- */

/* Enter the functions that the toasters of the table's columns offer. */
static void
add_types_of(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	bool		named = sliced_columns_name_toasters(rel);

	for (int i = 0; i < desc->natts; i++)
	{
		Oid			function;

		if (TupleDescAttr(desc, i)->attlen != -1 || TupleDescAttr(desc, i)->attisdropped)
			continue;
		function = named ? sliced_column_toaster_function(rel, i + 1) : InvalidOid;
		if (OidIsValid(function))
			sliced_swap_table_add_toaster(function);
		else
			sliced_swap_table_add(TupleDescAttr(desc, i)->atttypid);
	}
}

/* True if the plan uses a table of ours.  With 'add', enter the types of all. */
static bool
find_our_tables(PlannedStmt *stmt, bool add)
{
	ListCell   *lc;
	bool		found = false;

	foreach(lc, stmt->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		Relation	rel;

		if (rte->rtekind != RTE_RELATION ||
			(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
			continue;
		/* the planner's caller, or the executor's, holds a lock */
		rel = RelationIdGetRelation(rte->relid);
		if (rel == NULL)
			continue;
		if (sliced_is_ours(rel))
		{
			found = true;
			if (add)
				add_types_of(rel);
		}
		RelationClose(rel);
		if (found && !add)
			break;
	}
	return found;
}

/* Make DROP EXTENSION and REVOKE invalidate the plan. */
static void
depend_on_functions(Work *work)
{
	ListCell   *lc;

	foreach(lc, work->used)
	{
		PlanInvalItem *item = makeNode(PlanInvalItem);

		item->cacheId = PROCOID;
		item->hashValue = GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(lfirst_oid(lc)));
		work->stmt->invalItems = lappend(work->stmt->invalItems, item);
	}
}

static void
swap_functions(PlannedStmt *stmt)
{
	Work		work = {.public.function = function_for_toaster, .stmt = stmt};
	SlicedPlanVisitor visitor = {.arg = &work};
	uint64		generation;

	/* sliced_routine is NULL until this process opens a table of ours */
	if (sliced_routine == NULL || !find_our_tables(stmt, true))
		return;
	generation = sliced_registry_generation();

	/* promise makers first: some of them also have a variant that reads */
	visitor.visit = ignore_expression;
	visitor.modify = visit_modify;
	sliced_plan_walk(stmt, &visitor);
	visitor.visit = visit_expression;
	visitor.modify = NULL;
	sliced_plan_walk(stmt, &visitor);
	depend_on_functions(&work);

	/* if functions have changed meanwhile, the plan misses that: do not keep it */
	if (generation != sliced_registry_generation())
		stmt->transientPlan = true;
}

/*
 * Opening a table of ours loads this library.  If the planner is the first to open
 * one, it makes the session's first plan without our hook: for a query on a
 * partitioned table or a heap table with children, or if it inlines a function.  Such
 * a plan may be kept for the whole session, so we exchange the functions in the kept
 * plan.  We change a copy and put it in the plan's place when complete, because the
 * walk may end in an error.
 */
void
sliced_swap_late(PlannedStmt *stmt)
{
	PlannedStmt *copy;
	MemoryContext old;

	/* a parallel worker, or a session whose plan is old, may not know what was exchanged */
	if (unlikely(sliced_check_toasters))
		find_our_tables(stmt, true);
	if (likely(stmt->jitFlags & PLAN_IS_SWAPPED))
		return;
	if (sliced_routine != NULL && find_our_tables(stmt, false))
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(stmt));
		copy = copyObject(stmt);
		swap_functions(copy);
		*stmt = *copy;
		MemoryContextSwitchTo(old);
	}
	stmt->jitFlags |= PLAN_IS_SWAPPED;
}

void
sliced_swap_plan(PlannedStmt *stmt)
{
	swap_functions(stmt);
	stmt->jitFlags |= PLAN_IS_SWAPPED;
}
