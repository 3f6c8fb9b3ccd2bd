/*
 * announce.h
 *	  Tells decoders where values are.
 *
 * We hide slices from decoders.  Instead, before the record of the rows, we write a
 * record that says which of the rows' pointers are to values that decoders have to
 * read, and in which files these are.  It is a logical message of core's, so a server
 * without our library can replay it, and a decoder without it skips the record.
 */
#ifndef SLICED_DECODE_ANNOUNCE_H
#define SLICED_DECODE_ANNOUNCE_H

#include "postgres.h"

#include "access/xlogreader.h"
#include "row/toast.h"
#include "store/toast_file.h"
#include "utils/rel.h"

/*
 * The prefix of the message, with two zero bytes behind it: one more than
 * pg_logical_emit_message() writes, which any user may call.
 */
#define SLICED_MESSAGE_PREFIX		"pg_sliced"
#define SLICED_MESSAGE_PREFIX_SIZE	(sizeof(SLICED_MESSAGE_PREFIX) + 1)

/* A value; together with the toast relation, the content of a pointer. */
typedef struct SlicedAnnounced
{
	Oid			valueid;
	uint32		rawsize:31,		/* as in the pointer */
				is_old:1;		/* belongs to an old row */
	uint32		extinfo;
} SlicedAnnounced;

/* The message. */
typedef struct SlicedAnnouncement
{
	SlicedToastFile file;
	SlicedAnnounced values[FLEXIBLE_ARRAY_MEMBER];
} SlicedAnnouncement;

#define SLICED_ANNOUNCEMENT_SIZE(n) \
	(offsetof(SlicedAnnouncement, values) + (n) * sizeof(SlicedAnnounced))

/* Values to be announced together, of one table. */
typedef struct SlicedAnnouncing
{
	Relation	rel;
	bool		wanted;			/* some decoder may read it */
	StringInfoData values;
} SlicedAnnouncing;

/* With 'hidden', decoders do not see the changes and get no announcement. */
extern void sliced_announcing_begin(SlicedAnnouncing *a, Relation rel, bool hidden);

/* Add the new and changed values of a row. */
extern void sliced_announcing_add(SlicedAnnouncing *a, const SlicedRowToast *rt);

/* Add the values of an old row, which is marked, that decoders get for its identity. */
extern void sliced_announcing_add_old(SlicedAnnouncing *a, HeapTuple oldtup);

/* Write the message, if there is anything to announce. */
extern void sliced_announcing_end(SlicedAnnouncing *a);

/* True if the record that was read is such a message, of any database. */
extern bool sliced_is_announcement(XLogReaderState *r);

#endif
