/*
 * invalidation.c
 *	  Callbacks for changes of relations.
 *
 * Core has ten places for callbacks of the relation cache.  A process ends when it
 * asks for one more.  Core and its output plugin take four of them in a process that
 * decodes, and Citus five.  So all of ours share one.
 */
#include "postgres.h"

#include "base/invalidation.h"
#include "utils/inval.h"

static SlicedRelationChanged callbacks[4];
static int	ncallbacks = 0;

static void
relation_changed(Datum arg, Oid relid)
{
	for (int i = 0; i < ncallbacks; i++)
		callbacks[i] (arg, relid);
}

void
sliced_at_relation_change(SlicedRelationChanged changed)
{
	if (ncallbacks == lengthof(callbacks))
		elog(ERROR, "too many of us want to know of changed relations");
	if (ncallbacks == 0)
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	callbacks[ncallbacks++] = changed;
}
