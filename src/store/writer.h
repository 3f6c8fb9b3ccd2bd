/*
 * writer.h
 *	  Writes new values into the toast relation.
 *
 * A value is drafted first: its codec is chosen and its first slice compressed,
 * which tells whether the value could stay in its row instead.  Whoever decides
 * against that hands the draft to the writer, so nothing is compressed twice.
 */
#ifndef SLICED_STORE_WRITER_H
#define SLICED_STORE_WRITER_H

#include "postgres.h"

#include "utils/rel.h"

typedef struct SlicedDraft
{
	const char *raw;			/* the caller's memory */
	uint32		len;
	int			codec;			/* to try on every slice */

	/* The first slice. */
	uint32		first_raw;		/* raw bytes tried together */
	uint32		first_stored;	/* 0 if compressing them does not pay */
	char	   *first;			/* the compressed bytes, palloc'd */
} SlicedDraft;

/*
 * Prepare to store 'len' bytes at 'raw', which must stay until the draft is
 * written or dropped.  Allocates in the current context.
 */
extern void sliced_draft_init(SlicedDraft *draft, const char *raw, uint32 len, int codec);

typedef struct SlicedWriter SlicedWriter;

/*
 * Open the toast relation for writing.  'options' are those of
 * table_tuple_insert().  With 'hide' what is written stays out of logical
 * decoding.  The writer lives in the current context.
 */
extern SlicedWriter *sliced_writer_open(Oid toastrelid, int options, bool hide);

/*
 * Let new ids be unused in 'other' as well: the toast relation whose place this
 * one is going to take.
 */
extern void sliced_writer_avoid_ids_of(SlicedWriter *writer, Oid other);

/* An id that no value of the toast relation has, visible or not. */
extern Oid	sliced_writer_new_id(SlicedWriter *writer);

/* Does the toast relation have rows of this value? */
extern bool sliced_writer_has(SlicedWriter *writer, Oid valueid);

/* Add a value.  Its rows are written when a batch is full, or at close. */
extern void sliced_writer_add(SlicedWriter *writer, Oid valueid, const SlicedDraft *draft);

/* Write what is left and close.  The lock is kept to the end of transaction. */
extern void sliced_writer_close(SlicedWriter *writer);

#endif
