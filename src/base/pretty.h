/*
 * pretty.h
 *	  Numbers as a person would write them.  All results are palloc'd.
 */
#ifndef SLICED_BASE_PRETTY_H
#define SLICED_BASE_PRETTY_H

#include "postgres.h"

/* Like core's pg_size_pretty(). */
extern char *sliced_pretty_bytes(double bytes);

/* 1234567 as 1,234,567. */
extern char *sliced_pretty_number(double number);

/* "no values", "1 value", "1,234 values", if 'what' is "value". */
extern char *sliced_pretty_count(double count, const char *what);

/* "never", "once", "1,234 times". */
extern char *sliced_pretty_times(double times);

/* "12 ms", "12 s", "12 min", "12 h". */
extern char *sliced_pretty_time(double ms);

#endif
