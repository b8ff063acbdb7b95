/*
 * VARIANT=cov: what ends without exit, as the guardian and the writer of a file do, keeps its
 * counts too, and so does canceld, isolated.
 */
#include <stddef.h>
#include <stdnoreturn.h>
#include <sys/resource.h>

/* The linker's names: --wrap=_exit. */
void __gcov_dump(void); /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
/* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
noreturn void __real__exit(int status);
/* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
noreturn void __wrap__exit(int status);

/* The folder of the counts is another one that an isolated canceld writes in. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
__attribute__((weak)) void __real_system_isolate(const char *const folders[]);
void __wrap_system_isolate(const char *const folders[]);

void
__wrap_system_isolate(const char *const folders[])
{
	const char *more[8] = { COUNTS };

	for (int i = 0; i < 6 && folders[i] != NULL; i++)
		more[i + 1] = folders[i];
	__real_system_isolate(more);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

noreturn void
__wrap__exit(int status) /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
{
	struct rlimit limit;

	/*
	 * A test of a full disk limits the size of files: what gcov says of that would go where an
	 * answer is expected.
	 */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
		__gcov_dump();
	__real__exit(status);
}
