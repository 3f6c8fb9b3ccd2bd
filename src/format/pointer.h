/*
 * pointer.h
 *	  Toast pointers, and the mark of rows that contain ours.
 *
 * A value of ours is an ordinary on-disk toast pointer that claims not to be
 * compressed: core then asks for slices of it by raw offset.  Core ignores the
 * compression method of such pointers, so these two bits say that the value is ours.
 *
 *		va_rawsize		raw bytes + VARHDRSZ
 *		va_extinfo		raw bytes (30 bits), 3 (2 bits)
 *		va_valueid		the value id
 *		va_toastrelid	the toast relation
 *
 * On disk a row with such pointers has SLICED_MARKER set and HEAP_HASEXTERNAL clear,
 * so that heapam does not show it to core's toaster.  In a slot, or anywhere else
 * above the access method, it is the other way round.  A row with HEAP_HASEXTERNAL
 * and no marker has core's pointers only, and core looks after them.  A marked row
 * may have core's pointers too, and we look after all of them when we replace or
 * delete it.  A row of core's that is marked instead of flagged is the same row
 * (admin/adopt.c).
 */
#ifndef SLICED_FORMAT_POINTER_H
#define SLICED_FORMAT_POINTER_H

#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "port/atomics.h"

/* An unused bit of t_infomask2 in every supported version. */
#define SLICED_MARKER			0x0800

#define SLICED_POINTER_METHOD	3

static inline bool
sliced_tuple_is_marked(HeapTupleHeader tup)
{
	return (tup->t_infomask2 & SLICED_MARKER) != 0;
}

/*
 * True if the row has values outside it.  The caller may look at it in a buffer
 * without a lock.  Another session may just then exchange the flag for the marker; it
 * sets the marker first.
 */
static inline bool
sliced_tuple_has_values(HeapTupleHeader tup)
{
	if ((tup->t_infomask & HEAP_HASEXTERNAL) != 0)
		return true;
	pg_read_barrier();
	return sliced_tuple_is_marked(tup);
}

/* Exchange the flag for the marker, in a buffer that is locked exclusively. */
static inline void
sliced_tuple_mark(HeapTupleHeader tup)
{
	tup->t_infomask2 |= SLICED_MARKER;
	pg_write_barrier();
	tup->t_infomask &= ~HEAP_HASEXTERNAL;
}

static inline bool
sliced_pointer_is_ours(const struct varatt_external *ptr)
{
	return ptr->va_extinfo >> VARLENA_EXTSIZE_BITS == SLICED_POINTER_METHOD &&
		!VARATT_EXTERNAL_IS_COMPRESSED(*ptr);
}

/*
 * If this datum (any varlena) is a pointer to a value of ours, copy it and return
 * true.
 */
static inline bool
sliced_pointer_get(struct varatt_external *ptr, const struct varlena *datum)
{
	if (!VARATT_IS_EXTERNAL_ONDISK(datum))
		return false;
	VARATT_EXTERNAL_GET_POINTER(*ptr, datum);
	return sliced_pointer_is_ours(ptr);
}

/* Raw bytes of the value. */
static inline uint32
sliced_pointer_size(const struct varatt_external *ptr)
{
	return ptr->va_rawsize - VARHDRSZ;
}

/* Write a pointer of TOAST_POINTER_SIZE bytes to 'dst'. */
static inline void
sliced_pointer_set(char *dst, Oid toastrelid, Oid valueid, uint32 size)
{
	struct varatt_external ptr = {
		.va_rawsize = size + VARHDRSZ,
		.va_extinfo = size | ((uint32) SLICED_POINTER_METHOD << VARLENA_EXTSIZE_BITS),
		.va_valueid = valueid,
		.va_toastrelid = toastrelid
	};

	SET_VARTAG_EXTERNAL(dst, VARTAG_ONDISK);
	memcpy(VARDATA_EXTERNAL(dst), &ptr, sizeof(ptr));
}

/*
 * Returns a copy of a pointer of ours that leads to the same value, but is not equal
 * to it and not recognised as ours.  Never stored.
 */
static inline char *
sliced_pointer_disguise(const struct varatt_external *ptr)
{
	char	   *copy = palloc(TOAST_POINTER_SIZE);
	struct varatt_external other = *ptr;

	other.va_extinfo ^= 1U << VARLENA_EXTSIZE_BITS;
	SET_VARTAG_EXTERNAL(copy, VARTAG_ONDISK);
	memcpy(VARDATA_EXTERNAL(copy), &other, sizeof(other));
	return copy;
}

#endif
