/*
 * swap.c
 *	  Puts our functions in the place of core's, in finished plans.
 *
 * Core plans a query that reads substr(body, ...) or sets body = body || ... as
 * ever.  Then, if the query has to do with a table of ours, we exchange the
 * numbers of some functions in the plan.  Operators keep theirs, and indexes have
 * been matched already.  Our functions give the same results for any argument;
 * for values of ours, they do so without reading or writing all of the value.
 *
 * Functions that read are exchanged wherever they are.  Functions that make
 * promises (value/promise.h) only where an UPDATE, an ON CONFLICT or a MERGE
 * computes the new value of a column, at the top of the expression: elsewhere the
 * result is going to be looked at, and a promise would be a detour.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/identity.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "plan/plan.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

typedef struct Swap
{
	Oid			core;
	const char *name;			/* of ours, which has the same arguments */
} Swap;

/* Functions that read. */
static const Swap readers[] = {
	{F_LENGTH_TEXT, "text_length"},
	{F_TEXTLEN, "text_length"},
	{F_CHAR_LENGTH_TEXT, "text_length"},
	{F_CHARACTER_LENGTH_TEXT, "text_length"},
	{F_SUBSTR_TEXT_INT4_INT4, "text_substr"},
	{F_SUBSTRING_TEXT_INT4_INT4, "text_substr"},
	{F_SUBSTR_TEXT_INT4, "text_substr"},
	{F_SUBSTRING_TEXT_INT4, "text_substr"},
	{F_RIGHT, "text_right"},
	{F_GET_BYTE, "get_byte"},
	{F_GET_BIT_BYTEA_INT8, "get_bit"},
	{F_JSONB_OBJECT_FIELD, "jsonb_field"},
	{F_JSONB_OBJECT_FIELD_TEXT, "jsonb_field_text"},
	{F_JSONB_ARRAY_ELEMENT, "jsonb_element"},
	{F_JSONB_ARRAY_ELEMENT_TEXT, "jsonb_element_text"},
	{F_JSONB_EXTRACT_PATH, "jsonb_path"},
	{F_JSONB_EXTRACT_PATH_TEXT, "jsonb_path_text"},
	{F_JSONB_EXISTS, "jsonb_exists"},
	{F_JSONB_EXISTS_ANY, "jsonb_exists_any"},
	{F_JSONB_EXISTS_ALL, "jsonb_exists_all"},
	{F_JSONB_TYPEOF, "jsonb_typeof"},
	{F_JSONB_ARRAY_LENGTH, "jsonb_array_length"},
	{F_JSONB_OBJECT_KEYS, "jsonb_object_keys"},
	{F_JSONB_CONTAINS, "jsonb_contains"},
	{F_JSONB_CONTAINED, "jsonb_contained"},
	{F_JSONB_PATH_EXISTS, "jsonb_path_exists"},
	{F_JSONB_PATH_EXISTS_TZ, "jsonb_path_exists_tz"},
	{F_JSONB_PATH_EXISTS_OPR, "jsonb_path_exists_opr"},
	{F_JSONB_PATH_MATCH, "jsonb_path_match"},
	{F_JSONB_PATH_MATCH_TZ, "jsonb_path_match_tz"},
	{F_JSONB_PATH_MATCH_OPR, "jsonb_path_match_opr"},
	{F_JSONB_PATH_QUERY, "jsonb_path_query"},
	{F_JSONB_PATH_QUERY_TZ, "jsonb_path_query_tz"},
	{F_JSONB_PATH_QUERY_ARRAY, "jsonb_path_query_array"},
	{F_JSONB_PATH_QUERY_ARRAY_TZ, "jsonb_path_query_array_tz"},
	{F_JSONB_PATH_QUERY_FIRST, "jsonb_path_query_first"},
	{F_JSONB_PATH_QUERY_FIRST_TZ, "jsonb_path_query_first_tz"},
};

/*
 * Functions that return parts of what they read.  If the result is the first
 * argument of another function of ours, they return where the part is, which that
 * function understands (toaster/jsonb/part.h).
 */
static const Swap parts[] = {
	{F_JSONB_OBJECT_FIELD, "jsonb_field_part"},
	{F_JSONB_ARRAY_ELEMENT, "jsonb_element_part"},
	{F_JSONB_EXTRACT_PATH, "jsonb_path_part"},
};

/* Functions that make promises.  The first argument is what they change. */
static const Swap editors[] = {
	{F_TEXTCAT, "edit_textcat"},
	{F_BYTEACAT, "edit_byteacat"},
	{F_CONCAT, "edit_concat"},
	{F_OVERLAY_TEXT_TEXT_INT4_INT4, "edit_overlay"},
	{F_OVERLAY_TEXT_TEXT_INT4, "edit_overlay"},
	{F_OVERLAY_BYTEA_BYTEA_INT4_INT4, "edit_overlay"},
	{F_OVERLAY_BYTEA_BYTEA_INT4, "edit_overlay"},
	{F_SET_BYTE, "edit_set_byte"},
	{F_SET_BIT_BYTEA_INT8_INT4, "edit_set_bit"},
	{F_SUBSTR_TEXT_INT4_INT4, "edit_substr"},
	{F_SUBSTRING_TEXT_INT4_INT4, "edit_substr"},
	{F_SUBSTR_TEXT_INT4, "edit_substr"},
	{F_SUBSTRING_TEXT_INT4, "edit_substr"},
	{F_SUBSTR_BYTEA_INT4_INT4, "edit_substr"},
	{F_SUBSTRING_BYTEA_INT4_INT4, "edit_substr"},
	{F_SUBSTR_BYTEA_INT4, "edit_substr"},
	{F_SUBSTRING_BYTEA_INT4, "edit_substr"},
	{F_LEFT, "edit_left"},
	{F_RIGHT, "edit_right"},
	{F_VARCHAR_VARCHAR_INT4_BOOL, "edit_varchar"},
	{F_JSONB_SET, "edit_jsonb_set"},
	{F_JSONB_SET_LAX, "edit_jsonb_set_lax"},
	{F_JSONB_INSERT, "edit_jsonb_insert"},
	{F_JSONB_CONCAT, "edit_jsonb_concat"},
	{F_JSONB_DELETE_JSONB_TEXT, "edit_jsonb_delete"},
	{F_JSONB_DELETE_JSONB_INT4, "edit_jsonb_delete"},
	{F_JSONB_DELETE_JSONB__TEXT, "edit_jsonb_delete"},
	{F_JSONB_DELETE_PATH, "edit_jsonb_delete_path"},
};

/* Takes the place of jsonb subscripts, which are not functions. */
static const char *const subscript_reader = "jsonb_path";
static const char *const subscript_editor = "edit_jsonb_subscript";

/* What takes the place of each; InvalidOid if there is nothing. */
typedef struct Ours
{
	Oid			handler;		/* InvalidOid: look for all again */
	Oid			readers[lengthof(readers)];
	Oid			parts[lengthof(parts)];
	Oid			editors[lengthof(editors)];
	Oid			subscript_reader;
	Oid			subscript_editor;
} Ours;

static Ours ours;
static uint64 changes = 0;		/* of functions, that this process was told of */

static planner_hook_type next_planner;

/*
 * In jitFlags of a plan, which has no place for others' marks: functions have been
 * exchanged.  Core looks at its own bits only, and gives the flags to parallel workers.
 */
#define PLAN_IS_SWAPPED		(1 << 30)

/* What is known while a plan is worked on. */
typedef struct Work
{
	PlannedStmt *stmt;
	List	   *used;			/* functions exchanged, and our own for them */
} Work;

/* ---- which function takes the place of which ---- */

static Oid
find_ours(const char *name, oidvector *args, Oid namespace)
{
	HeapTuple	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
									   PointerGetDatum(args), ObjectIdGetDatum(namespace));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		/* one in C, which only a superuser can have made */
		if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
			result = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
		ReleaseSysCache(tuple);
	}
	return result;
}

static Oid
find_function(const Swap *swap, Oid namespace)
{
	HeapTuple	core = SearchSysCache1(PROCOID, ObjectIdGetDatum(swap->core));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(core))
	{
		result = find_ours(swap->name, &((Form_pg_proc) GETSTRUCT(core))->proargtypes, namespace);
		ReleaseSysCache(core);
	}
	return result;
}

/* Our functions are in the schema of the access method's handler. */
static Ours
look_for_functions(Oid handler)
{
	Ours		result = {.handler = handler};
	Oid			namespace = get_func_namespace(handler);
	Oid			reader_args[] = {JSONBOID, TEXTARRAYOID};
	Oid			editor_args[] = {JSONBOID, JSONBOID, BOOLOID, TEXTARRAYOID};

	for (int i = 0; i < lengthof(readers); i++)
		result.readers[i] = find_function(&readers[i], namespace);
	for (int i = 0; i < lengthof(parts); i++)
		result.parts[i] = find_function(&parts[i], namespace);
	for (int i = 0; i < lengthof(editors); i++)
		result.editors[i] = find_function(&editors[i], namespace);
	result.subscript_reader = find_ours(subscript_reader,
										buildoidvector(reader_args, lengthof(reader_args)), namespace);
	result.subscript_editor = find_ours(subscript_editor,
										buildoidvector(editor_args, lengthof(editor_args)), namespace);
	return result;
}

/*
 * Looking may end in an error, and functions may change meanwhile: what was found
 * counts only once all of it was found, and nothing has changed since the first.
 * From here on the caller's lock on a table of ours keeps all of them.
 */
static void
find_functions(Oid handler)
{
	while (ours.handler != handler)
	{
		uint64		before = changes;
		Ours		result = look_for_functions(handler);

		if (changes == before)
			ours = result;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Some function has changed. */
static void
forget_functions(Datum arg, int cacheid, uint32 hashvalue)
{
	ours.handler = InvalidOid;
	changes++;
}

/* The plan may be kept and run later for other users. */
static bool
all_may_execute(Oid function)
{
	return pg_proc_aclcheck(function, ACL_ID_PUBLIC, ACL_EXECUTE) == ACLCHECK_OK;
}

/* Exchange the function, if it is one of those. */
static bool
swap_function(Oid *function, const Swap *swaps, const Oid *oids, int n, Work *work)
{
	for (int i = 0; i < n; i++)
	{
		if (swaps[i].core != *function)
			continue;
		if (!OidIsValid(oids[i]) || !all_may_execute(*function) ||
			!all_may_execute(oids[i]))
			return false;
		work->used = list_append_unique_oid(work->used, *function);
		work->used = list_append_unique_oid(work->used, oids[i]);
		*function = oids[i];
		return true;
	}
	return false;
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
arguments(Node *expr)
{
	return IsA(expr, FuncExpr) ? ((FuncExpr *) expr)->args : ((OpExpr *) expr)->args;
}

/* ---- subscripts ---- */

/* Is it harmless to evaluate the expression at any time? */
static bool
is_harmless(Node *expr)
{
	if (IsA(expr, RelabelType))
		return is_harmless((Node *) ((RelabelType *) expr)->arg);
	/* a parameter of the executor may stand for a subquery */
	return IsA(expr, Const) || IsA(expr, Var) ||
		(IsA(expr, Param) && ((Param *) expr)->paramkind == PARAM_EXTERN);
}

static bool
is_never_null(Node *expr)
{
	return IsA(expr, Const) && !((Const *) expr)->constisnull;
}

/*
 * Core evaluates subscripts only if there is a container, and the value to assign
 * only if no subscript is NULL.  May they be evaluated in any case?
 */
static bool
order_does_not_matter(SubscriptingRef *ref)
{
	bool		assigns_any = ref->refassgnexpr == NULL || is_harmless((Node *) ref->refassgnexpr);
	ListCell   *lc;

	foreach(lc, ref->refupperindexpr)
		if (!is_harmless(lfirst(lc)) || !(assigns_any || is_never_null(lfirst(lc))))
			return false;
	return true;
}

static Node *
subscript_as_text(Node *subscript)
{
	CoerceViaIO *coerce;
	Const	   *number = (Const *) subscript;

	if (exprType(subscript) != INT4OID)
		return subscript;
	if (IsA(subscript, Const))
		return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, number->constisnull ? 0 :
								  CStringGetTextDatum(psprintf("%d", DatumGetInt32(number->constvalue))),
								  number->constisnull, false);
	coerce = makeNode(CoerceViaIO);
	coerce->arg = (Expr *) subscript;
	coerce->resulttype = TEXTOID;
	coerce->resultcollid = DEFAULT_COLLATION_OID;
	coerce->coerceformat = COERCE_EXPLICIT_CAST;
	coerce->location = -1;
	return (Node *) coerce;
}

/*
 * Turn a jsonb subscript, which core evaluates in a way of its own, into a
 * function call in the same place in memory.
 */
static bool
swap_subscript(Node *expr, bool assignment, Work *work)
{
	SubscriptingRef *ref = (SubscriptingRef *) expr;
	Oid			function = assignment ? ours.subscript_editor : ours.subscript_reader;
	ArrayExpr  *path;
	FuncExpr	call = {{T_FuncExpr}};
	ListCell   *lc;

	StaticAssertStmt(sizeof(FuncExpr) <= sizeof(SubscriptingRef), "no room for a FuncExpr");

	if (ref->refcontainertype != JSONBOID || (ref->refassgnexpr != NULL) != assignment ||
		!OidIsValid(function) || !all_may_execute(function) || !order_does_not_matter(ref))
		return false;

	path = makeNode(ArrayExpr);
	path->array_typeid = TEXTARRAYOID;
	path->array_collid = DEFAULT_COLLATION_OID;
	path->element_typeid = TEXTOID;
	path->location = -1;
	foreach(lc, ref->refupperindexpr)
		path->elements = lappend(path->elements, subscript_as_text(lfirst(lc)));

	call.funcid = function;
	call.funcresulttype = JSONBOID;
	call.funcvariadic = true;
	call.funcformat = COERCE_EXPLICIT_CALL;
	call.inputcollid = DEFAULT_COLLATION_OID;
	call.location = -1;
	call.args = !assignment ? list_make2(ref->refexpr, path) :
		list_make4(ref->refexpr, ref->refassgnexpr,
				   makeBoolConst(exprType(linitial(ref->refupperindexpr)) == INT4OID, false), path);
	memcpy(expr, &call, sizeof(FuncExpr));
	work->used = list_append_unique_oid(work->used, function);
	return true;
}

/* ---- functions that read ---- */

/* The expression's function is one of ours: is its argument a part of something? */
static void
swap_part(Node *expr, Work *work)
{
	Oid		   *function;

	while (arguments(expr) != NIL)
	{
		expr = linitial(arguments(expr));
		function = called_function(expr);
		if (function == NULL ||
			!swap_function(function, parts, ours.parts, lengthof(parts), work))
			break;
	}
}

static bool
swap_readers(Node *expr, Work *work)
{
	Oid		   *function;

	if (expr == NULL)
		return false;
	if (IsA(expr, SubscriptingRef) && swap_subscript(expr, false, work))
		swap_part(expr, work);
	function = called_function(expr);
	if (function != NULL &&
		swap_function(function, readers, ours.readers, lengthof(readers), work))
		swap_part(expr, work);
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

/* The new value is column 'resno' of what the plan returns. */
static void
swap_editors_in_column(Plan *plan, AttrNumber resno, Work *work)
{
	ListCell   *lc;

	if (plan == NULL)
		return;
	check_stack_depth();
	if (IsA(plan, Append))
	{
		foreach(lc, ((Append *) plan)->appendplans)
			swap_editors_in_column(lfirst(lc), resno, work);
		return;
	}
	if (IsA(plan, MergeAppend))
	{
		foreach(lc, ((MergeAppend *) plan)->mergeplans)
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
}

/*
 * 'expr', which 'plan' computes (NULL if nothing is below it), is a column's new
 * value.
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
	if (function != NULL)
	{
		List	   *args = arguments(expr);
		bool		swapped = swap_function(function, editors, ours.editors, lengthof(editors),
											work);

		/* what is changed may itself be the result of a change, on either side of || */
		if (swapped)
			foreach(lc, args)
				if (exprType(lfirst(lc)) == exprType(expr) || lc == list_head(args))
					swap_editors(lfirst(lc), plan, work);
		return;
	}

	switch (nodeTag(expr))
	{
		case T_SubscriptingRef:
			if (swap_subscript(expr, true, work))
				swap_editors(linitial(arguments(expr)), plan, work);
			break;
		case T_Var:
			swap_editors_below((Var *) expr, plan, work);
			break;
		case T_RelabelType:
			swap_editors((Node *) ((RelabelType *) expr)->arg, plan, work);
			break;
		case T_CoerceToDomain:
			swap_editors((Node *) ((CoerceToDomain *) expr)->arg, plan, work);
			break;
		case T_CoalesceExpr:
			foreach(lc, ((CoalesceExpr *) expr)->args)
				swap_editors(lfirst(lc), plan, work);
			break;
		case T_CaseExpr:
			foreach(lc, ((CaseExpr *) expr)->args)
				swap_editors((Node *) lfirst_node(CaseWhen, lc)->result, plan, work);
			swap_editors((Node *) ((CaseExpr *) expr)->defresult, plan, work);
			break;
		default:
			break;
	}
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

/*
 * Does the query have to do with a table of ours?  If so, return the access
 * method's handler.
 */
static Oid
find_our_table(PlannedStmt *stmt)
{
	ListCell   *lc;
	Oid			handler = InvalidOid;

	foreach(lc, stmt->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		Relation	rel;

		if (rte->rtekind != RTE_RELATION ||
			(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
			continue;
		/* whoever planned the query has locked it */
		rel = RelationIdGetRelation(rte->relid);
		if (rel == NULL)
			continue;
		if (sliced_is_ours(rel))
			handler = rel->rd_amhandler;
		RelationClose(rel);
		if (OidIsValid(handler))
			break;
	}
	return handler;
}

/* DROP EXTENSION and REVOKE must invalidate the plan. */
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
	Work		work = {.stmt = stmt};
	SlicedPlanVisitor visitor = {.arg = &work};
	Oid			handler;

	/* no table of ours has been opened by this process yet */
	if (sliced_routine == NULL)
		return;
	handler = find_our_table(stmt);
	if (!OidIsValid(handler))
		return;
	find_functions(handler);

	/* first those that make promises: some of them also have a variant that reads */
	visitor.visit = ignore_expression;
	visitor.modify = visit_modify;
	sliced_plan_walk(stmt, &visitor);
	visitor.visit = visit_expression;
	visitor.modify = NULL;
	sliced_plan_walk(stmt, &visitor);
	depend_on_functions(&work);
}

/*
 * The first plan of a session is made without our hook if nobody opens a table of
 * ours, and with it loads this library, before the planner does: the query names a
 * partitioned table, or one of heap that has children, or a function that is
 * inlined.  Such a plan may be kept for the whole session, so the functions are
 * exchanged where it is kept.  That takes a copy, in the plan's place only when it
 * is complete: the walk may end in an error.
 */
void
sliced_swap_late(PlannedStmt *stmt)
{
	PlannedStmt *copy;
	MemoryContext old;

	if (likely(stmt->jitFlags & PLAN_IS_SWAPPED))
		return;
	if (sliced_routine != NULL && OidIsValid(find_our_table(stmt)))
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(stmt));
		copy = copyObject(stmt);
		swap_functions(copy);
		*stmt = *copy;
		MemoryContextSwitchTo(old);
	}
	stmt->jitFlags |= PLAN_IS_SWAPPED;
}

static PlannedStmt *
plan_query(Query *parse, const char *query_string, int cursor_options,
		   ParamListInfo bound_params)
{
	PlannedStmt *stmt = next_planner != NULL ?
		next_planner(parse, query_string, cursor_options, bound_params) :
		standard_planner(parse, query_string, cursor_options, bound_params);

	swap_functions(stmt);
	stmt->jitFlags |= PLAN_IS_SWAPPED;
	return stmt;
}

void
sliced_swap_init(void)
{
	next_planner = planner_hook;
	planner_hook = plan_query;
	CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum) 0);
}
