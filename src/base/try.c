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

/* Until the subtransaction ends. */
static void
set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* 'ms' is 0: wait for locks as ever. */
static ErrorData *
attempt(void (*work) (void *), void *arg, int ms, bool undo)
{
	MemoryContext old = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(old);
	PG_TRY();
	{
		if (ms > 0 && (LockTimeout == 0 || LockTimeout > ms))
			set("lock_timeout", psprintf("%d", ms));
		if (undo)
			set("client_min_messages", "error");
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
	return attempt(work, arg, 0, false);
}

ErrorData *
sliced_try_soon(void (*work) (void *), void *arg, int ms)
{
	return attempt(work, arg, ms, false);
}

ErrorData *
sliced_try_and_undo(void (*work) (void *), void *arg, int ms)
{
	return attempt(work, arg, ms, true);
}
