/*
 * trial.c
 *	  Computes what rows would take if they were stored otherwise.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/itup.h"
#include "base/limits.h"
#include "base/options.h"
#include "learn/trial.h"
#include "row/state.h"
#include "row/toast.h"
#include "utils/memutils.h"

/*
 * An entry of the toast relation's index and its line pointer, on pages that are
 * filled to 90 %.
 */
#define INDEX_ENTRY		((MAXALIGN(sizeof(IndexTupleData) + 8) + sizeof(ItemIdData)) / 0.9)

double
sliced_tally_bytes(const SlicedTally *tally)
{
	return sliced_packing_bytes(&tally->pages) + tally->pages.nrows * INDEX_ENTRY;
}

void
sliced_trial_begin(SlicedTrial *trial, Relation rel, const SlicedChoice *choice,
				   SlicedDictionary **dictionaries)
{
	int			natts = RelationGetDescr(rel)->natts;

	memset(trial, 0, sizeof(*trial));
	trial->rel = rel;
	trial->choice = *choice;
	trial->columns = palloc0(natts * sizeof(SlicedColumn));
	trial->takes = palloc0(natts * sizeof(SlicedTrialColumn));
	trial->writer = sliced_writer_open_tally(&trial->tally);
	trial->mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced trial",
										ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);
		SlicedColumnSources from;
		SlicedColumn *column = &trial->columns[i];

		if (att->attisdropped || att->attlen != -1)
			continue;
		*column = sliced_column_explain(rel, i + 1, &from);
		memset(&column->compression.dictionary, 0, sizeof(SlicedDictionaryName));
		if (from.codec_from.origin == SLICED_FROM_STORAGE)
			continue;
		column->compression.codec = choice->codec;
		column->compression.level = choice->level;
		if (choice->dictionary && dictionaries[i] != NULL)
		{
			column->compression.tried = dictionaries[i];
			column->compression.dictionary.id = 1;	/* any name: it is never looked up */
		}
	}
}

static bool
has_dictionary(const SlicedTrial *trial)
{
	for (int i = 0; i < RelationGetDescr(trial->rel)->natts; i++)
		if (trial->columns[i].compression.tried != NULL)
			return true;
	return false;
}

/*
 * Hand a draft to the writer.  If it is a part of a value, the rest takes 'times' as
 * much.
 */
static void
write_draft(SlicedTrial *trial, int i, const SlicedDraft *draft, double times)
{
	SlicedTally *tally = &trial->tally;
	SlicedTally before = *tally;
	double		takes;

	sliced_writer_add(trial->writer, 1, draft);
	takes = tally->pages.nbytes - before.pages.nbytes +
		(tally->pages.nrows - before.pages.nrows) * INDEX_ENTRY;
	trial->far += takes * (times - 1);
	trial->takes[i].stored += takes * times;
	trial->takes[i].read_bytes += tally->read_bytes - before.read_bytes;
	trial->takes[i].read_seconds += INSTR_TIME_GET_DOUBLE(tally->read_time) -
		INSTR_TIME_GET_DOUBLE(before.read_time);
}

/* Try a long value; the caller has only its first part. */
static void
try_long_value(SlicedTrial *trial, int i, Datum value, uint64 len)
{
	SlicedPolicy as_it_is = {0};
	uint32		part = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	SlicedDraft draft;

	sliced_draft_final(&draft, VARDATA_ANY(DatumGetPointer(value)), part,
					   trial->columns[i].compression, &as_it_is);
	write_draft(trial, i, &draft, (double) len / part);
}

/* The row's state as row/toast.c has it before it shortens the row. */
static void
begin_state(SlicedRowState *state, SlicedTrial *trial, const SlicedTrialRow *row)
{
	TupleDesc	desc = RelationGetDescr(trial->rel);

	memset(state, 0, sizeof(*state));
	state->rel = trial->rel;
	state->desc = desc;
	state->values = palloc(desc->natts * sizeof(Datum));
	state->isnull = row->isnull;
	state->cols = palloc0(desc->natts * sizeof(SlicedRowColumn));
	memcpy(state->values, row->values, desc->natts * sizeof(Datum));
	state->hoff = SizeofHeapTupleHeader;
	for (int i = 0; i < desc->natts; i++)
	{
		state->cols[i].options = trial->columns[i];
		if (row->isnull[i])
			state->hoff = SizeofHeapTupleHeader + BITMAPLEN(desc->natts);
	}
	state->hoff = MAXALIGN(state->hoff);
	for (int i = 0; i < desc->natts; i++)
		if (row->long_len[i] != 0)
			sliced_row_reserve_pointer(state, i, 0);
}

/* Shorten the row to the length that it should have. */
static void
shrink(SlicedTrial *trial, SlicedRowState *state)
{
	Size		size = sliced_row_state_size(state);

	state->is_short = !state->has_external && size <= SLICED_ROW_OVERSIZED;
	if (state->is_short &&
		(size <= RelationGetToastTupleTarget(trial->rel, SLICED_ROW_OVERSIZED) || !has_dictionary(trial)))
		return;
	sliced_row_shrink(state);
}

static void
try_row(SlicedTrial *trial, const SlicedTrialRow *row)
{
	SlicedRowState state;

	begin_state(&state, trial, row);
	if (trial->choice.target == 0)
		shrink(trial, &state);
	else
	{
		SLICED_OPTION_BEGIN(trial->rel, toast_tuple_target, trial->choice.target);
		shrink(trial, &state);
		SLICED_OPTION_END();
	}
	for (int i = 0; i < state.desc->natts; i++)
	{
		if (row->isnull[i] || TupleDescAttr(state.desc, i)->attlen != -1)
			continue;
		if (row->long_len[i] != 0)
			try_long_value(trial, i, row->values[i], row->long_len[i]);
		else if (state.cols[i].external)
			write_draft(trial, i, state.cols[i].draft, 1);
		trial->takes[i].stored += VARSIZE_ANY(DatumGetPointer(state.values[i]));
	}
	sliced_packing_add(&trial->rows, sliced_row_state_size(&state));
}

void
sliced_trial_row(SlicedTrial *trial, const SlicedTrialRow *row)
{
	MemoryContext old = MemoryContextSwitchTo(trial->mcxt);
	double		read_seconds = INSTR_TIME_GET_DOUBLE(trial->tally.read_time);
	instr_time	began;
	instr_time	ended;

	INSTR_TIME_SET_CURRENT(began);
	try_row(trial, row);
	INSTR_TIME_SET_CURRENT(ended);
	/* less the time that reading it back took */
	trial->write_seconds += INSTR_TIME_GET_DOUBLE(ended) - INSTR_TIME_GET_DOUBLE(began) -
		(INSTR_TIME_GET_DOUBLE(trial->tally.read_time) - read_seconds);
	MemoryContextSwitchTo(old);
	MemoryContextReset(trial->mcxt);
}
