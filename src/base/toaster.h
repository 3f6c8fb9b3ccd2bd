/*
 * toaster.h
 *	  What a toaster is: code that knows the inside of a type.
 *
 * A toaster orders bytes, finds parts and recognises changes.  It never changes
 * bytes. A stored value has the bytes of the type's own format, perhaps in another
 * order, and says in which.  So a value that was written with a toaster's help can be
 * read when the toaster is gone or was wrong.
 *
 * To make one for a type, write a C function that takes the type and returns a
 * pointer to a SlicedToaster, which has to last as long as the process, and say
 *
 *	  CREATE FUNCTION hstore_toaster(hstore) RETURNS sliced.toaster_handler
 *	  AS 'MODULE_PATHNAME' LANGUAGE C;
 *
 * pg_sliced calls it with a NULL argument, at any time.  Its name ends with _toaster;
 * the rest of the name is the toaster's: hstore.  A type's only toaster is used for
 * all its columns.  If there are several, the one with the name of the type is used.
 * A column's label may name another one (toaster/column.h).
 *
 * This header needs nothing else of pg_sliced.  It is installed for other extensions,
 * which call us through sliced_api(); see docs/toasters.md.
 */
#ifndef SLICED_BASE_TOASTER_H
#define SLICED_BASE_TOASTER_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/primnodes.h"
#include "utils/relcache.h"

/* Changes when the declarations below change. */
#define SLICED_TOASTER_API	1

/*
 * A value of ours in memory, read here and there: memory as long as the value, with
 * the bytes that were asked for in their places.
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
 * Find a better order for the bytes of a value (without its varlena header) than
 * their own.  Returns the number of regions, or 0 if there is no better order.
 * Regions are stored in the order of their numbers.  The cuts are palloc'd, in the
 * order of the value's bytes, and cover all of them.  Regions lie side by side, or one
 * within another, like brackets: where a cut of one lies between two neighbouring cuts
 * of the other, all of its cuts do.  Each region has a cut.
 */
typedef int (*SlicedCutter) (const char *raw, uint32 len, SlicedCut **cuts, int *ncuts);

/* More cuts than this are refused: the head of the value lists them. */
#define SLICED_MAX_CUTS		400

typedef struct SlicedPolicy
{
	SlicedCutter cut;			/* or NULL: store bytes in their order */
	uint32		cut_min;		/* values of fewer bytes are not cut */
} SlicedPolicy;

/* ---- functions that take the place of others ---- */

typedef enum SlicedSwapKind
{
	SLICED_SWAP_READ,			/* reads; exchanged everywhere */
	SLICED_SWAP_PART,			/* reads; exchanged where another exchanged
								 * function gets the result, as its first argument
								 * or as one of its own type that it changes */
	SLICED_SWAP_EDIT			/* makes promises; exchanged where an UPDATE computes a new value */
} SlicedSwapKind;

/*
 * Our functions have the arguments, the result and the errors of those that they
 * replace, for all arguments: they call them for values that are not ours.  They are
 * in C, and in the schema of the toaster's function.  They return sets, and are STRICT,
 * where those do and are.  They are not more volatile, nor less safe in parallel workers
 * if they read.  PUBLIC may execute both.  What does not fit is not exchanged:
 * sliced.toaster_functions says why.
 */
typedef struct SlicedSwap
{
	SlicedSwapKind kind;
	const char *ours;			/* the function's name */
	Oid			core;			/* the function of core, or InvalidOid */
	const char *theirs;			/* or the name of functions in the type's schema */
} SlicedSwap;

/* What a toaster may ask for while it looks at an expression. */
typedef struct SlicedSwapWork SlicedSwapWork;

struct SlicedSwapWork
{
	/* The function of this name in the toaster's schema; InvalidOid if it may not be used. */
	Oid			(*function) (SlicedSwapWork *work, const char *name, int nargs, const Oid *argtypes);

	/*
	 * Set this if the arguments of a call that reads may be evaluated only if the
	 * value to subscript is not null.  That value must be harmless to evaluate, as it
	 * is evaluated twice.
	 */
	bool		unless_null;
};

/* ---- the toaster ---- */

/* All but 'api' may be NULL. */
typedef struct SlicedToaster
{
	uint32		api;			/* SLICED_TOASTER_API */

	/*
	 * Fail, by ereport(), for a type or a storage that it cannot work with.  Called when
	 * a column's label names the toaster, and at no other time.
	 */
	void		(*validate) (Oid type, char storage);

	SlicedPolicy policy;

	/*
	 * Returns 'raw', the new value without its varlena header, as a rope of the old
	 * one. 'old' has all of the old value.  'raw' lasts as long as the rope.
	 */
	SlicedRope *(*difference) (SlicedDocument *old, const char *raw, uint32 len);

	const SlicedSwap *swaps;
	int			nswaps;

	/*
	 * Returns a call that takes the place of an expression other than a function, so
	 * far a subscript of this type; NULL if there is none.  Only a type's default
	 * toaster is asked: in a plan, a subscript belongs to no certain column.
	 */
	FuncExpr   *(*swap_subscript) (SubscriptingRef *ref, SlicedSwapKind kind,
								   SlicedSwapWork *work);

	/*
	 * Returns a call that takes the place of a document of this type, for SQL/JSON to
	 * look into.  'path' is a constant or a parameter; if it is NULL, SQL/JSON only
	 * looks at what kind of document it is.  The call's result must have everything
	 * that SQL/JSON looks at, and needs no more.  NULL if there is no such call.
	 */
	FuncExpr   *(*swap_document) (Node *document, Node *path, SlicedSwapWork *work);

	const void *vtable;			/* anything its author offers to others */
} SlicedToaster;

/* ---- what pg_sliced does for toasters ---- */

typedef struct SlicedApi
{
	uint32		api;			/* SLICED_TOASTER_API */

	/*
	 * Returns the document that is a function's argument: a value of ours, or a
	 * promised one. If it is neither, returns NULL, and the caller calls the type's
	 * own function.  The document stays until this is called again.
	 */
	SlicedDocument *(*document) (FunctionCallInfo fcinfo, int arg);

	/* Its length, without a varlena header, like all lengths and places here. */
	uint32		(*document_size) (const SlicedDocument *doc);

	/*
	 * Returns bytes [start, start + len) of it, in their place: other bytes that have
	 * been needed are around them.  They are aligned as in a value with a long
	 * header.
	 */
	const char *(*document_need) (SlicedDocument *doc, uint32 start, uint32 len);

	/*
	 * The document as a datum for functions that look only at bytes needed so far.
	 * They must not return it.
	 */
	Datum		(*document_datum) (SlicedDocument *doc);

	/* The whole of it as a rope; and an empty one of the same document. */
	SlicedRope *(*rope_of_document) (const SlicedDocument *doc);
	SlicedRope *(*rope_begin) (const SlicedRope *like);

	/*
	 * Add bytes of another rope of the same document; add new bytes, which must last.
	 */
	void		(*rope_add_rope) (SlicedRope *rope, const SlicedRope *other, uint32 start, uint32 len);
	void		(*rope_add_bytes) (SlicedRope *rope, const char *bytes, uint32 len);

	/*
	 * Add bytes that take the place of bytes [start, start + old_len) of a document;
	 * 'whole' is the document as a rope.  Where both are the same for long enough,
	 * the document's bytes are used; the new ones must last.
	 */
	void		(*rope_add_changed) (SlicedRope *rope, const char *bytes, uint32 len,
									 SlicedDocument *old, const SlicedRope *whole,
									 uint32 start, uint32 old_len);

	/* A function's result: what a rope describes, or the first argument as it is. */
	Datum		(*result_rope) (FunctionCallInfo fcinfo, const SlicedRope *rope);
	Datum		(*result_unchanged) (FunctionCallInfo fcinfo);

	/* True if all subscripts may be evaluated whenever the expression is. */
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
