/*
 * foreign_toast.h
 *	  Toast relations, and tables, that others have exchanged.
 */
#ifndef SLICED_AM_FOREIGN_TOAST_H
#define SLICED_AM_FOREIGN_TOAST_H

#include "postgres.h"

#include "access/tableam.h"

extern void sliced_new_file_check(Relation rel);

/*
 * The slot has a marked row, as it is on disk, of a table with a foreign toast
 * relation.  Replace it by the row with its values.
 */
extern void sliced_slot_flatten(Relation rel, TupleTableSlot *slot);

/*
 * Make the table's toast relation, which is foreign, ours.  The caller has locked
 * both, so no session reads them, and none remembers their old state afterwards.
 */
extern void sliced_toast_take_over(Relation rel);

/* Change the access method of a table, or toast relation, in the catalog. */
extern void sliced_relation_set_am(Oid relid, Oid am);

#endif
