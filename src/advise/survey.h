/*
 * survey.h
 *	  Estimates of many tables in a bounded time, while others use them.
 *
 * A table that somebody has locked, or that cannot be read, is warned of and left out.
 */
#ifndef SLICED_ADVISE_SURVEY_H
#define SLICED_ADVISE_SURVEY_H

#include "postgres.h"

#include "advise/estimate.h"

typedef struct SlicedSurvey
{
	TimestampTz deadline;
	/* called for each table, in a subtransaction; the estimate is gone afterwards */
	void		(*visit) (const SlicedEstimate *e, void *arg);
	void	   *arg;
} SlicedSurvey;

/* All tables of 1 MB and more that the user may read, the largest first. */
extern void sliced_survey_all(SlicedSurvey *survey);

/* A table, however small, or all partitions of one. */
extern void sliced_survey_relation(SlicedSurvey *survey, Oid relid);

#endif
