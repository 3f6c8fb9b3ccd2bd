/*
 * pretty.c
 *	  Numbers as a person would write them.
 */
#include "postgres.h"

#include <math.h>

#include "base/pretty.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

/* More bytes are not shown. */
#define MOST	9e18

/* A unit is used from this many of it. */
#define ENOUGH	10

char *
sliced_pretty_bytes(double bytes)
{
	return TextDatumGetCString(DirectFunctionCall1(pg_size_pretty, Int64GetDatum((int64) Max(Min(bytes, MOST), -MOST))));
}

char *
sliced_pretty_number(double number)
{
	char	   *digits = psprintf("%.0f", fabs(number));
	int			len = strlen(digits);
	StringInfoData text;

	if (!isfinite(number))
		return digits;
	initStringInfo(&text);
	if (number <= -0.5)
		appendStringInfoChar(&text, '-');
	for (int i = 0; i < len; i++)
	{
		if (i > 0 && (len - i) % 3 == 0)
			appendStringInfoChar(&text, ',');
		appendStringInfoChar(&text, digits[i]);
	}
	return text.data;
}

char *
sliced_pretty_count(double count, const char *what)
{
	count = rint(count);
	if (count == 0)
		return psprintf("no %ss", what);
	return count == 1 ? psprintf("1 %s", what) : psprintf("%s %ss", sliced_pretty_number(count), what);
}

char *
sliced_pretty_times(double times)
{
	times = rint(times);
	if (times == 0)
		return pstrdup("never");
	return times == 1 ? pstrdup("once") : psprintf("%s times", sliced_pretty_number(times));
}

char *
sliced_pretty_time(double ms)
{
	static const struct
	{
		double		ms;
		const char *name;
	}			units[] = {{60 * 60 * 1000, "h"}, {60 * 1000, "min"}, {1000, "s"}};

	for (int i = 0; i < (int) lengthof(units); i++)
		if (ms >= ENOUGH * units[i].ms)
			return psprintf("%s %s", sliced_pretty_number(ms / units[i].ms), units[i].name);
	return psprintf("%s ms", sliced_pretty_number(ms));
}
