/*
 * writer.h
 *	  Writes new values into the toast relation.
 */
#ifndef SLICED_STORE_WRITER_H
#define SLICED_STORE_WRITER_H

#include "postgres.h"

#include "format/entry.h"
#include "storage/block.h"
#include "storage/itemptr.h"
#include "store/batch.h"
#include "store/draft.h"
#include "utils/rel.h"

typedef struct SlicedWriter SlicedWriter;

/*
 * Open the toast relation for writing.  'options' are those of table_tuple_insert().
 * With 'hide', logical decoding does not see the rows.  The writer lives in the
 * current context.
 */
extern SlicedWriter *sliced_writer_open(Oid toastrelid, uint32 options, bool hide);

/*
 * Open a writer that counts rows without inserting them, and reads each slice once to
 * take the time.  It cannot do ids, growth and changes, which need existing rows.
 */
extern SlicedWriter *sliced_writer_open_tally(SlicedTally *tally);

/* The toast relation. */
extern Relation sliced_writer_relation(SlicedWriter *writer);

/*
 * Let new ids be unused in 'other' as well: the toast relation that this one will
 * replace.
 */
extern void sliced_writer_avoid_ids_of(SlicedWriter *writer, Oid other);

/* An id that no value of the toast relation has, visible or not. */
extern Oid	sliced_writer_new_id(SlicedWriter *writer);

/*
 * Returns how much of this value has been written to the toast relation; 0 if
 * nothing.  For values without a root.
 */
extern uint32 sliced_writer_length(SlicedWriter *writer, Oid valueid);

/* Add a value.  Its rows are written when a batch is full, or at close. */
extern void sliced_writer_add(SlicedWriter *writer, Oid valueid, const SlicedDraft *draft);

/* Add 'len' bytes to an object, from offset 'start' on, as slices. */
extern void sliced_writer_add_slices(SlicedWriter *writer, Oid objid, uint32 start,
									 const char *raw, uint32 len,
									 SlicedCompression compression);

/*
 * Insert the rows that follow, if they are small, into this page of the toast
 * relation, which must exist.  If it has no room, they go to a page with room for
 * more.  InvalidBlockNumber means any page.
 */
extern void sliced_writer_stay_near(SlicedWriter *writer, BlockNumber block);

/* Add a node. */
extern void sliced_writer_add_node(SlicedWriter *writer, Oid objid, int32 seq, const char *bytes,
								   uint32 size);

/*
 * Add the head of a value that has a root.  'own' is where its own object goes on
 * behind the root's content; 'ascii' is how many leading bytes are known to be ASCII.
 */
extern void sliced_writer_add_head(SlicedWriter *writer, Oid valueid, const char *root,
								   uint32 root_size, uint32 own, uint32 ascii);

/* Add a row to the directory of dictionaries. */
extern void sliced_writer_add_entry(SlicedWriter *writer, int32 seq, const SlicedEntry *entry);

/* Add a tail with room for 'capacity' bytes; 'len' of them are there already. */
extern void sliced_writer_add_tail(SlicedWriter *writer, Oid objid, uint32 start,
								   const char *raw, uint32 len, uint32 capacity);

/* Replace the tail at 'tid' by a longer version of it. */
extern void sliced_writer_update_tail(SlicedWriter *writer, ItemPointer tid, Oid objid,
									  uint32 start, const char *raw, uint32 len,
									  uint32 capacity);

/* Write the remaining rows. */
extern void sliced_writer_flush(SlicedWriter *writer);

/* Write the remaining rows and close.  The lock is kept to the end of transaction. */
extern void sliced_writer_close(SlicedWriter *writer);

#endif
