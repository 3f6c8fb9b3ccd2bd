/*
 * entry.c
 *	  The directory of dictionaries.
 */
#include "postgres.h"

#include "format/checksum.h"
#include "format/entry.h"

SlicedDamage
sliced_entry_decode(SlicedEntry *entry, const char *payload, uint32 len)
{
	if (len != sizeof(SlicedEntry))
		return SLICED_ENTRY_IMPOSSIBLE;
	memcpy(entry, payload, sizeof(SlicedEntry));
	if ((entry->id == 0) != (entry->len == 0))
		return SLICED_ENTRY_IMPOSSIBLE;
	return SLICED_SOUND;
}

uint32
sliced_dictionary_checksum(const char *bytes, uint32 len)
{
	return sliced_checksum(bytes, len, len);
}
