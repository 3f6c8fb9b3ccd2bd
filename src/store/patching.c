/*
 * patching.c
 *	  Changes of a few bytes, as patches.
 *
 * A patch belongs to bytes of an object, and shows wherever a value has them.  So it
 * can be made only if one piece of the old value has these bytes, and must not be
 * needed by two pieces of the new one.  Later values that have the bytes twice have
 * them changed twice, as they should.
 *
 * What no piece has will not come back: values have pieces of what the value before
 * them had.  So such patches may stay, and are dropped when they are merged.
 */
#include "postgres.h"

#include <limits.h>

#include "base/limits.h"
#include "base/stop.h"
#include "miscadmin.h"
#include "store/patches.h"
#include "store/patching.h"
#include "store/remover.h"

/* ---- lists ---- */

static void
patch_list_add(SlicedPatchList *list, uint32 place, uint32 len, const char *bytes)
{
	if (len == 0)
		return;
	if (list->n == list->max)
	{
		list->max = list->max == 0 ? 32 : list->max * 2;
		list->patches = list->patches == NULL ? palloc(list->max * sizeof(SlicedPatch)) :
			repalloc_huge(list->patches, list->max * sizeof(SlicedPatch));
	}
	list->patches[list->n++] = (SlicedPatch) {place, len, bytes};
}

static void
patch_list_add_encoded(SlicedPatchList *list, SlicedPatchReader patches)
{
	while (sliced_patch_next(&patches))
		patch_list_add(list, patches.patch.place, patches.patch.len, patches.patch.bytes);
}

static uint32
patch_list_size(const SlicedPatchList *list)
{
	uint32		size = 0;
	uint32		place = 0;

	for (int i = 0; i < list->n; i++)
	{
		size += sliced_patch_size(&list->patches[i], place);
		place = list->patches[i].place + list->patches[i].len;
	}
	return size;
}

/* Encode them all; the memory is palloc'd. */
static char *
patch_list_encode(const SlicedPatchList *list, uint32 *size)
{
	char	   *result = palloc(patch_list_size(list) + 1);
	uint32		place = 0;

	*size = 0;
	for (int i = 0; i < list->n; i++)
	{
		*size += sliced_patch_encode(result + *size, &list->patches[i], place);
		place = list->patches[i].place + list->patches[i].len;
	}
	return result;
}

static void
patch_list_free(SlicedPatchList *list)
{
	if (list->patches != NULL)
		pfree(list->patches);
	*list = (SlicedPatchList) {0};
}

/* Lay 'newer' over 'older', whose memory is freed; both are in order. */
static SlicedPatchList
patch_list_merge(const SlicedPatchList *newer, SlicedPatchList *older)
{
	SlicedPatchList result = {0};
	uint32		hidden = 0;		/* newer patches go as far as this */
	int			i = 0;

	for (int j = 0; j < older->n; j++)
	{
		const SlicedPatch *old = &older->patches[j];
		uint32		end = old->place + old->len;
		uint32		at = old->place;

		while (at < end)
		{
			uint32		upto = end;

			for (; i < newer->n && newer->patches[i].place <= at; i++)
			{
				const SlicedPatch *new = &newer->patches[i];

				patch_list_add(&result, new->place, new->len, new->bytes);
				hidden = new->place + new->len;
			}
			at = Max(at, hidden);
			if (i < newer->n)
				upto = Min(end, newer->patches[i].place);
			if (at < upto)
			{
				patch_list_add(&result, at, upto - at, old->bytes + (at - old->place));
				at = upto;
			}
		}
	}
	for (; i < newer->n; i++)
		patch_list_add(&result, newer->patches[i].place, newer->patches[i].len,
					   newer->patches[i].bytes);
	patch_list_free(older);
	return result;
}

/* ---- what a change replaces ---- */

void
sliced_patching_begin(SlicedPatching *p, const SlicedLayout *old, uint32 old_size)
{
	memset(p, 0, sizeof(*p));
	p->old = old;
	p->old_size = old_size;
	if (old->patches != NULL)
		p->table = *old->patches;
}

/*
 * The place of an object's first byte.  False if it has none and gets none: there are
 * too many such objects, or the value does not have much of it.
 */
static bool
object_find_base(SlicedPatching *p, Oid objid, uint32 *base)
{
	SlicedPatchTable *table = &p->table;
	SlicedPieceIterator it = {p->old, p->old_size};
	uint32		end = 0;
	uint64		have = 0;

	for (int i = 0; i < table->nobjects; i++)
		if (table->objects[i].objid == objid)
		{
			*base = table->objects[i].base;
			return true;
		}
	if (table->nobjects == SLICED_PATCHED_OBJECTS)
		return false;
	while (sliced_piece_next(&it))
		if (it.piece.objid == objid)
		{
			end = Max(end, it.piece.start + it.piece.len);
			have += it.piece.len;
		}
	if (have < p->old_size / SLICED_PATCHED_PART || end >= INT_MAX - table->end)
		return false;
	*base = table->end;
	table->objects[table->nobjects++] = (SlicedPatchedObject) {objid, *base};
	table->end += end;
	return true;
}

/* How many pieces of the old value have bytes [start, end) of an object, or some? */
static int
old_pieces_count(const SlicedPatching *p, Oid objid, uint32 start, uint32 end)
{
	SlicedPieceIterator it = {p->old, p->old_size};
	int			n = 0;

	while (sliced_piece_next(&it))
		if (it.piece.objid == objid && it.piece.start < end && start < it.piece.start + it.piece.len)
			n++;
	return n;
}

/* Replace bytes [start, start + len) of the old value; false if no patch can do that. */
static bool
old_bytes_patch(SlicedPatching *p, uint32 start, const char *bytes, uint32 len)
{
	SlicedPieceIterator it = {p->old, p->old_size};
	uint32		done = 0;

	while (done < len && sliced_piece_next(&it))
	{
		uint32		skip = start + done - it.at;
		uint32		from = it.piece.start + skip;
		uint32		part;
		uint32		base;

		if (skip >= it.piece.len)
			continue;
		part = Min(len - done, it.piece.len - skip);
		if (it.piece.objid == InvalidOid ||
			old_pieces_count(p, it.piece.objid, from, from + part) > 1 ||
			!object_find_base(p, it.piece.objid, &base))
			break;
		patch_list_add(&p->added, base + from, part, bytes + done);
		done += part;
	}
	return done == len;
}

/*
 * New bytes, runs [i, *next) of the rope: do they take the place of as many bytes of
 * the old value, not too many to be patches, between those that are around them?
 * Then '*start' is where these begin.
 */
static bool
runs_replace_bytes(const SlicedPatching *p, const SlicedRope *rope, int i, int *next,
				   uint32 *start, uint32 *len)
{
	const SlicedRun *before = i > 0 ? &rope->runs[i - 1] : NULL;
	const SlicedRun *behind;

	if (before != NULL && before->bytes != NULL)
		return false;
	*len = 0;
	for (*next = i; *next < rope->nruns && rope->runs[*next].bytes != NULL; (*next)++)
		*len += rope->runs[*next].len;
	behind = *next < rope->nruns ? &rope->runs[*next] : NULL;

	if (*len > SLICED_PATCH_MAX || (before == NULL && behind == NULL) ||
		(behind != NULL && behind->start < *len))
		return false;
	*start = before != NULL ? before->start + before->len : behind->start - *len;
	return behind != NULL ? *start + *len == behind->start : *start + *len <= p->old_size;
}

bool
sliced_patching_add(SlicedPatching *p, const SlicedRope *rope, int i, int *next, uint32 *start,
					uint32 *len)
{
	int			before = p->added.n;
	int			end;
	uint32		from;
	uint32		n;
	uint32		at;

	if (!runs_replace_bytes(p, rope, i, &end, &from, &n))
		return false;
	at = from;
	for (; i < end; at += rope->runs[i++].len)
		if (!old_bytes_patch(p, at, rope->runs[i].bytes, rope->runs[i].len))
		{
			p->added.n = before;
			return false;
		}
	*next = end;
	*start = from;
	*len = n;
	return true;
}

/* Which byte of which object is at a place of the new value?  NULL: of none any more. */
static const SlicedPatchedObject *
object_at_place(const SlicedPatching *p, uint32 place)
{
	const SlicedPatchTable *table = &p->table;

	for (int i = table->nobjects - 1; i >= 0; i--)
		if (table->objects[i].base <= place)
			return &table->objects[i];
	return NULL;
}

static int
patch_count_pieces(const SlicedPatching *p, const SlicedPatch *patch, SlicedPieceCounter count,
				   void *arg)
{
	const SlicedPatchedObject *object = object_at_place(p, patch->place);

	return object == NULL ? 0 :
		count(arg, object->objid, patch->place - object->base,
			  patch->place + patch->len - object->base);
}

/* Drop patches that no piece needs. */
static void
patch_list_drop_unneeded(SlicedPatchList *list, const SlicedPatching *p,
						 SlicedPieceCounter count, void *arg)
{
	int			n = 0;

	for (int i = 0; i < list->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (patch_count_pieces(p, &list->patches[i], count, arg) > 0)
			list->patches[n++] = list->patches[i];
	}
	list->n = n;
}

static int
patch_compare(const void *a, const void *b)
{
	uint32		x = ((const SlicedPatch *) a)->place;
	uint32		y = ((const SlicedPatch *) b)->place;

	return x < y ? -1 : x > y;
}

bool
sliced_patching_fit(SlicedPatching *p, SlicedPieceCounter count, void *arg)
{
	for (int i = 0; i < p->added.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (patch_count_pieces(p, &p->added.patches[i], count, arg) > 1)
			return false;
	}
	if (p->added.n > 0)
		qsort(p->added.patches, p->added.n, sizeof(SlicedPatch), patch_compare);
	return true;
}

uint64
sliced_patching_bytes(const SlicedPatching *p)
{
	uint64		bytes = (uint64) p->table.own_len + patch_list_size(&p->added);

	for (int i = 0; i < p->table.nlayers; i++)
		bytes += p->table.layers[i].bytes;
	return bytes;
}

/* ---- layers ---- */

/* Read all patches of a layer, with copies of their bytes. */
static SlicedPatchList
layer_read(const SlicedPatching *p, Relation toastrel, Oid layer)
{
	SlicedPatchList list = {0};
	SlicedRow	row = {.until = 0};
	SlicedDamage damage = SLICED_SOUND;
	ToastScan	ts;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	ts.visibility = SLICED_SEE_CURRENT;
	do
	{
		CHECK_FOR_INTERRUPTS();
		damage = sliced_layer_next(&ts, layer, row.until, &row);
		if (damage == SLICED_SOUND)
		{
			SlicedPatchReader patches;

			row.payload = memcpy(palloc(row.payload_len), row.payload, row.payload_len);
			patches = sliced_row_patch_reader(&row);
			patch_list_add_encoded(&list, patches);
		}
	} while (damage == SLICED_SOUND && row.until < PG_INT32_MAX);
	sliced_scan_close(&ts, AccessShareLock);
	if (damage != SLICED_SOUND)
		sliced_report_corruption(toastrel, p->old->valueid, 0, damage);
	return list;
}

/* Write a layer; returns the bytes that its patches take. */
static uint32
layer_write(SlicedWriter *writer, Oid layer, const SlicedPatchList *list)
{
	uint32		bytes = 0;
	uint32		from = 0;

	for (int i = 0; i < list->n;)
	{
		SlicedPatchList row = {.patches = list->patches + i};
		uint32		size = 0;
		uint32		place = from;

		CHECK_FOR_INTERRUPTS();
		do
		{
			size += sliced_patch_size(&list->patches[i], place);
			place = list->patches[i].place + list->patches[i].len;
			row.n++;
			i++;
		} while (i < list->n &&
				 size + sliced_patch_size(&list->patches[i], place) <= SLICED_PATCH_ROW);
		sliced_writer_add_patches(writer, layer, from, i < list->n ? list->patches[i].place :
								  PG_INT32_MAX, row.patches, row.n);
		SLICED_STOP("patches.row-added");
		bytes += size;
		if (i < list->n)
			from = list->patches[i].place;
	}
	return bytes;
}

/* Layers of about the same length are of one level; those of higher ones are older. */
static int
layer_level(uint64 bytes)
{
	uint64		most = (uint64) SLICED_PATCHES_OWN * SLICED_LAYER_RATIO;
	int			level = 0;

	for (; bytes > most && level < SLICED_LAYERS - 1; level++)
		most *= SLICED_LAYER_RATIO;
	return level;
}

/*
 * Merge the patches with newer layers, to one that takes their place.  Of layers that
 * were written under other limits there may be too many.
 */
static void
patches_write_layer(SlicedPatching *p, SlicedPatchList *list, SlicedWriter *writer,
					SlicedPieceCounter count, void *arg)
{
	SlicedPatchTable *table = &p->table;
	Relation	toastrel = sliced_writer_relation(writer);
	uint64		bytes = patch_list_size(list);
	SlicedLayer new = {InvalidOid, 0};
	int			n;

	for (n = 0; n < table->nlayers; n++)
	{
		SlicedPatchList older;
		SlicedPatchList newer = *list;

		if (layer_level(table->layers[n].bytes) > layer_level(bytes) &&
			table->nlayers - n < SLICED_LAYERS)
			break;
		bytes += table->layers[n].bytes;
		older = layer_read(p, toastrel, table->layers[n].objid);
		SLICED_STOP("patches.layer-read");
		*list = patch_list_merge(&newer, &older);
		patch_list_free(&newer);
	}
	p->nmerged = n;
	patch_list_drop_unneeded(list, p, count, arg);
	table->nlayers -= n;
	memmove(&table->layers[0], &table->layers[n], table->nlayers * sizeof(SlicedLayer));
	if (list->n == 0)
		return;
	new.objid = sliced_writer_new_id(writer);
	new.bytes = layer_write(writer, new.objid, list);
	SLICED_STOP("patches.layer-written");
	memmove(&table->layers[1], &table->layers[0], table->nlayers * sizeof(SlicedLayer));
	table->layers[0] = new;
	table->nlayers++;
}

/*
 * Forget objects that the new value has no piece of.  Their places are not given to
 * others while there are patches.
 */
static void
objects_drop_unneeded(SlicedPatching *p, SlicedPieceCounter count, void *arg)
{
	SlicedPatchTable *table = &p->table;
	int			n = 0;

	for (int i = 0; i < table->nobjects; i++)
		if (count(arg, table->objects[i].objid, 0, PG_UINT32_MAX) > 0)
			table->objects[n++] = table->objects[i];
	table->nobjects = n;
	if (n == 0 || (table->nlayers == 0 && table->own_len == 0))
		*table = (SlicedPatchTable) {0};
}

void
sliced_patching_write(SlicedPatching *p, SlicedWriter *writer, SlicedPieceCounter count,
					  void *arg)
{
	SlicedPatchList list = {0};
	SlicedPatchList own;

	patch_list_add_encoded(&list, sliced_patch_reader(p->table.own, p->table.own_len, 0));
	own = patch_list_merge(&p->added, &list);
	patch_list_drop_unneeded(&own, p, count, arg);
	if (patch_list_size(&own) > SLICED_PATCHES_OWN)
	{
		patches_write_layer(p, &own, writer, count, arg);
		patch_list_free(&own);
	}
	p->table.own = patch_list_encode(&own, &p->table.own_len);
	patch_list_free(&own);
	objects_drop_unneeded(p, count, arg);
}

void
sliced_patching_drop(SlicedPatching *p, Relation toastrel)
{
	const SlicedPatchTable *old = p->old->patches;

	if (old == NULL)
		return;
	for (int i = 0; i < old->nlayers; i++)
		if (i < p->nmerged || p->table.nlayers == 0)
		{
			sliced_object_delete(toastrel, old->layers[i].objid);
			SLICED_STOP("patches.layer-deleted");
		}
}

void
sliced_patching_free(SlicedPatching *p)
{
	patch_list_free(&p->added);
}
