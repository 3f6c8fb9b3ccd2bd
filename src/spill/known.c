/*
 * known.c
 *	  Keys of groups that are in core's table.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "spill/known.h"

#define PLACES_MIN	64
#define PLACES_MAX	8192

/* Of so many questions one of so many must be answered. */
#define TRIAL		4096
#define GAIN		8

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

static bool
add_bytes(SlicedKnownKey *key, const void *bytes, Size len)
{
	if (len > SLICED_KNOWN_LEN - key->len)
		return false;
	memcpy(key->bytes + key->len, bytes, len);
	key->len += len;
	return true;
}

static bool
add_value(SlicedKnownKey *key, const FormData_pg_attribute *att, Datum value)
{
	const char *bytes = DatumGetPointer(value);

	if (att->attbyval)
		return add_bytes(key, &value, sizeof(value));
	if (att->attlen > 0)
		return add_bytes(key, bytes, att->attlen);
	if (att->attlen == -2)
		return add_bytes(key, bytes, strlen(bytes) + 1);
	if (VARATT_IS_EXTERNAL(bytes) || VARATT_IS_COMPRESSED(bytes))
		return false;
	return add_bytes(key, bytes, VARSIZE_ANY(bytes));
}

/* The key's bytes; false if it cannot be known.  Each column says where it ends. */
static bool
make_key(SlicedKnownKey *key, TupleTableSlot *row, const AttrNumber *columns, int n)
{
	key->len = 0;
	for (int i = 0; i < n; i++)
	{
		int			column = columns[i] - 1;
		char		isnull = row->tts_isnull[column];

		if (!add_bytes(key, &isnull, 1))
			return false;
		if (!isnull && !add_value(key, TupleDescAttr(row->tts_tupleDescriptor, column), row->tts_values[column]))
			return false;
	}
	key->hash = hash_bytes((const unsigned char *) key->bytes, key->len);
	return true;
}

bool
sliced_is_known(SlicedKnown *known, TupleTableSlot *row, const AttrNumber *columns, int n)
{
	const SlicedKnownKey *place;

	known->key.len = 0;
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
	if (!make_key(&known->key, row, columns, n))
	{
		known->key.len = 0;
		return false;
	}
	place = &known->places[known->key.hash & known->mask];
	if (place->len != known->key.len || place->hash != known->key.hash ||
		memcmp(place->bytes, known->key.bytes, place->len) != 0)
		return false;
	known->found++;
	return true;
}

void
sliced_known_add(SlicedKnown *known)
{
	if (known->places != NULL && known->key.len > 0)
		known->places[known->key.hash & known->mask] = known->key;
}
