/* VARIANT=cov: what ends without exit, as the guardian and the writer of a file do, keeps its counts too. */
#include <stdnoreturn.h>

/* The linker's names: --wrap=_exit. */
void __gcov_dump(void);                 /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
noreturn void __real__exit(int status); /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
noreturn void __wrap__exit(int status); /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

noreturn void
__wrap__exit(int status) /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
{
	__gcov_dump();
	__real__exit(status);
}
