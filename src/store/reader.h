/*
 * reader.h
 *	  Reads a value, or a range of it, slice by slice.
 */
#ifndef SLICED_STORE_READER_H
#define SLICED_STORE_READER_H

#include "postgres.h"

#include "store/toast_scan.h"

/*
 * Read raw bytes [offset, offset + len) of a value to 'dest'.  Returns false, having
 * read nothing, if the value is in core's format; raises ERRCODE_DATA_CORRUPTED if it
 * is damaged or missing.  If it is missing and other transactions write to the toast
 * relation, waits for them first.
 */
extern bool sliced_value_read(Relation toastrel, Oid valueid, uint32 offset,
							  uint32 len, char *dest);

/* The same without errors, and without waiting: returns the damage. */
extern SlicedDamage sliced_value_try_read(Relation toastrel, SlicedVisibility visibility, Oid valueid,
										  uint32 offset, uint32 len, char *dest);

/*
 * Read all of a value in core's format, as it is stored.  Returns false unless all of
 * its 'size' bytes are there.
 */
extern bool sliced_chunks_read(Relation toastrel, Oid valueid, uint32 size, char *dest);

/*
 * True if the value may be gone before the transaction ends: a subtransaction has
 * written it that has not ended, or was rolled back.
 */
extern bool sliced_value_may_go(Relation toastrel, Oid valueid);

/*
 * Returns the compressed bytes of a value of 'size' bytes, if it is one slice that
 * 'codec' has compressed; NULL if not, or if anything is wrong, which reading will
 * report.  The bytes are palloc'd, behind 'room' bytes for the caller.
 */
extern char *sliced_value_compressed(Relation toastrel, Oid valueid, uint32 size, int codec,
									 uint32 room, uint32 *storedlen);

/*
 * Read bytes [start, start + len) of an object.  Returns false unless all of them are
 * there and sound.
 */
extern bool sliced_object_read(Relation toastrel, Oid objid, uint32 start, uint32 len,
							   char *dest);

/* True if the last bytes of the value are there, and hence all. */
extern bool sliced_value_is_complete(Relation toastrel, Oid valueid, uint32 size);

#endif
