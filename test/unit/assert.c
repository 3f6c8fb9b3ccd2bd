/*
 * assert.c
 *	  Stand-ins for what Assert() and ereport() call in a server, for programs
 *	  without one.
 *
 * The later arguments, which give the place, differ between majors.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

void		ExceptionalCondition(const char *condition);

void
ExceptionalCondition(const char *condition)
{
	printf("not ok - Assert(%s)\n", condition);
	fflush(stdout);
	abort();
}

/* No test calls these; programs that do have functions of their own. */
#define NOT_HERE(name) \
	void		name(void); \
	__attribute__((weak)) void name(void) { ExceptionalCondition(#name); }

NOT_HERE(errstart)
NOT_HERE(errstart_cold)
NOT_HERE(errcode)
NOT_HERE(errmsg)
NOT_HERE(errdetail)
NOT_HERE(errmsg_internal)
NOT_HERE(errfinish)

/* These programs are never interrupted. */
__attribute__((weak)) volatile sig_atomic_t InterruptPending;
NOT_HERE(ProcessInterrupts)

/* These programs allocate nothing huge. */
extern void *repalloc(void *pointer, size_t size);
extern void *repalloc_huge(void *pointer, size_t size);

__attribute__((weak)) void *
repalloc_huge(void *pointer, size_t size)
{
	return repalloc(pointer, size);
}
