/*
 * try.c
 *	  Work that may fail without ending the transaction.
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/try.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

ErrorData *
sliced_try(void (*work) (void *), void *arg)
{
	MemoryContext old = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(old);
	PG_TRY();
	{
		work(arg);
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
