/*
 * jsonpath.h
 *	  Reads the bytes that core looks at when it follows a path through a document.
 */
#ifndef SLICED_TOASTER_JSONB_JSONPATH_H
#define SLICED_TOASTER_JSONB_JSONPATH_H

#include "postgres.h"

#include "toaster/jsonb/tree.h"
#include "utils/jsonpath.h"

/* The destination of a path. */
typedef enum SlicedDestination
{
	SLICED_NOWHERE,				/* there is no such key, or element */
	SLICED_PLACE,				/* to one place */
	SLICED_BEYOND				/* to a place from where it continues in another way */
} SlicedDestination;

/*
 * Follow a path from the root, 'item', while it names single keys and elements.
 * Reads the bytes on the way, and those that the path leads to.
 */
extern SlicedDestination sliced_jsonpath_follow(SlicedDocument *doc, JsonPathItem *item,
												SlicedPlace *place);

/* Read all bytes that core will look at. */
extern void sliced_jsonpath_need(SlicedDocument *doc, JsonPath *path);

#endif
