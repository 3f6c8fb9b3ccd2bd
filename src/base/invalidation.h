/*
 * invalidation.h
 *	  Callbacks for changes of relations.
 */
#ifndef SLICED_BASE_INVALIDATION_H
#define SLICED_BASE_INVALIDATION_H

#include "postgres.h"

/* Relation 'relid' has changed; with InvalidOid, any relation may have. */
typedef void (*SlicedRelationChanged) (Datum arg, Oid relid);

/*
 * Call 'changed' from now on, as CacheRegisterRelcacheCallback() would.  It must not
 * fail, nor look into catalogs.
 */
extern void sliced_at_relation_change(SlicedRelationChanged changed);

#endif
