/*
 * edits.c
 *	  The items of a limb: reads their bytes and changes them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "tree/edits.h"

/* ---- the bytes of a node that is in memory ---- */

static void
branch_read(Tree *t, Branch *b, uint32 start, uint32 len, char *dst)
{
	SlicedDamage damage = SLICED_SOUND;

	if (b->bytes != NULL)
		memcpy(dst, b->bytes + start, len);
	else if (b->kind == SLICED_CHILD_NODE)
		limb_read(t, limb_of(t, b), start, len, dst);
	else
		damage = t->store->read(t->store->arg, b->objid, b->seq + start, len, dst);
	if (damage != SLICED_SOUND)
		t->store->damaged(t->store->arg, b->objid, b->seq + start, damage);
}

/* Reads the old words of a list that has moved: from a branch, or from a limb. */
typedef struct ListSource
{
	Tree	   *tree;
	Branch	   *branch;
	Limb	   *limb;			/* or this */
	uint32		start;			/* of the list in there */
} ListSource;

static bool
read_list(void *arg, uint32 start, uint32 len, char *dst)
{
	ListSource *source = arg;

	if (source->branch != NULL)
		branch_read(source->tree, source->branch, source->start + start, len, dst);
	else
		limb_read(source->tree, source->limb, source->start + start, len, dst);
	return true;
}

static void
item_read(Tree *t, const LimbItem *item, uint32 start, uint32 len, char *dst)
{
	ListSource	source = {.tree = t, .branch = item->branch, .start = item->start};

	if (item->branch == NULL)
		memcpy(dst, item->bytes + start, len);
	else if (item->is_list)
		sliced_list_read(&item->list, start, len, dst, read_list, &source);
	else
		branch_read(t, item->branch, item->start + start, len, dst);
}

void
limb_read(Tree *t, Limb *limb, uint32 start, uint32 len, char *dst)
{
	for (int i = 0; i < limb->nitems && len > 0; i++)
	{
		LimbItem   *item = &limb->items[i];
		uint32		skip = Min(start, item->len);
		uint32		n = Min(len, item->len - skip);

		start -= skip;
		if (n == 0)
			continue;
		item_read(t, item, skip, n, dst);
		dst += n;
		len -= n;
	}
}

/* Some items of a node as one new extent. */
Branch *
items_copy(Tree *t, const LimbItem *items, int n)
{
	uint32		len = 0;
	char	   *bytes;
	char	   *at;

	for (int i = 0; i < n; i++)
		len += items[i].len;
	at = bytes = palloc_extended(len, MCXT_ALLOC_HUGE);
	for (int i = 0; i < n; at += items[i++].len)
		item_read(t, &items[i], 0, items[i].len, at);
	return branch_new_extent(t, bytes, len);
}

/* Replace items by runs of whole branches. */
void
limb_replace_items(Limb *limb, int first, int last, const Branches *branches)
{
	LimbItem   *old = limb->items;
	int			n = limb->nitems;

	limb_clear(limb);
	for (int i = 0; i < first; i++)
		limb_add(limb, &old[i]);
	for (int i = 0; i < branches->n; i++)
		limb_add(limb, &(LimbItem) {.branch = branches->list[i], .len = branches->list[i]->len});
	for (int i = last + 1; i < n; i++)
		limb_add(limb, &old[i]);
	pfree(old);
}

/* ---- parts of items ---- */

void
limb_add_read(Tree *t, Limb *limb, const LimbItem *item, uint32 skip, uint32 len)
{
	char	   *bytes;

	if (len == 0)
		return;
	bytes = palloc(len);
	item_read(t, item, skip, len, bytes);
	limb_add(limb, &(LimbItem) {.bytes = bytes, .len = len});
}

/* The list of an item from byte 'skip' on, which is a multiple of four. */
static SlicedList
item_list_rest(Tree *t, const LimbItem *item, uint32 skip)
{
	ListSource	source = {.tree = t, .branch = item->branch, .start = item->start};
	uint32		end;

	sliced_list_find_end(&item->list, skip, read_list, &source, &end);
	return sliced_list_rest(&item->list, skip, end);
}

/* Of a list, add whole words, and literal bytes where a word is cut in two. */
void
limb_add_part(Tree *t, Limb *limb, const LimbItem *item, uint32 skip, uint32 len)
{
	LimbItem	part = *item;
	uint32		before = 0;
	uint32		behind = 0;

	if (item->is_list)
	{
		before = Min(len, TYPEALIGN(sizeof(SlicedListWord), skip) - skip);
		behind = (len - before) % sizeof(SlicedListWord);
	}
	limb_add_read(t, limb, item, skip, before);
	part.len = len - before - behind;
	if (item->branch != NULL)
		part.start += skip + before;
	else
		part.bytes += skip;
	if (item->is_list && part.len > 0)
		part.list = item_list_rest(t, item, skip + before);
	limb_add(limb, &part);
	limb_add_read(t, limb, item, skip + len - behind, behind);
}

/* True if the node, or one below it, has runs of the slice. */
static bool
limb_has_slice(Tree *t, Limb *limb, const Branch *slice)
{
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;

		if (b == NULL || (b != slice && b->kind != SLICED_CHILD_NODE))
			continue;
		if (b == slice || (!limb_of(t, b)->owns && limb_has_slice(t, b->limb, slice)))
			return true;
	}
	return false;
}

void
limb_add_flat(Tree *t, Limb *limb, Limb *from, uint32 start, uint32 len, const Branch *slice)
{
	for (int i = 0; i < from->nitems && len > 0; i++)
	{
		const LimbItem *item = &from->items[i];
		uint32		skip = Min(start, item->len);
		uint32		n = Min(len, item->len - skip);
		Branch	   *b = item->branch;

		CHECK_FOR_INTERRUPTS();
		start -= skip;
		len -= n;
		if (n == 0)
			continue;
		if (b == NULL || b == slice || b->kind != SLICED_CHILD_NODE || limb_of(t, b)->owns ||
			!limb_has_slice(t, b->limb, slice))
			limb_add_part(t, limb, item, skip, n);
		else if (item->is_list)
			limb_add_read(t, limb, item, skip, n);
		else
			limb_add_flat(t, limb, b->limb, item->start + skip, n, slice);
	}
}

/* ---- extents ---- */

static Branch *
extent_part(Tree *t, const Branch *b, uint32 start, uint32 len)
{
	Branch	   *part = branch_new(t, SLICED_CHILD_EXTENT);

	part->objid = b->objid;
	part->seq = b->seq + start;
	part->len = len;
	part->trimmed = b->trimmed;
	if (start == 0 && b->info.len <= len)
		part->info = b->info;
	return part;
}

/*
 * Add a part of an item that is now a run of 'part', which begins at byte 'at' of the
 * extent.
 */
static void
add_part_of_extent(Tree *t, Limb *limb, const LimbItem *item, uint32 skip, uint32 len, Branch *part,
				   uint32 at)
{
	Limb		items = {0};

	if (!item->is_list)
	{
		limb_add(limb, &(LimbItem) {.branch = part, .start = item->start + skip - at, .len = len});
		return;
	}
	limb_add_part(t, &items, item, skip, len);
	for (int i = 0; i < items.nitems; i++)
	{
		LimbItem	added = items.items[i];

		if (added.branch != NULL)
		{
			added.branch = part;
			added.start -= at;
		}
		limb_add(limb, &added);
	}
	if (items.items != NULL)
		pfree(items.items);
}

void
extent_divide(Tree *t, Limb *limb, Branch *b, const uint32 *cuts, int ncuts, Branch **parts)
{
	LimbItem   *old = limb->items;
	int			n = limb->nitems;
	int			p = 0;

	for (int i = 0; i <= ncuts; i++)
	{
		uint32		start = i > 0 ? cuts[i - 1] : 0;

		parts[i] = extent_part(t, b, start, (i < ncuts ? cuts[i] : b->len) - start);
	}
	b->divided = true;
	limb_clear(limb);
	for (int i = 0; i < n; i++)
	{
		const LimbItem *item = &old[i];
		uint32		len;

		if (item->branch != b)
		{
			limb_add(limb, item);
			continue;
		}
		for (uint32 done = 0; done < item->len; done += len)
		{
			uint32		start = item->start + done;

			/* runs ascend */
			while (p < ncuts && start >= cuts[p])
				p++;
			len = Min(item->len - done, (p < ncuts ? cuts[p] : b->len) - start);
			add_part_of_extent(t, limb, item, done, len, parts[p], p > 0 ? cuts[p - 1] : 0);
		}
	}
	pfree(old);
}

/* ---- applying edits ---- */

/* Literals that are too long for a node become slices. */
static void
move_long_literals(Tree *t, Limb *limb)
{
	for (int i = 0; i < limb->nitems; i++)
	{
		LimbItem   *item = &limb->items[i];

		if (item->branch == NULL && item->len > t->limits->longest)
			*item = (LimbItem) {.branch = branch_new_extent(t, item->bytes, item->len), .len = item->len};
	}
}

static bool
read_words(void *arg, uint32 start, uint32 len, char *dst)
{
	memcpy(dst, (const char *) arg + start, len);
	return true;
}

/* Find where the value before byte 'at' of a list in the limb's content ended. */
static uint32
list_find_end(const LimbItem *list, uint32 at, ListSource *content)
{
	SlicedList	now = list->list;
	uint32		end;

	if (list->bytes == NULL)
	{
		sliced_list_find_end(&list->list, at, read_list, content, &end);
		return end;
	}
	now.end += now.delta;
	sliced_list_find_end(&now, at, read_words, unconstify(char *, list->bytes), &end);
	return (end - now.delta) & SLICED_LIST_BITS;
}

/*
 * A list in the node's content has moved: add up to 'len' bytes of it, from its byte
 * 'at' on.  They are in 'item' from byte 'skip' on.  Returns how many have been
 * added.
 */
static uint32
add_list(Tree *t, Limb *limb, Limb *before, const LimbItem *list, uint32 at, const LimbItem *item,
		 uint32 skip, uint32 len)
{
	ListSource	source = {.tree = t, .limb = before, .start = list->start};
	uint32		n = Min(len, item->len - skip);
	bool		whole = n >= sizeof(SlicedListWord);
	LimbItem	part = *item;
	char	   *bytes;

	n = whole ? n - n % sizeof(SlicedListWord) : Min(len, sizeof(SlicedListWord));
	part.len = n;
	part.start += skip;
	part.is_list = true;
	whole &= n > COST_RUN + COST_LIST && item->branch != NULL &&
		!(item->is_list && skip % sizeof(SlicedListWord) != 0);
	if (whole)
	{
		uint32		end = list_find_end(list, at, &source);

		part.list = sliced_list_rest(&list->list, at, end);
		if (item->is_list)
		{
			/* a list that has moved before moves once, from its first place */
			part.list.end = item_list_rest(t, item, skip).end;
			part.list.delta = (item->list.delta + list->list.delta) & SLICED_LIST_BITS;
			/*
			 * But if bytes in front have got longer meanwhile, and the value of the
			 * first end shorter by as much, that word has another length than in the
			 * old list.
			 */
			if (((part.list.end + item->list.delta - end) & SLICED_LIST_BITS) != 0)
			{
				whole = false;
				n = Min(n, SLICED_LIST_STRIDE * sizeof(SlicedListWord));
			}
		}
	}
	if (whole)
	{
		limb_add(limb, &part);
		return n;
	}
	bytes = palloc(n);
	if (list->bytes != NULL)
		memcpy(bytes, list->bytes + at, n);
	else
		sliced_list_read(&list->list, at, n, bytes, read_list, &source);
	limb_add(limb, &(LimbItem) {.bytes = bytes, .len = n});
	return n;
}

/*
 * Change the node's content to 'edits'.  Their runs of branch 'self' are runs of the
 * old content, and ascend.
 */
void
limb_apply(Tree *t, Limb *limb, const LimbItem *edits, int nedits, const Branch *self)
{
	Limb		before = *limb;
	LimbItem   *old = limb->items;
	int			nold = limb->nitems;
	uint32	   *dropped = palloc((nold + 1) * sizeof(uint32));
	int			at = 0;
	uint32		begin = 0;		/* of item 'at' in the old content */

	for (int i = 0; i < nold; i++)
		dropped[i] = old[i].len;
	limb_clear(limb);
	for (int i = 0; i < nedits; i++)
	{
		uint32		start = edits[i].start;
		uint32		left = edits[i].len;

		CHECK_FOR_INTERRUPTS();
		if (edits[i].branch != self)
		{
			limb_add(limb, &edits[i]);
			continue;
		}
		while (left > 0)
		{
			uint32		skip = start - begin;
			uint32		n;

			Assert(start >= begin);
			if (skip >= old[at].len)
			{
				begin += old[at].len;
				at++;
				continue;
			}
			n = Min(left, old[at].len - skip);
			if (edits[i].is_list)
				n = add_list(t, limb, &before, &edits[i], edits[i].len - left, &old[at], skip, left);
			else
				limb_add_part(t, limb, &old[at], skip, n);
			dropped[at] -= Min(n, dropped[at]);
			start += n;
			left -= n;
		}
	}
	for (int i = 0; i < nold; i++)
		if (old[i].branch != NULL && dropped[i] > t->limits->longest)
			old[i].branch->trimmed = true;
	pfree(dropped);
	move_long_literals(t, limb);
}
