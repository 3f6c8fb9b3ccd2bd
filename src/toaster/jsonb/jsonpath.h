/*
 * jsonpath.h
 *	  What core is going to look at when it follows a path through a document.
 */
#ifndef SLICED_TOASTER_JSONB_JSONPATH_H
#define SLICED_TOASTER_JSONB_JSONPATH_H

#include "postgres.h"

#include "toaster/jsonb/tree.h"
#include "utils/jsonpath.h"

/* Where a path leads. */
typedef enum SlicedDestination
{
	SLICED_NOWHERE,				/* there is no such key, or element */
	SLICED_PLACE,				/* to one place */
	SLICED_BEYOND				/* to a place from which it goes on otherwise */
} SlicedDestination;

/*
 * Follow a path from the root, 'item', as far as it goes straight ahead.  Read
 * what is on the way, and what the path leads to.
 */
extern SlicedDestination sliced_jsonpath_follow(SlicedDocument *doc, JsonPathItem *item,
												SlicedPlace *place);

/* Read all that core will look at. */
extern void sliced_jsonpath_need(SlicedDocument *doc, JsonPath *path);

#endif
