/*
 * unit.h
 *	  A few lines of test framework: check() counts and prints, unit_done() sums up.
 *
 * Codec and format need no server: they are compiled together with the test,
 * and linked with PostgreSQL's libpgcommon and libpgport alone.
 */
#ifndef UNIT_H
#define UNIT_H

#include <stdio.h>

static int	unit_failures;
static const char *unit_name = "?";
static int	unit_failed_here;

#define check(condition) \
	do { \
		if (!(condition)) \
		{ \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition); \
			unit_failed_here++; \
		} \
	} while (0)

#define run_test(function) \
	do { \
		unit_name = #function; \
		unit_failed_here = 0; \
		function(); \
		printf("%s - unit %s\n", unit_failed_here ? "not ok" : "ok", unit_name); \
		unit_failures += unit_failed_here; \
	} while (0)

#endif
