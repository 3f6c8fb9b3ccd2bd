/*
 * survey.h
 *	  Estimates of many tables in a bounded time, while other sessions use them.
 *
 * A table that another session has locked, or that cannot be read, is left out with a
 * warning.
 */
#ifndef SLICED_ADVISE_SURVEY_H
#define SLICED_ADVISE_SURVEY_H

#include "postgres.h"

#include "advise/estimate.h"

typedef struct SlicedSurvey
{
	TimestampTz deadline;
	int			left_out;		/* that could not be, or not in time */
	/* called for each table, in a subtransaction; the estimate is freed afterwards */
	void		(*visit) (const SlicedEstimate *e, void *arg);
	void	   *arg;
} SlicedSurvey;

/* Survey all tables of 1 MB and more that the user may read, the largest first. */
extern void sliced_survey_all(SlicedSurvey *survey);

/* Survey one table, even a small one, or all partitions of a partitioned one. */
extern void sliced_survey_relation(SlicedSurvey *survey, Oid relid);

#endif
