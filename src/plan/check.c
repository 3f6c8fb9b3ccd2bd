/*
 * check.c
 *	  Calls functions of toasters together with those whose place they take.
 *
 * While sliced.check_toasters is on, core's hook for the entry of functions puts
 * call_checked() in the place of a toaster's function.  That calls the replaced ones
 * as well, with whole values, and compares the bytes of the results.  Plans stay as
 * they are, and so do the expressions that functions see around their calls.
 *
 * A promise is read as a whole for it, as any reader would.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/settings.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"
#include "plan/plan.h"
#include "plan/swap_table.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

static needs_fmgr_hook_type next_needs;
static fmgr_hook_type next_hook;

/* A place in an expression that calls a toaster's function. */
typedef struct Check
{
	FmgrInfo	ours;			/* what core would call */
	NameData	toaster;
	int			ntheirs;
	FmgrInfo	theirs[FLEXIBLE_ARRAY_MEMBER];
} Check;

/* A type's values: how they are passed, and how long they are. */
typedef struct Shape
{
	int16		len;
	bool		by_value;
} Shape;

static Shape
shape_of(Oid type)
{
	Shape		shape;

	get_typlenbyval(type, &shape.len, &shape.by_value);
	return shape;
}

/*
 * Set the arguments of 'whole' to those of 'fcinfo', with whole values in place of
 * pointers and parts.  They are copies: functions may change an expanded array.
 */
static void
fetch_arguments(FunctionCallInfo whole, FunctionCallInfo fcinfo)
{
	for (int i = 0; i < fcinfo->nargs; i++)
	{
		whole->args[i] = fcinfo->args[i];
		if (!fcinfo->args[i].isnull &&
			shape_of(get_fn_expr_argtype(fcinfo->flinfo, i)).len == -1)
			whole->args[i].value = PointerGetDatum(PG_DETOAST_DATUM(fcinfo->args[i].value));
	}
}

/* Where two results of this shape differ, for an error's detail; NULL: not known. */
static const char *
difference(Shape shape, NullableDatum ours, NullableDatum theirs)
{
	struct varlena *a;
	struct varlena *b;
	Size		same = 0;

	if (ours.isnull || theirs.isnull)
		return psprintf("The first is %s, the second %s.", ours.isnull ? "null" : "not null",
						theirs.isnull ? "null" : "not null");
	if (shape.len != -1)
		return NULL;
	a = PG_DETOAST_DATUM_PACKED(ours.value);
	b = PG_DETOAST_DATUM_PACKED(theirs.value);
	while (same < VARSIZE_ANY_EXHDR(a) && same < VARSIZE_ANY_EXHDR(b) &&
		   VARDATA_ANY(a)[same] == VARDATA_ANY(b)[same])
		same++;
	return psprintf("They have %zu and %zu bytes, and are the same up to byte %zu.",
					(Size) VARSIZE_ANY_EXHDR(a), (Size) VARSIZE_ANY_EXHDR(b), same);
}

static void
check_result(const Check *check, const FmgrInfo *replaced, Shape shape, NullableDatum ours,
			 NullableDatum theirs)
{
	const char *detail;

	if (ours.isnull == theirs.isnull &&
		(ours.isnull || datum_image_eq(ours.value, theirs.value, shape.by_value, shape.len)))
		return;
	detail = difference(shape, ours, theirs);
	ereport(ERROR,
			errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			errmsg("results of functions %s, of toaster \"%s\", and %s differ",
				   format_procedure(check->ours.fn_oid), NameStr(check->toaster),
				   format_procedure(replaced->fn_oid)),
			detail == NULL ? 0 : errdetail_internal("%s", detail));
}

/*
 * Theirs are called first: the toaster's function may change its arguments, or forget
 * a promise that it was given.
 */
static Datum
call_checked(PG_FUNCTION_ARGS)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	Check	   *check = flinfo->fn_extra;
	Shape		shape = shape_of(get_fn_expr_rettype(flinfo));
	MemoryContext temporary = AllocSetContextCreate(CurrentMemoryContext, "sliced check",
													ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(temporary);
	NullableDatum *theirs = palloc(check->ntheirs * sizeof(NullableDatum));
	NullableDatum ours;
	LOCAL_FCINFO(whole, FUNC_MAX_ARGS);

	InitFunctionCallInfoData(*whole, NULL, fcinfo->nargs, fcinfo->fncollation, NULL, NULL);
	fetch_arguments(whole, fcinfo);
	for (int i = 0; i < check->ntheirs; i++)
	{
		whole->flinfo = &check->theirs[i];
		whole->isnull = false;
		theirs[i].value = FunctionCallInvoke(whole);
		theirs[i].isnull = whole->isnull;
	}
	MemoryContextSwitchTo(old);

	/* after an error, core puts its own FmgrInfo back */
	fcinfo->flinfo = &check->ours;
	ours.value = FunctionCallInvoke(fcinfo);
	ours.isnull = fcinfo->isnull;
	fcinfo->flinfo = flinfo;

	MemoryContextSwitchTo(temporary);
	for (int i = 0; i < check->ntheirs; i++)
		check_result(check, &check->theirs[i], shape, ours, theirs[i]);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(temporary);
	return ours.value;
}

/* What the function takes the place of, if that has to be checked; or NULL. */
static const SlicedReplaced *
to_check(Oid function)
{
	return sliced_check_toasters ? sliced_swap_table_replaced(function) : NULL;
}

/* Make 'flinfo' call call_checked() from now on. */
static void
begin_check(FmgrInfo *flinfo, const SlicedReplaced *replaced)
{
	int			ntheirs = list_length(replaced->theirs);
	Check	   *check = MemoryContextAllocZero(flinfo->fn_mcxt,
											   offsetof(Check, theirs) + ntheirs * sizeof(FmgrInfo));
	List	   *theirs = list_copy(replaced->theirs);

	check->ours = *flinfo;
	check->toaster = replaced->toaster;
	/* this may read the catalogs, and what was replaced may be forgotten */
	for (int i = 0; i < ntheirs; i++)
	{
		FmgrInfo   *info = &check->theirs[check->ntheirs];

		if (!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(list_nth_oid(theirs, i))))
			continue;
		fmgr_info_cxt(list_nth_oid(theirs, i), info, flinfo->fn_mcxt);
		fmgr_info_set_expr(flinfo->fn_expr, info);
		/* one of the two may have been replaced since they were found to fit */
		if (info->fn_nargs == flinfo->fn_nargs && info->fn_strict == flinfo->fn_strict &&
			info->fn_retset == flinfo->fn_retset)
			check->ntheirs++;
	}
	flinfo->fn_extra = check;
	flinfo->fn_addr = call_checked;
}

static bool
needs_hook(Oid function)
{
	return (next_needs != NULL && next_needs(function)) || to_check(function) != NULL;
}

static void
at_entry_or_exit(FmgrHookEventType event, FmgrInfo *flinfo, Datum *private)
{
	if (event == FHET_START && flinfo->fn_addr != call_checked && flinfo->fn_expr != NULL)
	{
		const SlicedReplaced *replaced = to_check(flinfo->fn_oid);

		if (replaced != NULL)
			begin_check(flinfo, replaced);
	}
	if (next_hook != NULL)
		next_hook(event, flinfo, private);
}

void
sliced_check_init(void)
{
	next_needs = needs_fmgr_hook;
	needs_fmgr_hook = needs_hook;
	next_hook = fmgr_hook;
	fmgr_hook = at_entry_or_exit;
}
