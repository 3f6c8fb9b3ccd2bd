/*
 * late.h
 *	  Has somebody decoded in this process before the library was loaded?
 */
#ifndef SLICED_DECODE_LATE_H
#define SLICED_DECODE_LATE_H

#include "postgres.h"


extern void sliced_late_init(void);
extern void sliced_late_join(void);

#endif
