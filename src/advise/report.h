/*
 * report.h
 *	  The findings of sliced.report(), and the sections of the page that show them.
 */
#ifndef SLICED_ADVISE_REPORT_H
#define SLICED_ADVISE_REPORT_H

#include "postgres.h"

#include "advise/advice.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

typedef struct SlicedReportColumn
{
	char	   *name;
	SlicedEstimateColumn is;
} SlicedReportColumn;

/* One way to store a table. */
typedef struct SlicedReportChoice
{
	char	   *name;
	double		bytes;			/* table, toast relation and its index */
	double		read_rate;		/* bytes a second; 0: not known */
	bool		is_present;		/* new values get this now */
} SlicedReportChoice;

/* A dictionary in use, as text. */
typedef struct SlicedReportDictionary
{
	char	   *column;
	char	   *takes;
	char	   *samples;
	char	   *trained;
	char	   *saves;
} SlicedReportDictionary;

typedef struct SlicedReportTable
{
	Oid			relid;
	char	   *name;
	bool		is_ours;

	/* bytes */
	double		rows;
	double		outside;		/* toast relation and its index */
	double		indexes;
	double		raw;			/* values, without compression */

	double		nrows;
	double		dead;			/* rows of the toast relation, dead and live */
	double		live;
	int			ncolumns;
	SlicedReportColumn *columns;
	int			nchoices;
	SlicedReportChoice *choices;
	List	   *dictionaries;	/* SlicedReportDictionary */
	double		anew;			/* bytes if written anew as it is */
	double		then;			/* bytes if the advice were followed, without variants */
	List	   *advice;			/* SlicedAdvice */
} SlicedReportTable;

typedef struct SlicedReport
{
	const SlicedUsage *usage;
	List	   *tables;			/* SlicedReportTable, the largest first */
	int			left_out;		/* tables that could not be looked at, or not in time */
} SlicedReport;

/* The table; NULL if it has not been looked at. */
extern SlicedReportTable *sliced_report_table(const SlicedReport *report, Oid relid);

/* The page's style sheet. */
extern const char *const sliced_report_style;

/* Append the page's sections.  The caller is connected to SPI. */
extern void sliced_report_summary(StringInfo page, const SlicedReport *report);
extern void sliced_report_advice(StringInfo page, const SlicedReport *report);
extern void sliced_report_tables(StringInfo page, const SlicedReport *report);
extern void sliced_report_choices(StringInfo page, const SlicedReport *report);
extern void sliced_report_places(StringInfo page, const SlicedReport *report);
extern void sliced_report_changes(StringInfo page, const SlicedReport *report);
extern void sliced_report_dictionaries(StringInfo page, const SlicedReport *report);

#endif
