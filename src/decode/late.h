/*
 * late.h
 *	  The library is loaded while its process is decoding.
 */
#ifndef SLICED_DECODE_LATE_H
#define SLICED_DECODE_LATE_H

#include "postgres.h"


extern void sliced_late_init(void);
extern void sliced_late_join(void);

#endif
