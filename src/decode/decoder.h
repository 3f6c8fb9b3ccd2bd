/*
 * decoder.h
 *	  Gives values to output plugins.
 */
#ifndef SLICED_DECODE_DECODER_H
#define SLICED_DECODE_DECODER_H

#include "postgres.h"


/* Called once, when the library is loaded. */
extern void sliced_decoder_init(void);

#endif
