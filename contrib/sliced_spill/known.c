/*
 * known.c
 *	  Keys of groups that are in core's table.
 */
#include "postgres.h"

#include "base/compat.h"
#include "known.h"

#define PLACES_MIN	64
#define PLACES_MAX	8192

/* Give up unless one in GAIN of the last TRIAL keys asked for was known. */
#define TRIAL		4096
#define GAIN		8

#define MULTIPLIER	UINT64CONST(0x9E3779B97F4A7C15)

void
sliced_known_init(SlicedKnown *known, Size room)
{
	uint32		n = PLACES_MIN;

	while (n < PLACES_MAX && 2 * n * sizeof(SlicedKnownKey) <= room)
		n *= 2;
	memset(known, 0, sizeof(*known));
	known->places = palloc0(n * sizeof(SlicedKnownKey));
	known->mask = n - 1;
}

void
sliced_known_free(SlicedKnown *known)
{
	if (known->places != NULL)
		pfree(known->places);
	known->places = NULL;
}

/* A column's value as bytes; longer than a key can be if it is toasted. */
static const char *
value_bytes(TupleTableSlot *row, int column, uint32 *len)
{
	const FormData_pg_attribute *att = TupleDescAttr(row->tts_tupleDescriptor, column);
	const char *bytes = DatumGetPointer(row->tts_values[column]);

	if (att->attbyval)
	{
		*len = sizeof(Datum);
		return (const char *) &row->tts_values[column];
	}
	if (att->attlen > 0)
		*len = att->attlen;
	else if (att->attlen == -2)
		*len = strlen(bytes) + 1;
	else if (VARATT_IS_EXTERNAL(bytes) || VARATT_IS_COMPRESSED(bytes))
		*len = SLICED_KNOWN_LEN + 1;
	else
		*len = VARSIZE_ANY(bytes);
	return bytes;
}

/* The upper bits of a product depend on all others. */
static inline uint64
mix(uint64 hash, uint64 word)
{
	hash = (hash ^ word) * MULTIPLIER;
	return hash ^ (hash >> 32);
}

static uint64
mix_bytes(uint64 hash, const char *bytes, uint32 len)
{
	uint64		word = 0;

	for (; len >= sizeof(word); bytes += sizeof(word), len -= sizeof(word))
	{
		memcpy(&word, bytes, sizeof(word));
		hash = mix(hash, word);
	}
	for (word = len; len > 0; len--)
		word = word << 8 | (unsigned char) *bytes++;
	return mix(hash, word);
}

/* 0 if the key is too long to be known. */
static uint32
key_hash(TupleTableSlot *row, const AttrNumber *columns, int n)
{
	uint64		hash = 0;
	uint32		all = 0;

	for (int i = 0; i < n; i++)
	{
		int			column = columns[i] - 1;

		all++;
		if (row->tts_isnull[column])
			hash = mix(hash, 1);
		else
		{
			uint32		len;
			const char *bytes = value_bytes(row, column, &len);

			all += len;
			if (all > SLICED_KNOWN_LEN)
				return 0;
			hash = mix_bytes(hash, bytes, len);
		}
	}
	return all > SLICED_KNOWN_LEN ? 0 : Max(hash * MULTIPLIER >> 32, 1);
}

/* Each value shows its own length, so equal bytes mean equal columns. */
static bool
is_same(const SlicedKnownKey *place, TupleTableSlot *row, const AttrNumber *columns, int n)
{
	uint32		at = 0;

	for (int i = 0; i < n; i++)
	{
		int			column = columns[i] - 1;
		const char *bytes;
		uint32		len;

		if (place->bytes[at++] != (char) row->tts_isnull[column])
			return false;
		if (row->tts_isnull[column])
			continue;
		bytes = value_bytes(row, column, &len);
		if (len > place->len - at || memcmp(place->bytes + at, bytes, len) != 0)
			return false;
		at += len;
	}
	return at == place->len;
}

bool
sliced_is_known(SlicedKnown *known, TupleTableSlot *row, const AttrNumber *columns, int n)
{
	const SlicedKnownKey *place;

	if (known->places == NULL)
		return false;
	if (known->asked == TRIAL)
	{
		if (known->found < TRIAL / GAIN)
		{
			sliced_known_free(known);
			return false;
		}
		known->asked = known->found = 0;
	}
	known->asked++;
	known->hash = key_hash(row, columns, n);
	place = &known->places[known->hash & known->mask];
	if (known->hash == 0 || place->hash != known->hash || !is_same(place, row, columns, n))
		return false;
	known->found++;
	return true;
}

void
sliced_known_add(SlicedKnown *known, TupleTableSlot *row, const AttrNumber *columns, int n)
{
	SlicedKnownKey *place;

	if (known->places == NULL || known->hash == 0)
		return;
	place = &known->places[known->hash & known->mask];
	place->hash = known->hash;
	place->len = 0;
	for (int i = 0; i < n; i++)
	{
		int			column = columns[i] - 1;
		const char *bytes;
		uint32		len;

		place->bytes[place->len++] = row->tts_isnull[column];
		if (row->tts_isnull[column])
			continue;
		bytes = value_bytes(row, column, &len);
		memcpy(place->bytes + place->len, bytes, len);
		place->len += len;
	}
}
