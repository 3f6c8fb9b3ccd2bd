/*
 * html.h
 *	  Pieces of a page of HTML.  It is all ASCII, so that no encoding matters.
 */
#ifndef SLICED_ADVISE_HTML_H
#define SLICED_ADVISE_HTML_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* A part of a bar. */
typedef struct SlicedBarPart
{
	double		value;
	const char *kind;			/* its class, which has the colour */
} SlicedBarPart;

/* Text, of the database's encoding, that is no markup. */
extern void sliced_html_text(StringInfo page, const char *text);

/* The text as an element of a class, or of none. */
extern void sliced_html_element(StringInfo page, const char *tag, const char *class, const char *text);

/* A bar of parts, as wide as the page if they are 'full' in all. */
extern void sliced_html_bar(StringInfo page, const SlicedBarPart *parts, int n, double full);

/* What the colours mean. */
extern void sliced_html_legend(StringInfo page, const SlicedBarPart *parts, const char *const *names, int n);

/* 1234567 as 1,234,567; palloc'd. */
extern char *sliced_pretty_number(double number);

#endif
