/*
 * advice.c
 *	  Advice on a table: what to do, in SQL, and what it will bring; or to leave the
 *	  table.
 */
#include "postgres.h"

#include "advise/advice.h"
#include "base/identity.h"
#include "base/pretty.h"
#include "base/settings.h"
#include "catalog/pg_class.h"
#include "codec/codec.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* A choice that saves less than this part is not worth the trouble ... */
#define WORTH_IT		0.10

/* ... and one that saves less than this part more is not worth slower reads. */
#define MUCH_BETTER		0.10

/*
 * The table is reported if it takes this many times what it would take written anew
 * ...
 */
#define MUCH_SPACE		1.3

/* ... and at least this many bytes more. */
#define MANY_BYTES		(1024 * 1024)

/* A value of this length is near PostgreSQL's limit; this many ids are near theirs. */
#define NEAR_LIMIT		(512.0 * 1024 * 1024)
#define NEAR_LAST_ID	(PG_UINT32_MAX / 2)

/* A column is mentioned if it takes at least this part of the values' bytes. */
#define SHARE_OF_COLUMN	0.1

typedef struct Advice
{
	const SlicedUsage *usage;
	const SlicedEstimate *e;
	Relation	rel;
	bool		is_ours;
	const char *qualified;		/* qualified name of the table */
	const char *name;			/* the same as a literal */
	List	   *rows;			/* SlicedAdvice */
} Advice;

/*
 * Add a row.  'attno' 0: on the whole table.  'now' and 'then' are bytes, 0: not
 * known.
 */
static SlicedAdvice *
say(Advice *a, int attno, const char *topic, const char *text, double now, double then,
	const char *sql)
{
	SlicedAdvice *row = palloc(sizeof(SlicedAdvice));

	*row = (SlicedAdvice) {attno, topic, text, now, then, sql};
	if (attno != 0)
		row->col = pstrdup(NameStr(TupleDescAttr(RelationGetDescr(a->rel), attno - 1)->attname));
	a->rows = lappend(a->rows, row);
	return row;
}

/* ---- choices ---- */

/* Rank how slow outside values are to read: less is better, as we have measured it. */
static int
slowness(const SlicedChoice *choice)
{
	return (choice->codec == SLICED_CODEC_ZSTD ? 2 : 0) + choice->dictionary +
		(choice->level > sliced_zstd_level ? 2 : 0);
}

/* True if a label says that a column's values shall not be copied to a dictionary. */
static bool
forbids_dictionary(Relation rel)
{
	for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
	{
		SlicedColumnSources from;

		if (TupleDescAttr(RelationGetDescr(rel), i)->attisdropped)
			continue;
		if (sliced_column_explain(rel, i + 1, &from).dictionary == SLICED_DICTIONARY_OFF &&
			from.dictionary_from.origin != SLICED_FROM_DEFAULT)
			return true;
	}
	return false;
}

/*
 * Return the choice that is fastest to read among those about as small as the
 * smallest; NULL if there is none.  Looks at choices with a target, or at those
 * without.
 */
static const SlicedEstimated *
best_choice(const Advice *a, bool with_target)
{
	const SlicedEstimate *e = a->e;
	bool		may_train = !forbids_dictionary(a->rel);
	const SlicedEstimated *best = NULL;
	double		smallest = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < e->nchoices; i++)
		{
			const SlicedEstimated *this = &e->choices[i];

			/* a table that uses pglz has no reason to ask for it */
			if (this->choice.codec == SLICED_CODEC_PGLZ || with_target != (this->choice.target != 0) ||
				(this->choice.dictionary && !may_train))
				continue;
			if (pass == 0)
				smallest = smallest == 0 ? this->bytes : Min(smallest, this->bytes);
			else if (this->bytes * (1 - MUCH_BETTER) <= smallest &&
					 (best == NULL || slowness(&this->choice) < slowness(&best->choice)))
				best = this;
		}
	return best;
}

/* True if the column's STORAGE forbids compressing its values. */
static bool
is_uncompressed(Relation rel, int i)
{
	SlicedColumnSources from;

	(void) sliced_column_explain(rel, i + 1, &from);
	return from.codec_from.origin == SLICED_FROM_STORAGE;
}

/* The column with most bytes that can be compressed; 0 if no column has any. */
static int
main_column(const SlicedEstimate *e)
{
	int			most = 0;

	for (int i = 0; i < RelationGetDescr(e->rel)->natts; i++)
	{
		if (e->columns[i].raw == 0 || (most > 0 && e->columns[i].raw <= e->columns[most - 1].raw))
			continue;
		if (!is_uncompressed(e->rel, i))
			most = i + 1;
	}
	return most;
}

const SlicedEstimated *
sliced_present_choice(const SlicedEstimate *e)
{
	int			attno = main_column(e);
	SlicedCompression present;

	if (!sliced_is_ours(e->rel) || attno == 0)
		return NULL;
	present = sliced_column(e->rel, attno).compression;
	for (int i = 0; i < e->nchoices; i++)
	{
		const SlicedChoice *choice = &e->choices[i].choice;

		if (choice->codec == present.codec && choice->target == 0 &&
			(choice->level == 0 || choice->level == present.level) &&
			choice->dictionary == (present.dictionary.id != 0))
			return &e->choices[i];
	}
	return NULL;
}

static char *
describe(const SlicedChoice *choice)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, sliced_codec_get(choice->codec)->name);
	if (choice->level > sliced_zstd_level)
		appendStringInfo(&text, " of level %d", choice->level);
	if (choice->dictionary)
		appendStringInfoString(&text, " with a dictionary");
	return text.data;
}

/* ---- SQL ---- */

/* Set the column's options to the choice; keep those of its label that stand beside it. */
static void
add_label(StringInfo sql, const Advice *a, int i, const SlicedChoice *choice)
{
	SlicedColumnSources from;
	SlicedColumn column = sliced_column_explain(a->rel, i + 1, &from);
	int			level;

	appendStringInfo(sql, "SELECT sliced.alter_column(%s, %s, '", a->name,
					 quote_literal_cstr(NameStr(TupleDescAttr(RelationGetDescr(a->rel), i)->attname)));
	if (from.toaster_from.origin == SLICED_FROM_COLUMN_LABEL)
		appendStringInfo(sql, "toaster=%s, ", NameStr(from.toaster));
	appendStringInfo(sql, "compression=%s", sliced_codec_get(choice->codec)->name);
	level = choice->level > sliced_zstd_level ? choice->level : 0;
	if (choice->codec == SLICED_CODEC_ZSTD && from.level_from.origin == SLICED_FROM_COLUMN_LABEL)
		level = Max(level, column.compression.level);
	if (level > 0)
		appendStringInfo(sql, ", level=%d", level);
	if (from.dictionary_from.origin == SLICED_FROM_COLUMN_LABEL && column.dictionary != SLICED_DICTIONARY_AUTO)
		appendStringInfo(sql, ", dictionary=%s", column.dictionary == SLICED_DICTIONARY_OFF ? "off" : "on");
	else if (choice->dictionary || from.dictionary_from.origin == SLICED_FROM_COLUMN_LABEL)
		appendStringInfoString(sql, ", dictionary=auto");
	appendStringInfoString(sql, "');\n");
}

/* ALTER, and the table's kind and name. */
static char *
alter(const Advice *a)
{
	return psprintf("ALTER %s %s", a->rel->rd_rel->relkind == RELKIND_MATVIEW ? "MATERIALIZED VIEW" : "TABLE",
					a->qualified);
}

/* The SQL that leads to this choice. */
static char *
way_to(const Advice *a, const SlicedEstimated *to)
{
	StringInfoData sql;
	double		all = 0;

	initStringInfo(&sql);
	if (!a->is_ours)
		appendStringInfo(&sql, "SELECT sliced.adopt(%s);\n", a->name);
	if (to->choice.target != 0)
		appendStringInfo(&sql, "%s SET (toast_tuple_target = %d);\n", alter(a), to->choice.target);
	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
		all += to->column_bytes[i];
	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
		if (to->column_bytes[i] >= SHARE_OF_COLUMN * all && !is_uncompressed(a->rel, i))
			add_label(&sql, a, i, &to->choice);
	if (to->choice.dictionary)
		appendStringInfo(&sql, "SELECT * FROM sliced.train(%s);\n", a->name);
	appendStringInfo(&sql, "VACUUM (FULL, ANALYZE) %s;  -- locks the table; sliced.convert() does not, and leaves the space to new rows",
					 a->qualified);
	return sql.data;
}

/* ---- the advice ---- */

double
sliced_written_anew(const SlicedEstimate *e)
{
	const SlicedEstimated *present = sliced_present_choice(e);
	double		anew = present != NULL ? present->bytes : e->as_heap;

	return anew > 0 ? Min(anew, e->bytes) : e->bytes;
}

/* Advise other settings if they make the table smaller. */
static void
advise_storage(Advice *a)
{
	const SlicedEstimate *e = a->e;
	const SlicedEstimated *best = best_choice(a, false);
	const SlicedEstimated *best_short = best_choice(a, true);
	double		least = sliced_written_anew(e);
	bool		said;

	if (best == NULL)
		return;
	/* compare with the table written anew: advise_space() reports what is empty */
	said = best->bytes <= least * (1 - WORTH_IT);
	if (said)
	{
		say(a, 0, "storage",
			psprintf("%s takes %s instead of %s%s", describe(&best->choice),
					 sliced_pretty_bytes(best->bytes), sliced_pretty_bytes(least),
					 least < e->bytes * (1 - WORTH_IT) ? ", to which VACUUM FULL alone would bring it" : ""),
			e->bytes, best->bytes, way_to(a, best));
		least = best->bytes;
	}
	if (best_short != NULL && best_short->bytes <= least * (1 - WORTH_IT))
		say(a, 0, "short rows",
			psprintf("%s%s takes %s if short values are moved out of their rows as well; scans that read them are slower then, others faster",
					 said ? "or instead of that, " : "",
					 describe(&best_short->choice), sliced_pretty_bytes(best_short->bytes)),
			e->bytes, best_short->bytes, way_to(a, best_short))->is_variant = said;
}

/* Report if much of the table is free, dead or in core's format. */
static void
advise_space(Advice *a)
{
	const SlicedEstimate *e = a->e;
	double		least = sliced_written_anew(e);

	if (a->is_ours && e->core_outside > WORTH_IT * e->bytes)
		say(a, 0, "convert",
			psprintf("%s of values are in the format of heap, from before the table was adopted",
					 sliced_pretty_bytes(e->core_outside)),
			e->core_outside, 0, psprintf("CALL sliced.convert(%s);", a->name));
	if (e->bytes > MUCH_SPACE * least && e->bytes - least > MANY_BYTES)
		say(a, 0, "space",
			psprintf("about %s is free, dead, fragments, or what values take that were stored with other settings: VACUUM FULL gives it back, and locks the table%s",
					 sliced_pretty_bytes(e->bytes - least),
					 a->is_ours ? "; sliced.convert() does not, and stores old values as new ones would be" : ""),
			e->bytes, least, psprintf("VACUUM (FULL, ANALYZE) %s;", a->qualified));
}

/* Report if statements read or change parts of values. */
static void
advise_parts(Advice *a)
{
	const SlicedEstimate *e = a->e;

	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
	{
		const SlicedEstimateColumn *column = &e->columns[i];
		SlicedUsed	used;

		if (a->is_ours || column->outside == 0)
			continue;
		used = sliced_usage_of(a->usage, RelationGetRelid(a->rel), i + 1);
		if (used.reads + used.changes == 0)
			continue;
		say(a, i + 1, "parts",
			psprintf("parts of values have been read %s and changed %s, in %s%s; of %s of %s on average %s are outside their rows, where only the part would be read or written; most of the time: %s",
					 sliced_pretty_times(used.reads), sliced_pretty_times(used.changes), sliced_pretty_time(used.ms),
					 used.wal > 0 ? psprintf(" and with %s of WAL", sliced_pretty_bytes(used.wal)) : "",
					 sliced_pretty_count(column->values, "value"),
					 sliced_pretty_bytes(column->raw / Max(column->values, 1)),
					 sliced_pretty_number(column->outside), used.longest),
			0, 0, psprintf("SELECT sliced.adopt(%s);", a->name));
	}
}

/* Report columns whose STORAGE forbids compressing what could be compressed. */
static void
advise_external(Advice *a)
{
	const SlicedEstimate *e = a->e;

	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
	{
		const SlicedEstimateColumn *column = &e->columns[i];
		const char *name = NameStr(TupleDescAttr(RelationGetDescr(a->rel), i)->attname);
		StringInfoData sql;
		double		saves;

		if (column->external_raw == 0)
			continue;
		saves = column->raw * column->external_len / column->tried_raw * (1 - column->external_lz4 / column->external_raw);
		if (saves < WORTH_IT * e->bytes || saves > e->bytes)
			continue;
		initStringInfo(&sql);
		if (!a->is_ours)
			appendStringInfo(&sql, "SELECT sliced.adopt(%s);\n", a->name);
		/* children keep theirs */
		appendStringInfo(&sql, "%s ALTER COLUMN %s SET STORAGE EXTENDED;\n",
						 a->rel->rd_rel->relkind == RELKIND_MATVIEW ? alter(a) : psprintf("ALTER TABLE ONLY %s", a->qualified),
						 quote_identifier(name));
		add_label(&sql, a, i, &(SlicedChoice) {SLICED_CODEC_LZ4});
		appendStringInfo(&sql, "VACUUM (FULL, ANALYZE) %s;  -- locks the table", a->qualified);
		say(a, i + 1, "external",
			psprintf("STORAGE EXTERNAL keeps the column's values uncompressed; lz4 would make them %.1f times shorter, and parts could still be read and written alone",
					 column->external_raw / Max(column->external_lz4, 1)),
			e->bytes, e->bytes - saves, sql.data);
	}
}

/* Report a value, or ids, near the limit. */
static void
advise_limits(Advice *a)
{
	double		outside = 0;

	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
	{
		const SlicedEstimateColumn *column = &a->e->columns[i];

		outside += column->outside;
		if (column->longest >= NEAR_LIMIT)
			say(a, i + 1, "limit",
				psprintf("a value has %s: none can have more than 1 GB", sliced_pretty_bytes(column->longest)),
				column->longest, 0, NULL);
	}
	if (outside >= NEAR_LAST_ID)
		say(a, 0, "ids",
			psprintf("%s are outside their rows; a table has ids for 4,294,967,296, and looks longer and longer for a free one: partition it",
					 sliced_pretty_count(outside, "value")),
			0, 0, NULL);
}

/* There is no other advice: say why to leave the table. */
static void
advise_to_leave(Advice *a)
{
	const SlicedEstimate *e = a->e;
	const SlicedEstimated *best = best_choice(a, false);
	double		outside = 0;

	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
		outside += e->columns[i].outside;
	if (!a->is_ours && outside > 0 && !a->usage->known)
		say(a, 0, "leave",
			psprintf("leave it, unless statements read or change parts of the %s outside their rows: pg_stat_statements would tell",
					 sliced_pretty_count(outside, "value")),
			e->bytes, best == NULL ? 0 : best->bytes, NULL);
	else
		say(a, 0, "leave",
			e->raw == 0 ? "leave it: there is nothing that could be stored otherwise" :
			outside == 0 ? "leave it: all values are in their rows, and would stay there" :
			"leave it: other settings would save less than a tenth",
			e->bytes, best == NULL ? 0 : best->bytes, NULL);
}

List *
sliced_advice(const SlicedEstimate *e, const SlicedUsage *usage)
{
	Advice		a = {
		.usage = usage,
		.e = e,
		.rel = e->rel,
		.is_ours = sliced_is_ours(e->rel),
		.qualified = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(e->rel)),
												RelationGetRelationName(e->rel))
	};

	a.name = quote_literal_cstr(a.qualified);
	advise_storage(&a);
	advise_space(&a);
	advise_external(&a);
	advise_parts(&a);
	advise_limits(&a);
	if (a.rows == NIL)
		advise_to_leave(&a);
	return a.rows;
}
