/*
 * html.h
 *	  Pieces of an HTML page.  It is all ASCII, so any encoding will do.
 */
#ifndef SLICED_ADVISE_HTML_H
#define SLICED_ADVISE_HTML_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* A part of a bar. */
typedef struct SlicedBarPart
{
	double		value;
	const char *kind;			/* its CSS class, which sets the colour */
} SlicedBarPart;

/* Append text in the database's encoding, with markup escaped. */
extern void sliced_html_text(StringInfo page, const char *text);

/* Append the text as an element of a class, or of none. */
extern void sliced_html_element(StringInfo page, const char *tag, const char *class, const char *text);

/* Append a bar of parts.  It is as wide as the page if they add up to 'full'. */
extern void sliced_html_bar(StringInfo page, const SlicedBarPart *parts, int n, double full);

/* Append what the colours mean. */
extern void sliced_html_legend(StringInfo page, const SlicedBarPart *parts, const char *const *names, int n);

#endif
