/*
 * assert.c
 *	  What Assert() calls in a server with assertions, for programs without one.
 *
 * Later arguments, which say where, differ between majors.
 */
#include <stdio.h>
#include <stdlib.h>

void		ExceptionalCondition(const char *condition);

void
ExceptionalCondition(const char *condition)
{
	printf("not ok - Assert(%s)\n", condition);
	fflush(stdout);
	abort();
}
