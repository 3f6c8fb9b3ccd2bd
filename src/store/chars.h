/*
 * chars.h
 *	  Finds characters of UTF-8 in a value without reading the bytes before them.
 *
 * Every slice knows how many characters it has, so a reader passes over it after a
 * look at its first row.  The head says how many bytes at the beginning of the value
 * are characters of one byte each.  In most values all are.
 */
#ifndef SLICED_STORE_CHARS_H
#define SLICED_STORE_CHARS_H

#include "postgres.h"

#include "access/detoast.h"

/*
 * Find where character number 'nchar' of the value begins, counted from 0.  If the
 * value has fewer, '*offset' is its length in bytes, and '*have', unless NULL, the
 * number of its characters.  Returns false if the value is not stored as slices, or
 * damaged.
 */
extern bool sliced_chars_seek(const struct varatt_external *value, uint32 nchar,
							  uint32 *offset, uint32 *have);

#endif
