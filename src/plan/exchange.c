/*
 * exchange.c
 *	  Decides which of the exchanges that a toaster declares work.
 *
 * The table of exchanges takes those that do, and sliced.toaster_functions shows all,
 * with the reason why one does not.
 *
 * The planner has read the attributes of the function that is exchanged, and core's
 * executor reads those of the one that takes its place.  So they must fit.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/compat.h"
#include "catalog/namespace.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "plan/exchange.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/* PUBLIC must have the right, because the plan may be kept and run for other users. */
static bool
all_may_execute(Oid function)
{
	return object_aclcheck(ProcedureRelationId, function, ACL_ID_PUBLIC, ACL_EXECUTE) == ACLCHECK_OK;
}

/* More is worse. */
static int
volatility(Form_pg_proc proc)
{
	return proc->provolatile == PROVOLATILE_IMMUTABLE ? 0 :
		proc->provolatile == PROVOLATILE_STABLE ? 1 : 2;
}

static int
danger_in_workers(Form_pg_proc proc)
{
	return proc->proparallel == PROPARALLEL_SAFE ? 0 :
		proc->proparallel == PROPARALLEL_RESTRICTED ? 1 : 2;
}

static const char *
name_of(Form_pg_proc proc)
{
	return format_procedure(proc->oid);
}

static const char *
name_of_namespace(Oid namespace)
{
	const char *name = get_namespace_name(namespace);

	return name == NULL ? psprintf("%u", namespace) : quote_identifier(name);
}

/* Why no function may take the place of this one; NULL if one may. */
static const char *
problem_of_theirs(const SlicedSwap *swap, Form_pg_proc theirs)
{
	if (theirs->prokind != PROKIND_FUNCTION)
		return psprintf("%s is an aggregate, a window function or a procedure", name_of(theirs));
	/* any user may have made a function of that name in another language */
	if (!OidIsValid(swap->core) && theirs->prolang != ClanguageId)
		return psprintf("%s is not written in C", name_of(theirs));
	if (!all_may_execute(theirs->oid))
		return psprintf("PUBLIC may not execute %s", name_of(theirs));
	return NULL;
}

/*
 * Why 'ours' cannot take the place of 'theirs'; NULL if it can.  Only a superuser can
 * have made a function in C.
 */
static const char *
problem_of_ours(const SlicedSwap *swap, Form_pg_proc theirs, Form_pg_proc ours)
{
	if (ours->prokind != PROKIND_FUNCTION)
		return psprintf("%s is an aggregate, a window function or a procedure", name_of(ours));
	if (ours->prolang != ClanguageId)
		return psprintf("%s is not written in C", name_of(ours));
	if (ours->prorettype != theirs->prorettype)
		return psprintf("%s returns %s, and %s returns %s",
						name_of(ours), format_type_be(ours->prorettype),
						name_of(theirs), format_type_be(theirs->prorettype));
	if (ours->proretset != theirs->proretset)
		return psprintf("%s returns a set, and %s does not", name_of(ours->proretset ? ours : theirs),
						name_of(ours->proretset ? theirs : ours));
	if (ours->proisstrict != theirs->proisstrict)
		return psprintf("%s is STRICT, and %s is not", name_of(ours->proisstrict ? ours : theirs),
						name_of(ours->proisstrict ? theirs : ours));
	if (volatility(ours) > volatility(theirs))
		return psprintf("%s is %s, and %s is %s", name_of(ours), volatility(ours) == 1 ? "STABLE" : "VOLATILE",
						name_of(theirs), volatility(theirs) == 0 ? "IMMUTABLE" : "STABLE");
	/* functions that change a value run only in UPDATE and the like, which have no workers */
	if (swap->kind != SLICED_SWAP_EDIT && danger_in_workers(ours) > danger_in_workers(theirs))
		return psprintf("%s is PARALLEL %s, and %s is PARALLEL %s",
						name_of(ours), danger_in_workers(ours) == 1 ? "RESTRICTED" : "UNSAFE",
						name_of(theirs), danger_in_workers(theirs) == 0 ? "SAFE" : "RESTRICTED");
	if (!all_may_execute(ours->oid))
		return psprintf("PUBLIC may not execute %s", name_of(ours));
	return NULL;
}

/* Why the toaster's other exchanges leave no room for this one; NULL if they do. */
static const char *
problem_of_others(const List *exchanges, const SlicedExchange *exchange)
{
	ListCell   *lc;

	foreach(lc, exchanges)
	{
		const SlicedExchange *other = lfirst(lc);

		if (other->theirs == exchange->theirs && other->swap->kind == exchange->swap->kind &&
			other->problem == NULL)
			return psprintf("%s takes the place of %s already", format_procedure(other->ours),
							format_procedure(other->theirs));
	}
	return NULL;
}

/* The function that a toaster has for 'theirs' has the same arguments. */
static void
add_exchange(List **exchanges, const SlicedSwap *swap, Oid namespace, Form_pg_proc theirs)
{
	SlicedExchange *exchange = palloc0(sizeof(SlicedExchange));
	HeapTuple	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(swap->ours),
									   PointerGetDatum(&theirs->proargtypes), ObjectIdGetDatum(namespace));

	exchange->swap = swap;
	exchange->theirs = theirs->oid;
	exchange->comparable = !theirs->proretset && theirs->provolatile != PROVOLATILE_VOLATILE;
	exchange->problem = problem_of_theirs(swap, theirs);
	if (exchange->problem == NULL)
		exchange->problem = problem_of_others(*exchanges, exchange);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc ours = (Form_pg_proc) GETSTRUCT(tuple);

		exchange->ours = ours->oid;
		if (exchange->problem == NULL)
			exchange->problem = problem_of_ours(swap, theirs, ours);
		ReleaseSysCache(tuple);
	}
	else if (exchange->problem == NULL)
		exchange->problem = psprintf("schema %s has no function %s",
									 name_of_namespace(namespace),
									 funcname_signature_string(swap->ours, theirs->pronargs, NIL,
															   theirs->proargtypes.values));
	*exchanges = lappend(*exchanges, exchange);
}

static void
add_missing(List **exchanges, const SlicedSwap *swap, const char *problem)
{
	SlicedExchange *exchange = palloc0(sizeof(SlicedExchange));

	exchange->swap = swap;
	exchange->problem = problem;
	*exchanges = lappend(*exchanges, exchange);
}

static void
add_exchange_of_core(List **exchanges, const SlicedSwap *swap, Oid namespace)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(swap->core));

	if (!HeapTupleIsValid(tuple))
	{
		add_missing(exchanges, swap, psprintf("there is no function with OID %u", swap->core));
		return;
	}
	add_exchange(exchanges, swap, namespace, (Form_pg_proc) GETSTRUCT(tuple));
	ReleaseSysCache(tuple);
}

/* Add all functions of the name in the type's schema: there may be several. */
static void
add_exchanges_of_name(List **exchanges, const SlicedSwap *swap, Oid namespace, Oid type_namespace)
{
	CatCList   *list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(swap->theirs));
	int			before = list_length(*exchanges);

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(&list->members[i]->tuple);

		if (proc->pronamespace == type_namespace)
			add_exchange(exchanges, swap, namespace, proc);
	}
	ReleaseSysCacheList(list);
	if (list_length(*exchanges) == before)
		add_missing(exchanges, swap, psprintf("schema %s has no function %s",
											  name_of_namespace(type_namespace),
											  quote_identifier(swap->theirs)));
}

static Oid
namespace_of_type(Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_type) GETSTRUCT(tuple))->typnamespace;
		ReleaseSysCache(tuple);
	}
	return result;
}

List *
sliced_exchanges(const SlicedToaster *toaster, Oid type, Oid namespace)
{
	Oid			type_namespace = namespace_of_type(type);
	List	   *result = NIL;

	for (int i = 0; i < toaster->nswaps; i++)
	{
		const SlicedSwap *swap = &toaster->swaps[i];

		if (OidIsValid(swap->core))
			add_exchange_of_core(&result, swap, namespace);
		else
			add_exchanges_of_name(&result, swap, namespace, type_namespace);
	}
	return result;
}

Oid
sliced_exchange_function(Oid namespace, const char *name, int nargs, const Oid *argtypes)
{
	HeapTuple	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
									   PointerGetDatum(buildoidvector(argtypes, nargs)),
									   ObjectIdGetDatum(namespace));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		/* only a superuser can have made a function in C */
		if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
			result = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
		ReleaseSysCache(tuple);
	}
	return OidIsValid(result) && all_may_execute(result) ? result : InvalidOid;
}
