/*
 * patches.c
 *	  Encodes and decodes patches, and the table of them in a head.
 */
#include "postgres.h"

#include <limits.h>

#include "format/patches.h"

/* Before the objects of a table. */
typedef struct TableHeader
{
	uint16		length;
	uint8		nobjects;
	uint8		nlayers;
	uint32		end;
} TableHeader;

StaticAssertDecl(sizeof(TableHeader) == 8, "table of patches has holes");

#define GAP_BITS	7
#define GAP_MORE	0x80

bool
sliced_patch_next(SlicedPatchReader *r)
{
	const uint8 *p = (const uint8 *) r->next;
	const uint8 *end = (const uint8 *) r->end;
	uint64		gap = 0;
	int			shift = 0;
	uint32		len;

	do
	{
		if (p == end || shift > 4 * GAP_BITS)
			return false;
		gap |= (uint64) (*p & (GAP_MORE - 1)) << shift;
		shift += GAP_BITS;
	} while (*p++ & GAP_MORE);

	if (p == end)
		return false;
	len = *p++;
	if (len == 0 || len > end - p || gap + len > INT_MAX - r->place)
		return false;
	r->patch.place = r->place + gap;
	r->patch.len = len;
	r->patch.bytes = (const char *) p;
	r->place = r->patch.place + len;
	r->next = (const char *) p + len;
	return true;
}

uint32
sliced_patch_size(const SlicedPatch *patch, uint32 place)
{
	uint32		size = 1 + 1 + patch->len;

	for (uint32 gap = patch->place - place; gap >= GAP_MORE; gap >>= GAP_BITS)
		size++;
	return size;
}

uint32
sliced_patch_encode(char *dst, const SlicedPatch *patch, uint32 place)
{
	uint8	   *p = (uint8 *) dst;
	uint32		gap = patch->place - place;

	Assert(patch->place >= place && patch->len > 0 && patch->len <= SLICED_PATCH_LONGEST);
	for (; gap >= GAP_MORE; gap >>= GAP_BITS)
		*p++ = GAP_MORE | (gap & (GAP_MORE - 1));
	*p++ = gap;
	*p++ = patch->len;
	memcpy(p, patch->bytes, patch->len);
	return (char *) p + patch->len - dst;
}

uint32
sliced_patch_table_size(const SlicedPatchTable *table)
{
	return sizeof(TableHeader) + table->nobjects * sizeof(SlicedPatchedObject) +
		table->nlayers * sizeof(SlicedLayer) + table->own_len;
}

void
sliced_patch_table_encode(char *dst, const SlicedPatchTable *table)
{
	TableHeader header = {
		.length = sliced_patch_table_size(table),
		.nobjects = table->nobjects,
		.nlayers = table->nlayers,
		.end = table->end
	};

	memcpy(dst, &header, sizeof(header));
	dst += sizeof(header);
	memcpy(dst, table->objects, table->nobjects * sizeof(SlicedPatchedObject));
	dst += table->nobjects * sizeof(SlicedPatchedObject);
	memcpy(dst, table->layers, table->nlayers * sizeof(SlicedLayer));
	dst += table->nlayers * sizeof(SlicedLayer);
	if (table->own_len > 0)
		memcpy(dst, table->own, table->own_len);
}

/* Do the numbers of a decoded table agree with each other? */
static bool
table_is_possible(const SlicedPatchTable *table)
{
	SlicedPatchReader own = sliced_patch_reader(table->own, table->own_len, 0);

	if (table->end > INT_MAX)
		return false;
	for (int i = 0; i < table->nobjects; i++)
	{
		if (table->objects[i].objid == 0 || table->objects[i].base >= table->end)
			return false;
		for (int j = 0; j < i; j++)
			if (table->objects[j].objid == table->objects[i].objid ||
				table->objects[j].base >= table->objects[i].base)
				return false;
	}
	for (int i = 0; i < table->nlayers; i++)
		if (table->layers[i].objid == 0)
			return false;
	while (sliced_patch_next(&own))
		if (own.place > table->end)
			return false;
	return own.next == own.end;
}

SlicedDamage
sliced_patch_table_decode(SlicedPatchTable *table, const char *src, uint32 len, uint32 *size)
{
	TableHeader header;
	uint32		lists;

	if (len < sizeof(header))
		return SLICED_HEAD_TOO_SHORT_FOR_PATCHES;
	memcpy(&header, src, sizeof(header));
	if (header.nobjects == 0 || header.nobjects > SLICED_PATCHED_OBJECTS ||
		header.nlayers > SLICED_LAYERS)
		return SLICED_PATCHES_IMPOSSIBLE;
	lists = sizeof(header) + header.nobjects * sizeof(SlicedPatchedObject) +
		header.nlayers * sizeof(SlicedLayer);
	if (len < header.length || header.length < lists)
		return SLICED_HEAD_TOO_SHORT_FOR_PATCHES;

	memset(table, 0, sizeof(*table));
	table->end = header.end;
	table->nobjects = header.nobjects;
	table->nlayers = header.nlayers;
	src += sizeof(header);
	memcpy(table->objects, src, header.nobjects * sizeof(SlicedPatchedObject));
	src += header.nobjects * sizeof(SlicedPatchedObject);
	memcpy(table->layers, src, header.nlayers * sizeof(SlicedLayer));
	table->own = src + header.nlayers * sizeof(SlicedLayer);
	table->own_len = header.length - lists;
	*size = header.length;
	return table_is_possible(table) ? SLICED_SOUND : SLICED_PATCHES_IMPOSSIBLE;
}
