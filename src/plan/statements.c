/*
 * statements.c
 *	  Finds the statements that read or change parts of values.
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "plan/statements.h"
#include "plan/swap_table.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

typedef struct Walk
{
	List	   *queries;		/* the innermost first */
	List	   *uses;
} Walk;

static void
add_use(Walk *walk, Oid relid, int attno, bool changes)
{
	ListCell   *lc;
	SlicedUse  *use;

	foreach(lc, walk->uses)
	{
		use = lfirst(lc);
		if (use->relid == relid && use->attno == attno && use->changes == changes)
			return;
	}
	use = palloc(sizeof(SlicedUse));
	*use = (SlicedUse) {relid, attno, changes};
	walk->uses = lappend(walk->uses, use);
}

/* The table that the column belongs to; NULL if it belongs to none. */
static RangeTblEntry *
table_of(const Walk *walk, const Var *var)
{
	Query	   *query;
	RangeTblEntry *rte;

	if ((int) var->varlevelsup >= list_length(walk->queries))
		return NULL;
	query = list_nth(walk->queries, var->varlevelsup);
	if (var->varattno <= 0 || var->varno > list_length(query->rtable))
		return NULL;
	rte = rt_fetch(var->varno, query->rtable);
	return rte->rtekind == RTE_RELATION &&
		(RELKIND_HAS_TABLE_AM(rte->relkind) || rte->relkind == RELKIND_PARTITIONED_TABLE) ? rte : NULL;
}

/* The expression as a column of a table, or NULL. */
static Var *
as_column(const Walk *walk, Node *expr)
{
	expr = strip_implicit_coercions(expr);
	return expr != NULL && IsA(expr, Var) && table_of(walk, (Var *) expr) != NULL ? (Var *) expr : NULL;
}

/* The function that an expression calls; '*args' is set to its arguments. */
static Oid
called_function(Node *expr, List **args)
{
	if (IsA(expr, FuncExpr))
	{
		*args = ((FuncExpr *) expr)->args;
		return ((FuncExpr *) expr)->funcid;
	}
	if (IsA(expr, OpExpr))
	{
		*args = ((OpExpr *) expr)->args;
		return get_opcode(((OpExpr *) expr)->opno);
	}
	return InvalidOid;
}

/* True if the function is exchanged for values of the column. */
static bool
is_exchanged(Oid function, const Var *column, SlicedSwapKind kind)
{
	sliced_swap_table_add(getBaseType(column->vartype));
	return OidIsValid(sliced_swap_table_find(function, kind));
}

static void
look_for_read(Walk *walk, Node *expr)
{
	List	   *args = NIL;
	Oid			function = called_function(expr, &args);
	Var		   *column;
	ListCell   *lc;

	if (IsA(expr, SubscriptingRef) && ((SubscriptingRef *) expr)->refassgnexpr == NULL &&
		(column = as_column(walk, (Node *) ((SubscriptingRef *) expr)->refexpr)) != NULL)
		add_use(walk, table_of(walk, column)->relid, column->varattno, false);
	foreach(lc, args)
		if ((column = as_column(walk, lfirst(lc))) != NULL &&
			is_exchanged(function, column, SLICED_SWAP_READ))
			add_use(walk, table_of(walk, column)->relid, column->varattno, false);
}

/*
 * Note a use if the first argument of 'expr', at any depth, is a column that a
 * subscript or an exchanged function reads or changes.
 */
static void
look_for_change(Walk *walk, Node *expr)
{
	expr = strip_implicit_coercions(expr);
	while (expr != NULL)
	{
		List	   *args = NIL;
		Oid			function;
		Var		   *column;

		if (IsA(expr, SubscriptingRef))
		{
			if ((column = as_column(walk, (Node *) ((SubscriptingRef *) expr)->refexpr)) != NULL)
				add_use(walk, table_of(walk, column)->relid, column->varattno,
						((SubscriptingRef *) expr)->refassgnexpr != NULL);
			return;
		}
		function = called_function(expr, &args);
		expr = NULL;
		if (args != NIL && (column = as_column(walk, linitial(args))) != NULL)
		{
			if (is_exchanged(function, column, SLICED_SWAP_EDIT))
				add_use(walk, table_of(walk, column)->relid, column->varattno, true);
		}
		else if (args != NIL)
			expr = strip_implicit_coercions(linitial(args));
	}
}

static void
look_for_changes(Walk *walk, List *target_list)
{
	ListCell   *lc;

	foreach(lc, target_list)
		look_for_change(walk, (Node *) lfirst_node(TargetEntry, lc)->expr);
}

static bool
look_at(Node *node, void *context)
{
	Walk	   *walk = context;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		ListCell   *lc;

		walk->queries = lcons(query, walk->queries);
		if (query->commandType == CMD_UPDATE)
			look_for_changes(walk, query->targetList);
		if (query->onConflict != NULL)
			look_for_changes(walk, query->onConflict->onConflictSet);
		foreach(lc, query->mergeActionList)
			if (lfirst_node(MergeAction, lc)->commandType == CMD_UPDATE)
				look_for_changes(walk, lfirst_node(MergeAction, lc)->targetList);
		query_tree_walker(query, look_at, walk, 0);
		walk->queries = list_delete_first(walk->queries);
		return false;
	}
	look_for_read(walk, node);
	return expression_tree_walker(node, look_at, walk);
}

/*
 * Put NULL in place of every string constant.  Analyzing one calls its type's input
 * function, and that of an array or a row calls what its author has written: CHECK
 * expressions of domains.
 */
static bool
forget_strings(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, A_Const) && IsA(&((A_Const *) node)->val.node, String))
		((A_Const *) node)->isnull = true;
	/* core's walker passes over this */
	if (IsA(node, CommonTableExpr) && ((CommonTableExpr *) node)->cycle_clause != NULL)
	{
		(void) forget_strings(((CommonTableExpr *) node)->cycle_clause->cycle_mark_value, context);
		(void) forget_strings(((CommonTableExpr *) node)->cycle_clause->cycle_mark_default, context);
	}
	return raw_expression_tree_walker(node, forget_strings, context);
}

static object_access_hook_type former_hook;

/*
 * No function is executed while a statement is analyzed, except by a constant that
 * forget_strings() has not found: CHECK expressions of domains pass here.
 */
static void
refuse_to_execute(ObjectAccessType access, Oid class, Oid object, int column, void *arg)
{
	if (access == OAT_FUNCTION_EXECUTE)
		ereport(ERROR,
				errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("a statement that is analyzed may not call %s", format_procedure(object)));
	if (former_hook != NULL)
		former_hook(access, class, object, column, arg);
}

static Query *
analyze_only(RawStmt *statement, const char *text)
{
	Oid		   *types = NULL;
	int			ntypes = 0;
	Query	   *result;

	(void) forget_strings(statement->stmt, NULL);
	former_hook = object_access_hook;
	object_access_hook = refuse_to_execute;
	PG_TRY();
	{
		result = parse_analyze_varparams(statement, text, &types, &ntypes, NULL);
	}
	PG_FINALLY();
	{
		object_access_hook = former_hook;
	}
	PG_END_TRY();
	return result;
}

List *
sliced_statement_uses(const char *text)
{
	Walk		walk = {NIL, NIL};
	ListCell   *lc;

	foreach(lc, raw_parser(text, RAW_PARSE_DEFAULT))
	{
		RawStmt    *statement = lfirst_node(RawStmt, lc);

		/*
		 * other kinds need more than the parser to analyze, and use no parts of
		 * values
		 */
		if (IsA(statement->stmt, SelectStmt) || IsA(statement->stmt, UpdateStmt) ||
			IsA(statement->stmt, InsertStmt) || IsA(statement->stmt, DeleteStmt) ||
			IsA(statement->stmt, MergeStmt))
			(void) look_at((Node *) analyze_only(statement, text), &walk);
	}
	return walk.uses;
}
