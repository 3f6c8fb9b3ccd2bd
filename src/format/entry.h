/*
 * entry.h
 *	  The directory of dictionaries: what one row of it holds.
 *
 * A dictionary is a value of the toast relation of the table whose slices name it.
 * No row of the table points to it, so object 0, which no value can be, has a row
 * for each:
 *
 *	 byte 20   24         28    32        36      40         44           52    60       68
 *		  | id | checksum | len | samples | pages | reserved | trained_at | raw | before | after |
 *
 * chunk_seq is the column's number times SLICED_ENTRIES, plus 1 for the column's
 * first dictionary, 2 for the next, and so on: the last one that is committed is
 * used for new slices.  All are kept, since older slices name older dictionaries.
 */
#ifndef SLICED_FORMAT_ENTRY_H
#define SLICED_FORMAT_ENTRY_H

#include "postgres.h"

#include "format/damage.h"

/* The most entries of one column. */
#define SLICED_ENTRIES		65536

typedef struct SlicedEntry
{
	uint32		id;				/* the dictionary's value id; 0: none was worth it */
	uint32		checksum;		/* of its bytes: sliced_dictionary_checksum() */
	uint32		len;			/* of its bytes */
	uint32		samples;		/* that it was trained on */
	uint32		pages;			/* of the toast relation then */
	uint32		reserved;
	int64		trained_at;		/* TimestampTz */
	/* samples that it was not trained on: as they were, and compressed */
	uint64		raw;
	uint64		before;
	uint64		after;
} SlicedEntry;

StaticAssertDecl(sizeof(SlicedEntry) == 56, "entry has holes");

static inline int32
sliced_entry_seq(int attno, int n)
{
	return attno * SLICED_ENTRIES + n;
}

/* Take the payload of a row of object 0 apart. */
extern SlicedDamage sliced_entry_decode(SlicedEntry *entry, const char *payload, uint32 len);

/*
 * A slice that looks back at a dictionary begins with the dictionary's name: 8 bytes
 * that count as stored ones.  The id alone is not enough: a rollback may free it for
 * another dictionary.
 */
#define SLICED_DICTIONARY_NAME	8

extern uint32 sliced_dictionary_checksum(const char *bytes, uint32 len);

#endif
