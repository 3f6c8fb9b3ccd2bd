/*
 * at_work.c
 *	  Adds the toaster that was at work to the context of errors.
 */
#include "postgres.h"

#include "toaster/at_work.h"
#include "toaster/registry.h"

/* Must not look into the catalogs: the error may come from there. */
static void
add_context(void *arg)
{
	const SlicedAtWork *work = arg;
	const char *name = sliced_toaster_name(work->toaster);

	if (work->toaster == &sliced_plain_toaster)
		return;
	if (work->rel == NULL)
		errcontext("toaster \"%s\"", name);
	else
		errcontext("toaster \"%s\" of column \"%s\" of table \"%s\"", name,
				   NameStr(TupleDescAttr(RelationGetDescr(work->rel), work->attno - 1)->attname),
				   RelationGetRelationName(work->rel));
}

void
sliced_at_work_begin(SlicedAtWork *work, const SlicedToaster *toaster, Relation rel, int attno)
{
	work->toaster = toaster;
	work->rel = rel;
	work->attno = attno;
	work->callback.callback = add_context;
	work->callback.arg = work;
	work->callback.previous = error_context_stack;
	error_context_stack = &work->callback;
}

void
sliced_at_work_end(SlicedAtWork *work)
{
	error_context_stack = work->callback.previous;
}
