/*
 * api.h
 *	  Functions of pg_sliced for toasters of other extensions.
 */
#ifndef SLICED_TOASTER_API_H
#define SLICED_TOASTER_API_H

/* Called once, when the library is loaded. */
extern void sliced_api_init(void);

#endif
