/*
 * registry.h
 *	  Which toasters there are, and which one a type has.
 *
 * A toaster is registered by its function's signature, so there is no catalog of
 * ours: pg_depend leads from the result type to the functions, and dumps, upgrades
 * and DROP EXTENSION take care of themselves.  Only functions in language C count,
 * which only a superuser can make: anybody may declare a function in SQL with that
 * result type, and the result is taken for an address.
 */
#ifndef SLICED_TOASTER_REGISTRY_H
#define SLICED_TOASTER_REGISTRY_H

#include "postgres.h"

#include "base/toaster.h"
#include "nodes/pg_list.h"

typedef struct SlicedRegistered
{
	Oid			function;		/* that returns it */
	Oid			namespace;		/* the function's */
	Oid			type;			/* what it knows */
	NameData	name;			/* the function's, without _toaster */
	const SlicedToaster *toaster;	/* NULL: not asked for yet */
} SlicedRegistered;

/* Does nothing special. */
extern const SlicedToaster sliced_plain_toaster;

/*
 * All of them, as a list of SlicedRegistered, by type and name.  It is valid until
 * the catalogs are looked into again.
 */
extern List *sliced_toasters(void);

/* The registered toaster that a type, or the base type of a domain, has by default; or NULL. */
extern SlicedRegistered *sliced_registered_default(Oid type);

/*
 * Call its function, if that has not been done.  An error if what it returns is no
 * toaster that we can work with.
 */
extern const SlicedToaster *sliced_registered_load(SlicedRegistered *registered);

/*
 * The same, but NULL instead of such an error, or if the function's library is
 * missing: who only reads does not need the toaster.
 */
extern const SlicedToaster *sliced_registered_try(SlicedRegistered *registered);

/* The toaster of a type, the plain one if there is no other. */
extern const SlicedToaster *sliced_toaster_of_type(Oid type);

/*
 * The registered toaster of this name that works for values of a type, or of any
 * with InvalidOid; and the one that a function returns.  NULL if there is none.
 * What they return is valid until the catalogs are looked into again.
 */
extern SlicedRegistered *sliced_registered_named(Oid type, const char *name);
extern SlicedRegistered *sliced_registered_of(Oid function);

/* Names of the toasters that work for a type, or of all with InvalidOid. */
extern char *sliced_registered_names(Oid type);

/*
 * If catalogs have changed while we looked into them we look again, but not more
 * often than this: then what was found last counts, until the next look.  Core may be
 * told to forget all it knows at every opportunity (debug_discard_caches).
 */
#define SLICED_LOOKS	5

/* The name that a toaster, which has been loaded, is registered under; "?" if it is not any more. */
extern const char *sliced_toaster_name(const SlicedToaster *toaster);

/* Changes whenever some function has changed. */
extern uint64 sliced_registry_generation(void);

/* Called once, when the library is loaded. */
extern void sliced_registry_init(void);

#endif
