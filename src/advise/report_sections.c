/*
 * report_sections.c
 *	  The sections of the page of sliced.report().
 */
#include "postgres.h"

#include "advise/html.h"
#include "advise/report.h"
#include "base/pretty.h"
#include "executor/spi.h"
#include "utils/builtins.h"

/* Only this many tables have sections of their own. */
#define TABLES_SHOWN	20

static void
heading(StringInfo page, const char *title, const char *note)
{
	appendStringInfoString(page, "<h2>");
	sliced_html_text(page, title);
	appendStringInfoString(page, "</h2>\n");
	if (note != NULL)
	{
		sliced_html_element(page, "p", "note", note);
		appendStringInfoChar(page, '\n');
	}
}

/* Begin the section of one table or column. */
static void
begin_item(StringInfo page, const char *name, const char *note)
{
	appendStringInfoString(page, "<section>\n<h3>");
	sliced_html_text(page, name);
	appendStringInfoString(page, "</h3>\n");
	if (note != NULL)
	{
		sliced_html_element(page, "p", "note", note);
		appendStringInfoChar(page, '\n');
	}
}

/* Append a line of a chart: a name, its bar, and the amount. */
static void
line(StringInfo page, const char *class, const char *name, const SlicedBarPart *parts, int n,
	 double full, const char *amount)
{
	appendStringInfo(page, "<div class=\"line%s%s\">", class != NULL ? " " : "", class != NULL ? class : "");
	sliced_html_element(page, "span", NULL, name);
	sliced_html_bar(page, parts, n, full);
	sliced_html_element(page, "b", NULL, amount);
	appendStringInfoString(page, "</div>\n");
}

static double
table_bytes(const SlicedReportTable *table)
{
	return table->rows + table->outside;
}

static const char *
method(const SlicedReportTable *table)
{
	return table->is_ours ? "sliced" : "heap";
}

static char *
percent(double part, double of)
{
	return of > 0 ? psprintf("%.0f %%", 100 * part / of) : "";
}

/* ---- summary ---- */

static void
figure(StringInfo page, const char *amount, const char *what)
{
	appendStringInfoString(page, "<div>");
	sliced_html_element(page, "b", NULL, amount);
	sliced_html_element(page, "span", NULL, what);
	appendStringInfoString(page, "</div>\n");
}

/* Say that figures are not those of all tables. */
static void
left_out(StringInfo page, const SlicedReport *report)
{
	if (report->left_out > 0)
		sliced_html_element(page, "p", "note",
							psprintf("%s not looked at: locked by another session, damaged, or the time was over. These figures leave that out.",
									 report->left_out == 1 ? "1 table was" : psprintf("%d tables were", report->left_out)));
}

void
sliced_report_summary(StringInfo page, const SlicedReport *report)
{
	double		now = 0;
	double		anew = 0;
	double		then = 0;
	int			ours = 0;
	ListCell   *lc;

	foreach(lc, report->tables)
	{
		const SlicedReportTable *table = lfirst(lc);

		now += table_bytes(table);
		anew += table->anew;
		then += table->then;
		ours += table->is_ours;
	}
	if (report->tables == NIL)
	{
		sliced_html_element(page, "p", NULL,
							"There is no table of 1 MB and more that you may read, or none was looked at in the time given.");
		left_out(page, report);
		return;
	}
	appendStringInfoString(page, "<div class=\"figures\">\n");
	figure(page, psprintf("%d", list_length(report->tables)),
		   psprintf("%s of 1 MB and more, %d of them sliced", list_length(report->tables) == 1 ? "table" : "tables", ours));
	figure(page, sliced_pretty_bytes(now), "is what they take, without indexes");
	figure(page, sliced_pretty_bytes(anew), "if VACUUM FULL wrote them anew as they are");
	figure(page, psprintf("%s, %s less", sliced_pretty_bytes(then), percent(now - then, now)),
		   "if the advice were followed");
	appendStringInfoString(page, "</div>\n");
	left_out(page, report);
}

/* ---- advice ---- */

static void
advice_row(StringInfo page, const SlicedAdvice *advice)
{
	appendStringInfo(page, "<div class=\"advice %s\">", advice->sql == NULL ? "leave" : "do");
	sliced_html_element(page, "span", "topic", advice->topic);
	appendStringInfoChar(page, ' ');
	if (advice->col != NULL)
		sliced_html_text(page, psprintf("%s: ", advice->col));
	sliced_html_text(page, advice->text);
	appendStringInfoString(page, ".\n");
	if (advice->sql != NULL && advice->now > 0 && advice->then > 0)
	{
		line(page, NULL, "now", &(SlicedBarPart) {advice->now, "now"}, 1, advice->now,
			 sliced_pretty_bytes(advice->now));
		line(page, NULL, "then", &(SlicedBarPart) {advice->then, "then"}, 1, advice->now,
			 sliced_pretty_bytes(advice->then));
	}
	if (advice->sql != NULL)
		sliced_html_element(page, "pre", NULL, advice->sql);
	appendStringInfoString(page, "</div>\n");
}

static bool
is_to_leave(const SlicedReportTable *table)
{
	return strcmp(((SlicedAdvice *) linitial(table->advice))->topic, "leave") == 0;
}

void
sliced_report_advice(StringInfo page, const SlicedReport *report)
{
	StringInfoData left;
	ListCell   *lc;
	ListCell   *row;

	heading(page, "What to do", "The SQL is for the table's owner. A table for which it says nothing is best left alone.");
	initStringInfo(&left);
	foreach(lc, report->tables)
	{
		const SlicedReportTable *table = lfirst(lc);

		if (is_to_leave(table))
		{
			appendStringInfo(&left, "%s%s", left.len > 0 ? ", " : "", table->name);
			continue;
		}
		begin_item(page, table->name, psprintf("%s, %s", method(table),
											   sliced_pretty_bytes(table_bytes(table))));
		foreach(row, table->advice)
			advice_row(page, lfirst(row));
		appendStringInfoString(page, "</section>\n");
	}
	if (left.len > 0)
		sliced_html_element(page, "p", NULL, psprintf("To leave as they are: %s.", left.data));
	if (!report->usage->known)
		sliced_html_element(page, "p", "note",
							"Which statements read or change parts of values is not known: the extension pg_stat_statements is not there, or you may not ask it.");
}

/* ---- tables ---- */

static void
cell(StringInfo page, const char *text)
{
	sliced_html_element(page, "td", NULL, text);
}

static void
table_row(StringInfo page, const SlicedReportTable *table, double full)
{
	SlicedBarPart parts[] = {{table->rows, "rows"}, {table->outside, "outside"}, {table->indexes, "indexes"}};

	appendStringInfoString(page, "<tr>");
	sliced_html_element(page, "th", NULL, table->name);
	cell(page, method(table));
	appendStringInfoString(page, "<td class=\"chart\">");
	sliced_html_bar(page, parts, lengthof(parts), full);
	appendStringInfoString(page, "</td>");
	cell(page, sliced_pretty_bytes(table->rows));
	cell(page, sliced_pretty_bytes(table->outside));
	cell(page, sliced_pretty_bytes(table->indexes));
	cell(page, sliced_pretty_number(table->nrows));
	cell(page, sliced_pretty_bytes(table->raw));
	cell(page, percent(table->dead, table->dead + table->live));
	appendStringInfoString(page, "</tr>\n");
}

void
sliced_report_tables(StringInfo page, const SlicedReport *report)
{
	static const char *const names[] = {"rows", "large values, outside of them", "indexes"};
	SlicedBarPart kinds[] = {{0, "rows"}, {0, "outside"}, {0, "indexes"}};
	double		full = 0;
	ListCell   *lc;

	if (report->tables == NIL)
		return;
	heading(page, "Where the space is", NULL);
	sliced_html_legend(page, kinds, names, lengthof(names));
	foreach(lc, report->tables)
	{
		const SlicedReportTable *table = lfirst(lc);

		full = Max(full, table_bytes(table) + table->indexes);
	}
	appendStringInfoString(page, "<div class=\"wide\"><table>\n<tr><th>table</th><td></td><td></td><td>rows</td>"
						   "<td>outside</td><td>indexes</td><td>rows, about</td><td>values without compression</td>"
						   "<td>dead outside</td></tr>\n");
	foreach(lc, report->tables)
		table_row(page, lfirst(lc), full);
	appendStringInfoString(page, "</table></div>\n");
}

/* ---- choices ---- */

void
sliced_report_choices(StringInfo page, const SlicedReport *report)
{
	int			left = TABLES_SHOWN;
	ListCell   *lc;

	heading(page, "What tables would take",
			"As they are; then written anew with each codec, and with a dictionary where one is worth it. Marked: what new values get now. Short rows too: with toast_tuple_target 128. MB/s: values that one core decompresses, outside of rows.");
	foreach(lc, report->tables)
	{
		const SlicedReportTable *table = lfirst(lc);
		double		now = table_bytes(table);
		double		full = now;

		if (table->nchoices == 0 || left-- == 0)
			continue;
		begin_item(page, table->name, NULL);
		for (int i = 0; i < table->nchoices; i++)
			full = Max(full, table->choices[i].bytes);
		line(page, NULL, psprintf("now, %s", method(table)), &(SlicedBarPart) {now, "now"}, 1, full,
			 sliced_pretty_bytes(now));
		for (int i = 0; i < table->nchoices; i++)
		{
			const SlicedReportChoice *choice = &table->choices[i];

			line(page, choice->is_present ? "present" : NULL, choice->name,
				 &(SlicedBarPart) {choice->bytes, "then"}, 1, full,
				 psprintf("%s, %s%s", sliced_pretty_bytes(choice->bytes), percent(choice->bytes, now),
						  choice->read_rate > 0 ? psprintf(", %.0f MB/s", choice->read_rate / 1e6) : ""));
		}
		appendStringInfoString(page, "</section>\n");
	}
}

/* ---- inside and outside ---- */

void
sliced_report_places(StringInfo page, const SlicedReport *report)
{
	static const char *const names[] = {"in their rows", "outside"};
	SlicedBarPart kinds[] = {{0, "rows"}, {0, "outside"}};
	int			left = TABLES_SHOWN;
	ListCell   *lc;

	heading(page, "What is in rows, and what is outside",
			"Bytes of values without compression. Long values are moved out of rows that would be longer than toast_tuple_target, 2 kB by default.");
	sliced_html_legend(page, kinds, names, lengthof(names));
	foreach(lc, report->tables)
	{
		const SlicedReportTable *table = lfirst(lc);

		if (table->ncolumns == 0 || left-- == 0)
			continue;
		begin_item(page, table->name, NULL);
		for (int i = 0; i < table->ncolumns; i++)
		{
			const SlicedEstimateColumn *is = &table->columns[i].is;
			SlicedBarPart parts[] = {{is->raw - is->outside_raw, "rows"}, {is->outside_raw, "outside"}};

			line(page, NULL, table->columns[i].name, parts, lengthof(parts), table->raw,
				 psprintf("%s of %s, %s outside", sliced_pretty_count(is->values, "value"),
						  sliced_pretty_bytes(is->raw / Max(is->values, 1)),
						  sliced_pretty_number(is->outside)));
		}
		appendStringInfoString(page, "</section>\n");
	}
}

/* ---- changes ---- */

/* The columns of the query. */
enum
{
	OF_TABLE = 1, OF_COLUMN, TABLE_OID, STORED, APPENDED, CHANGED, UNCHANGED, ANEW, WRITTEN
};

#define CHANGES_QUERY \
	"SELECT rel, col::text, relid, stored - anew, appended, changed, unchanged, anew, stored_bytes" \
	" FROM sliced.stat_columns," \
	" LATERAL (SELECT replaced + replaced_core + anew_short + anew_new AS anew) a" \
	" WHERE stored + appended + changed + unchanged > 0" \
	" AND pg_catalog.has_table_privilege(relid, 'SELECT') ORDER BY stored_bytes DESC, 1, 2 LIMIT 40"

static double
number(HeapTuple row, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		value = SPI_getbinval(row, desc, column, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

/*
 * Average bytes of a value of the column outside its row, compressed as well as the
 * table would be; 0 if not known.
 */
static double
stored_length(const SlicedReport *report, Oid relid, const char *name)
{
	const SlicedReportTable *table = sliced_report_table(report, relid);

	for (int i = 0; table != NULL && i < table->ncolumns; i++)
	{
		const SlicedEstimateColumn *is = &table->columns[i].is;

		if (strcmp(table->columns[i].name, name) == 0 && is->outside > 0)
			return is->outside_raw / is->outside * Min(table->anew / table->raw, 1);
	}
	return 0;
}

static const SlicedBarPart change_kinds[] = {
	{0, "new"}, {0, "appended"}, {0, "changed"}, {0, "unchanged"}, {0, "anew"}
};

static void
changes_of(StringInfo page, const SlicedReport *report, HeapTuple row, TupleDesc desc)
{
	char	   *name = SPI_getvalue(row, desc, OF_COLUMN);
	double		written = number(row, desc, WRITTEN);
	SlicedBarPart parts[lengthof(change_kinds)];
	double		values = 0;
	double		whole;
	bool		isnull;

	for (int i = 0; i < (int) lengthof(parts); i++)
	{
		parts[i] = (SlicedBarPart) {number(row, desc, STORED + i), change_kinds[i].kind};
		values += parts[i].value;
	}
	begin_item(page, psprintf("%s: %s", SPI_getvalue(row, desc, OF_TABLE), name), NULL);
	line(page, NULL, "values", parts, lengthof(parts), values,
		 psprintf("%s, %s of them changed in part", sliced_pretty_number(values),
				  sliced_pretty_number(parts[1].value + parts[2].value)));
	whole = values * stored_length(report, DatumGetObjectId(SPI_getbinval(row, desc, TABLE_OID, &isnull)),
								   name);
	line(page, NULL, "written", &(SlicedBarPart) {written, "then"}, 1, Max(whole, written),
		 sliced_pretty_bytes(written));
	if (whole > 1.05 * written)
		line(page, NULL, "if whole", &(SlicedBarPart) {whole, "now"}, 1, whole,
			 psprintf("about %s, %.*f times as much", sliced_pretty_bytes(whole),
					  whole < 10 * written ? 1 : 0, whole / Max(written, 1)));
	appendStringInfoString(page, "</section>\n");
}

void
sliced_report_changes(StringInfo page, const SlicedReport *report)
{
	static const char *const names[] = {"new", "appended to", "changed in part", "sent, but unchanged", "stored anew"};
	SPITupleTable *found;

	if (SPI_execute(CHANGES_QUERY, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read sliced.stat_columns");
	found = SPI_tuptable;
	if (found->numvals == 0)
		return;
	heading(page, "What changes have cost",
			"Values that sliced tables were given since counting began, and the bytes written for them; and what it would be had each been stored whole, with its present average length, as heap does it.");
	sliced_html_legend(page, change_kinds, names, lengthof(names));
	for (uint64 i = 0; i < found->numvals; i++)
		changes_of(page, report, found->vals[i], found->tupdesc);
}

/* ---- dictionaries ---- */

void
sliced_report_dictionaries(StringInfo page, const SlicedReport *report)
{
	bool		any = false;
	ListCell   *lc;
	ListCell   *of_table;

	foreach(lc, report->tables)
	{
		const SlicedReportTable *table = lfirst(lc);

		foreach(of_table, table->dictionaries)
		{
			const SlicedReportDictionary *dictionary = lfirst(of_table);

			if (!any)
			{
				heading(page, "Dictionaries", "Of those in use: what they saved of values that they were not trained on.");
				appendStringInfoString(page, "<div class=\"wide\"><table>\n<tr><th>table</th><td>column</td><td>takes</td>"
									   "<td>samples</td><td>trained</td><td>saves</td></tr>\n");
			}
			any = true;
			appendStringInfoString(page, "<tr>");
			sliced_html_element(page, "th", NULL, table->name);
			cell(page, dictionary->column);
			cell(page, dictionary->takes);
			cell(page, dictionary->samples);
			cell(page, dictionary->trained);
			cell(page, psprintf("%s %%", dictionary->saves));
			appendStringInfoString(page, "</tr>\n");
		}
	}
	if (any)
		appendStringInfoString(page, "</table></div>\n");
}
