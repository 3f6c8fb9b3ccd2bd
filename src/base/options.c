/*
 * options.c
 *	  Changes a storage parameter of a relation for the time of one call of heapam.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/options.h"
#include "utils/memutils.h"

void
sliced_options_copy(StdRdOptions *to, const bytea *from)
{
	if (from != NULL)
		memcpy(to, from, sizeof(StdRdOptions));
	else
	{
		memset(to, 0, sizeof(StdRdOptions));
		SET_VARSIZE(to, sizeof(StdRdOptions));
		to->fillfactor = HEAP_DEFAULT_FILLFACTOR;
		to->parallel_workers = -1;
	}
}

StdRdOptions *
sliced_options_exchange(SlicedOptions *options, Relation rel)
{
	StdRdOptions *ours = MemoryContextAlloc(CacheMemoryContext, sizeof(StdRdOptions));

	sliced_options_copy(ours, rel->rd_options);
	options->rel = rel;
	options->saved = rel->rd_options;
	options->ours = (bytea *) ours;
	rel->rd_options = options->ours;
	return ours;
}

/*
 * If the relcache has rebuilt the entry meanwhile, it has freed the options that it
 * found there, which were ours.  Then nothing else refers to the ones that we saved.
 */
void
sliced_options_restore(SlicedOptions *options)
{
	if (options->rel->rd_options == options->ours)
	{
		options->rel->rd_options = options->saved;
		pfree(options->ours);
	}
	else if (options->saved != NULL)
		pfree(options->saved);
}
