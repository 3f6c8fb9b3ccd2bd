/*
 * chars.h
 *	  Finds characters of UTF-8 in a value without reading what is before them.
 *
 * Every slice knows how many characters it has, so whole slices are passed over
 * by a look at their first row; and a value that begins with characters of one
 * byte each, as most do, says how far.
 */
#ifndef SLICED_STORE_CHARS_H
#define SLICED_STORE_CHARS_H

#include "postgres.h"

#include "access/detoast.h"

/*
 * Where does character number 'nchar' of the value begin, counted from 0?  The
 * length of the value in bytes if it has fewer; '*have', if not NULL, is then
 * how many it has.  False if the value is not stored as slices, or damaged.
 */
extern bool sliced_chars_seek(const struct varatt_external *value, uint32 nchar,
							  uint32 *offset, uint32 *have);

#endif
