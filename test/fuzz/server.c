/*
 * server.c
 *	  As much of a server as decoders need.
 *
 * Every allocation is one of malloc's, so that the sanitizer sees every step too far.
 */
#include "postgres.h"

#include <setjmp.h>

#include "base/counters.h"
#include "format/checksum.h"
#include "format/row.h"
#include "miscadmin.h"
#include "server.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

/* More memory is an error: no input is longer than 64 kB, or claims more than 1 MB. */
#define ENOUGH	(256 * 1024 * 1024)

typedef struct Chunk
{
	struct Chunk *next;
	struct Chunk *prev;
	Size		size;
	uint64		padding;
} Chunk;

static Chunk chunks = {&chunks, &chunks};
static Size total;

MemoryContext CurrentMemoryContext = (MemoryContext) &chunks;
MemoryContext TopMemoryContext = (MemoryContext) &chunks;
sigjmp_buf *PG_exception_stack;
ErrorContextCallback *error_context_stack;
volatile sig_atomic_t InterruptPending;

void *
palloc_extended(Size size, int flags)
{
	Chunk	   *chunk;

	if (!(flags & MCXT_ALLOC_HUGE) && !AllocSizeIsValid(size))
		siglongjmp(*PG_exception_stack, 1);
	total += size;
	if (total > ENOUGH)
	{
		fprintf(stderr, "%zu bytes of memory\n", total);
		abort();
	}
	chunk = malloc(sizeof(Chunk) + size);
	chunk->size = size;
	chunk->next = chunks.next;
	chunk->prev = &chunks;
	chunk->next->prev = chunks.next = chunk;
	if (flags & MCXT_ALLOC_ZERO)
		memset(chunk + 1, 0, size);
	return chunk + 1;
}

void
pfree(void *pointer)
{
	Chunk	   *chunk = (Chunk *) pointer - 1;

	chunk->next->prev = chunk->prev;
	chunk->prev->next = chunk->next;
	total -= chunk->size;
	free(chunk);
}

void *
repalloc_huge(void *pointer, Size size)
{
	void	   *new = palloc_extended(size, MCXT_ALLOC_HUGE);

	memcpy(new, pointer, Min(size, ((Chunk *) pointer - 1)->size));
	pfree(pointer);
	return new;
}

void *
repalloc(void *pointer, Size size)
{
	return repalloc_huge(pointer, size);
}

void *
palloc(Size size)
{
	return palloc_extended(size, 0);
}

void *
palloc0(Size size)
{
	return palloc_extended(size, MCXT_ALLOC_ZERO);
}

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	return palloc(size);
}

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	return palloc0(size);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return palloc_extended(size, MCXT_ALLOC_HUGE);
}

void *
MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	return palloc_extended(size, flags);
}

char *
pstrdup(const char *in)
{
	return strcpy(palloc(strlen(in) + 1), in);
}

bool
errstart(int elevel, const char *domain)
{
	if (elevel >= ERROR)
		siglongjmp(*PG_exception_stack, 1);
	return false;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

void
pg_re_throw(void)
{
	siglongjmp(*PG_exception_stack, 1);
}

void
ProcessInterrupts(void)
{
}

void
check_stack_depth(void)
{
}

/* No target reads the counters. */
uint64 sliced_counts[SLICED_N_COUNTERS];

instr_time
sliced_reading_begin(void)
{
	return (instr_time) {0};
}

void
sliced_reading_end(Oid toastrelid, instr_time began, bool core)
{
}

bool
server_run(void (*function) (void *arg), void *arg)
{
	sigjmp_buf	here;
	volatile bool fine = false;

	PG_exception_stack = &here;
	if (sigsetjmp(here, 0) == 0)
	{
		function(arg);
		fine = true;
	}
	while (chunks.next != &chunks)
		pfree(chunks.next + 1);
	return fine;
}

void
correct_checksum(char *row, uint32 len, uint32 objid, int32 seq)
{
	uint64		place = ((uint64) objid << 32) | (uint32) seq;
	uint32		end = len;
	uint32		sum;

	if (len < 4)
		return;
	if (len <= 4 || row[4] != ((SLICED_FORMAT_VERSION << 4) | SLICED_ROW_TAIL))
	{
		sum = sliced_checksum(row + 4, len - 4, place);
		memcpy(row, &sum, sizeof(sum));
		return;
	}
	/* a tail has its checksum behind its data */
	while (end > 0 && row[end - 1] == 0)
		end--;
	if (end < SLICED_TAIL_OVERHEAD)
		return;
	memset(row, 0, 4);
	sum = sliced_checksum(row + 4, end - 5 - 4, place);
	memcpy(row + end - 5, &sum, sizeof(sum));
}

uint32
getJsonbOffset(const JsonbContainer *jc, int index)
{
	uint32		offset = 0;

	for (int i = index - 1; i >= 0; i--)
	{
		offset += JBE_OFFLENFLD(jc->children[i]);
		if (JBE_HAS_OFF(jc->children[i]))
			break;
	}
	return offset;
}

uint32
getJsonbLength(const JsonbContainer *jc, int index)
{
	uint32		field = JBE_OFFLENFLD(jc->children[index]);

	return JBE_HAS_OFF(jc->children[index]) ? field - getJsonbOffset(jc, index) : field;
}
