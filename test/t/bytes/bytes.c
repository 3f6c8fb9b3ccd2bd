/*
 * bytes.c
 *	  For tests: rows as they are on their pages, to be looked at and changed there.
 *
 * Nothing of this is transactional, and nothing is logged.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "fmgr.h"
#include "format/checksum.h"
#include "format/row.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;

/* The row at 'tid', with its page locked; '*len' is its length, header included. */
static char *
row_lock(Relation rel, ItemPointer tid, Buffer *buffer, uint32 *len)
{
	Page		page;
	ItemId		item;

	*buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));
	LockBuffer(*buffer, BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(*buffer);
	item = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));
	if (!ItemIdIsNormal(item))
		elog(ERROR, "no row there");
	*len = ItemIdGetLength(item);
	return (char *) PageGetItem(page, item);
}

static void
row_unlock(Relation rel, Buffer buffer)
{
	UnlockReleaseBuffer(buffer);
	relation_close(rel, AccessShareLock);
}

PG_FUNCTION_INFO_V1(row_bytes);

/* row_bytes(rel regclass, row tid): all bytes of a row, its header included. */
Datum
row_bytes(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer;
	uint32		len;
	char	   *row = row_lock(rel, (ItemPointer) PG_GETARG_POINTER(1), &buffer, &len);
	bytea	   *result = palloc(VARHDRSZ + len);

	SET_VARSIZE(result, VARHDRSZ + len);
	memcpy(VARDATA(result), row, len);
	row_unlock(rel, buffer);
	PG_RETURN_BYTEA_P(result);
}

PG_FUNCTION_INFO_V1(row_poke);

/* row_poke(rel regclass, row tid, at int, bytes bytea): put these bytes at byte 'at' of a row. */
Datum
row_poke(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	uint32		at = PG_GETARG_INT32(2);
	bytea	   *bytes = PG_GETARG_BYTEA_PP(3);
	Buffer		buffer;
	uint32		len;
	char	   *row = row_lock(rel, (ItemPointer) PG_GETARG_POINTER(1), &buffer, &len);

	if ((uint64) at + VARSIZE_ANY_EXHDR(bytes) > len)
		elog(ERROR, "the row ends before that");
	memcpy(row + at, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	MarkBufferDirty(buffer);
	row_unlock(rel, buffer);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(forge);

/* forge(data bytea, chunk_id oid, chunk_seq int): the same with the checksum that a reader expects there. */
Datum
forge(PG_FUNCTION_ARGS)
{
	bytea	   *result = PG_GETARG_BYTEA_P_COPY(0);
	char	   *data = VARDATA(result);
	uint32		end = VARSIZE(result) - VARHDRSZ;
	uint64		place = ((uint64) PG_GETARG_OID(1) << 32) | (uint32) PG_GETARG_INT32(2);
	uint32		sum;
	char	   *to = data;

	if (end < SLICED_TAIL_OVERHEAD)
		PG_RETURN_BYTEA_P(result);
	if (data[4] == ((SLICED_FORMAT_VERSION << 4) | SLICED_ROW_TAIL))
	{
		/* it stands behind the data, and has one byte behind it */
		while (end > SLICED_TAIL_OVERHEAD && data[end - 1] == 0)
			end--;
		end -= 5;
		to = data + end;
	}
	sum = sliced_checksum(data + 4, end - 4, place);
	memcpy(to, &sum, sizeof(sum));
	PG_RETURN_BYTEA_P(result);
}
