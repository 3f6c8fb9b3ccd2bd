/*
 * registry.h
 *	  Knows all toasters, and the default one of each type.
 *
 * A function's signature registers a toaster, so we need no catalog of our own:
 * pg_depend leads from the result type to the functions, and dumps, upgrades and DROP
 * EXTENSION take care of themselves.  Only functions in language C count, which only
 * a superuser can make.  Any user may declare a function in SQL with that result
 * type, and we would take its result for an address.
 */
#ifndef SLICED_TOASTER_REGISTRY_H
#define SLICED_TOASTER_REGISTRY_H

#include "postgres.h"

#include "base/toaster.h"
#include "nodes/pg_list.h"

typedef struct SlicedRegistered
{
	Oid			function;		/* the function that returns it */
	Oid			namespace;		/* the function's */
	Oid			type;			/* the type that it knows */
	NameData	name;			/* the function's, without _toaster */
	const SlicedToaster *toaster;	/* NULL: function not called yet */
} SlicedRegistered;

/* Cuts values anywhere. */
extern const SlicedToaster sliced_plain_toaster;

/*
 * All toasters, as a list of SlicedRegistered, by type and name.  The list is valid
 * until the next look into the catalogs.
 */
extern List *sliced_toasters(void);

/* The registered toaster that a type, or the base type of a domain, has by default; or NULL. */
extern SlicedRegistered *sliced_registered_default(Oid type);

/*
 * Returns the toaster, calling its function the first time.  An error if the function
 * returns no toaster that we can work with.
 */
extern const SlicedToaster *sliced_registered_load(SlicedRegistered *registered);

/*
 * The same, but NULL instead of such an error, or if the function's library is
 * missing: reading does not need the toaster.  '*problem' then says why; 'problem' may
 * be NULL.
 */
extern const SlicedToaster *sliced_registered_try(SlicedRegistered *registered, char **problem);

/* The toaster of a type, the plain one if there is no other. */
extern const SlicedToaster *sliced_toaster_of_type(Oid type);

/*
 * The registered toaster of this name that works for values of a type, or of any with
 * InvalidOid; and the one that a function returns.  NULL if there is none.  The
 * results are valid until the next look into the catalogs.
 */
extern SlicedRegistered *sliced_registered_named(Oid type, const char *name);
extern SlicedRegistered *sliced_registered_of(Oid function);

/* Names of the toasters that work for a type, or of all with InvalidOid. */
extern char *sliced_registered_names(Oid type);

/*
 * If catalogs change while we look into them we look again, but at most this many
 * times.  Then the last result counts, until the next look.  With
 * debug_discard_caches, core forgets all it knows at every opportunity.
 */
#define SLICED_LOOKS	5

/* The name under which a loaded toaster is registered; "?" if it no longer is. */
extern const char *sliced_toaster_name(const SlicedToaster *toaster);

/* Changes whenever some function has changed. */
extern uint64 sliced_registry_generation(void);

/* Called once, when the library is loaded. */
extern void sliced_registry_init(void);

#endif
