/*
 * try.c
 *	  Work that may fail without ending the transaction.
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/try.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

/* Milliseconds to wait for a lock. */
#define SOON	100

/* Until the subtransaction ends, do not wait long for locks. */
static void
wait_no_longer(void)
{
	if (LockTimeout == 0 || LockTimeout > SOON)
		(void) set_config_option("lock_timeout", psprintf("%d", SOON), PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
}

static ErrorData *
attempt(void (*work) (void *), void *arg, bool soon, bool undo)
{
	MemoryContext old = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(old);
	PG_TRY();
	{
		if (soon)
			wait_no_longer();
		work(arg);
		if (undo)
			RollbackAndReleaseCurrentSubTransaction();
		else
			ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		error = CopyErrorData();
		FlushErrorState();
		/*
		 * first of all: the code that handles the error does not know of the
		 * subtransaction
		 */
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	CurrentResourceOwner = owner;
	if (error != NULL &&
		(error->sqlerrcode == ERRCODE_QUERY_CANCELED || error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN))
		ReThrowError(error);
	return error;
}

ErrorData *
sliced_try(void (*work) (void *), void *arg)
{
	return attempt(work, arg, false, false);
}

ErrorData *
sliced_try_soon(void (*work) (void *), void *arg)
{
	return attempt(work, arg, true, false);
}

ErrorData *
sliced_try_and_undo(void (*work) (void *), void *arg)
{
	return attempt(work, arg, true, true);
}
