/*
 * toaster.h
 *	  What a toaster is: somebody who knows the inside of a type.
 *
 * A toaster orders bytes, finds parts and recognises changes.  It never changes
 * bytes: what is stored is the type's own format, perhaps in another order, and
 * the stored value says in which.  So everybody can read what was written with a
 * toaster's help, when the toaster is gone or was wrong.
 *
 * To make one for a type, write a C function that takes the type and returns a
 * pointer to a SlicedToaster, which has to last as long as the process, and say
 *
 *	  CREATE FUNCTION hstore_toaster(hstore) RETURNS sliced.toaster_handler
 *	  AS 'MODULE_PATHNAME' LANGUAGE C;
 *
 * It will be called with a NULL argument, at any time.  Its name ends with
 * _toaster, and what is before that is the toaster's: hstore.  A type's only
 * toaster is used for all its columns; if there are several, the one that has the
 * name of the type; unless a column's label names another one (toaster/column.h).
 *
 * This header needs nothing else of pg_sliced; it is installed for other
 * extensions, which call us through sliced_api().  docs/toasters.md tells how.
 */
#ifndef SLICED_BASE_TOASTER_H
#define SLICED_BASE_TOASTER_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/primnodes.h"
#include "utils/relcache.h"

/* Changes when what follows changes. */
#define SLICED_TOASTER_API	1

/*
 * A value of ours that is read here and there: as long as the value, with those
 * bytes in their places that were asked for.
 */
typedef struct SlicedDocument SlicedDocument;

/* A value described by runs of a stored one, and new bytes between them. */
typedef struct SlicedRope SlicedRope;

/* ---- how values are stored ---- */

/* Bytes [start, start + len) of a value, and the region that they are stored in. */
typedef struct SlicedCut
{
	uint32		start;
	uint32		len;
	int			region;			/* those of one region are stored together */
} SlicedCut;

/*
 * A better order for the bytes of a value (without its varlena header) than their
 * own.  Returns how many regions there are; they are stored in the order of their
 * numbers.  The cuts are palloc'd, in the order of the value's bytes, and are
 * all of them.  0 if there is no better order.
 */
typedef int (*SlicedCutter) (const char *raw, uint32 len, SlicedCut **cuts, int *ncuts);

/* More cuts than that are refused: the head of the value lists them. */
#define SLICED_MAX_CUTS		400

typedef struct SlicedPolicy
{
	SlicedCutter cut;			/* or NULL: store bytes in their order */
	uint32		cut_min;		/* values of fewer bytes are not cut */
} SlicedPolicy;

/* ---- functions that take the place of others ---- */

typedef enum SlicedSwapKind
{
	SLICED_SWAP_READ,			/* reads; exchanged wherever it is */
	SLICED_SWAP_PART,			/* the same where another exchanged function gets the result,
								 * as its first argument or where one of its own type is changed */
	SLICED_SWAP_EDIT			/* makes promises; exchanged where an UPDATE computes a new value */
} SlicedSwapKind;

/*
 * Functions must have the arguments, the result and the errors of those whose place
 * they take, for all arguments, by calling them for what is not a value of ours.
 * They are in the schema of the toaster's function.
 */
typedef struct SlicedSwap
{
	SlicedSwapKind kind;
	const char *ours;			/* the function's name */
	Oid			core;			/* the function of core, or InvalidOid */
	const char *theirs;			/* or the name of functions in the type's schema */
} SlicedSwap;

/* What a toaster may ask for when it is shown an expression. */
typedef struct SlicedSwapWork SlicedSwapWork;

struct SlicedSwapWork
{
	/* The function of this name in the toaster's schema; InvalidOid if it may not be used. */
	Oid			(*function) (SlicedSwapWork *work, const char *name, int nargs, const Oid *argtypes);

	/*
	 * Set this if the arguments of a call that reads may be evaluated only if there is
	 * something to subscript.  That has to be harmless to evaluate, as it is done twice.
	 */
	bool		unless_null;
};

/* ---- the toaster ---- */

/* All but 'api' may be NULL. */
typedef struct SlicedToaster
{
	uint32		api;			/* SLICED_TOASTER_API */

	/* Complain, by ereport(), of a type or a storage that it cannot work with. */
	void		(*validate) (Oid type, char storage);

	SlicedPolicy policy;

	/*
	 * 'raw', the new value without its varlena header, as a rope of the old one.
	 * All of the old value is there.  'raw' lasts as long as the rope.
	 */
	SlicedRope *(*difference) (SlicedDocument *old, const char *raw, uint32 len);

	const SlicedSwap *swaps;
	int			nswaps;

	/*
	 * A call that takes the place of an expression which is not a function: a
	 * subscript of this type, so far.  NULL if there is none.  Only a type's default
	 * toaster is asked: in a plan, a subscript is not of a certain column.
	 */
	FuncExpr   *(*swap_subscript) (SubscriptingRef *ref, SlicedSwapKind kind,
								   SlicedSwapWork *work);

	/*
	 * A call that takes the place of a document of this type which SQL/JSON looks into:
	 * by a path, a constant or a parameter, or without one (NULL) to see what kind of
	 * document it is.  What it returns needs to have what is looked at, and no more.
	 * NULL if there is no such call.
	 */
	FuncExpr   *(*swap_document) (Node *document, Node *path, SlicedSwapWork *work);

	const void *vtable;			/* whatever its author wants to offer to others */
} SlicedToaster;

/* ---- what pg_sliced does for toasters ---- */

typedef struct SlicedApi
{
	uint32		api;			/* SLICED_TOASTER_API */

	/*
	 * The document that is a function's argument: a value of ours, or one that is
	 * promised.  NULL if it is neither, so that it is for the type's own function.  It
	 * stays until this is called again.
	 */
	SlicedDocument *(*document) (FunctionCallInfo fcinfo, int arg);

	/* How long is it?  Without a varlena header, like all lengths and places here. */
	uint32		(*document_size) (const SlicedDocument *doc);

	/*
	 * Bytes [start, start + len) of it, in their place: other bytes that have been
	 * needed are around them.  They start as aligned as in a value with a long header.
	 */
	const char *(*document_need) (SlicedDocument *doc, uint32 start, uint32 len);

	/*
	 * The document as a datum for functions that look only at what has been needed.
	 * They must not return it.
	 */
	Datum		(*document_datum) (SlicedDocument *doc);

	/* The whole of it as a rope; and an empty one of the same document. */
	SlicedRope *(*rope_of_document) (const SlicedDocument *doc);
	SlicedRope *(*rope_begin) (const SlicedRope *like);

	/* Add bytes of another rope of the same document, or others, which must last. */
	void		(*rope_add_rope) (SlicedRope *rope, const SlicedRope *other, uint32 start, uint32 len);
	void		(*rope_add_bytes) (SlicedRope *rope, const char *bytes, uint32 len);

	/*
	 * Add bytes that take the place of bytes [start, start + old_len) of a document,
	 * 'whole' as a rope: where they are the same for long enough, those; others must
	 * last.
	 */
	void		(*rope_add_changed) (SlicedRope *rope, const char *bytes, uint32 len,
									 SlicedDocument *old, const SlicedRope *whole,
									 uint32 start, uint32 old_len);

	/* A function's result: what a rope describes, or its first argument. */
	Datum		(*result_rope) (FunctionCallInfo fcinfo, const SlicedRope *rope);
	Datum		(*result_unchanged) (FunctionCallInfo fcinfo);

	/* May all subscripts be evaluated whenever the expression is? */
	bool		(*subscripts_are_harmless) (const SubscriptingRef *ref);

	/* The toaster of a type, or a column; NULL if it has none. */
	const SlicedToaster *(*toaster_of_type) (Oid type);
	const SlicedToaster *(*toaster_of_column) (Relation rel, int attno);
} SlicedApi;

#define SLICED_RENDEZVOUS	"pg_sliced"

static inline const SlicedApi *
sliced_api(void)
{
	static const SlicedApi *api = NULL;

	if (api == NULL)
	{
		const SlicedApi **place = (const SlicedApi **) find_rendezvous_variable(SLICED_RENDEZVOUS);

		if (*place == NULL)
			load_file("$libdir/pg_sliced", false);
		if (*place == NULL || (*place)->api != SLICED_TOASTER_API)
			ereport(ERROR,
					errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("pg_sliced has another interface for toasters than this was compiled for"),
					errhint("Install releases of both extensions that belong together."));
		api = *place;
	}
	return api;
}

#endif
