/*
 * options.c
 *	  Another storage parameter for a relation, for the time of one call of heapam.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/options.h"
#include "utils/memutils.h"

StdRdOptions *
sliced_options_exchange(SlicedOptions *options, Relation rel)
{
	StdRdOptions *ours = MemoryContextAllocZero(CacheMemoryContext, sizeof(StdRdOptions));

	if (rel->rd_options != NULL)
		memcpy(ours, rel->rd_options, sizeof(StdRdOptions));
	else
	{
		SET_VARSIZE(ours, sizeof(StdRdOptions));
		ours->fillfactor = HEAP_DEFAULT_FILLFACTOR;
		ours->parallel_workers = -1;
	}

	options->rel = rel;
	options->saved = rel->rd_options;
	options->ours = (bytea *) ours;
	rel->rd_options = options->ours;
	return ours;
}

/*
 * If the relcache has rebuilt the entry meanwhile, it has freed the options it
 * found there, which were ours, and nobody owns the ones that we saved.
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
