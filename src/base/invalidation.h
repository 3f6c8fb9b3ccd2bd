/*
 * invalidation.h
 *	  Being told that relations have changed.
 */
#ifndef SLICED_BASE_INVALIDATION_H
#define SLICED_BASE_INVALIDATION_H

#include "postgres.h"

/* Relation 'relid' has changed; InvalidOid: any of them may have. */
typedef void (*SlicedRelationChanged) (Datum arg, Oid relid);

/*
 * Have this called from now on, as CacheRegisterRelcacheCallback() would.  It must
 * not fail, nor look into catalogs.
 */
extern void sliced_at_relation_change(SlicedRelationChanged changed);

#endif
