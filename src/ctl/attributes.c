#include "ctl/attributes.h"

#ifdef __linux__

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "core/mem.h"

enum { MOST = 64 << 10 }; /* bytes of all names, and of a value: Linux has no more */

struct scratch {
	char names[MOST], from[MOST], to[MOST];
};

/* Signatures of the contents, which are others now. */
static bool
is_signature(const char *name)
{
	return strcmp(name, "security.ima") == 0 || strcmp(name, "security.evm") == 0;
}

static int
copy_one(int from, int to, const char *name, struct scratch *scratch)
{
	ssize_t had = fgetxattr(from, name, scratch->from, MOST), has = fgetxattr(to, name, scratch->to, MOST);

	if (had < 0)
		return -1;
	if (had == has && memcmp(scratch->from, scratch->to, (size_t)had) == 0)
		return 0;
	return fsetxattr(to, name, scratch->from, (size_t)had, 0);
}

/* The new file may have got some from its directory. A label of the kernel's cannot be removed. */
static int
remove_one(int from, int to, const char *name, struct scratch *scratch)
{
	if (strncmp(name, "security.", strlen("security.")) == 0 || fgetxattr(from, name, scratch->from, MOST) >= 0)
		return 0;
	return errno != ENODATA ? -1 : fremovexattr(to, name);
}

/* Calls `each` with each attribute of the file that names are taken of. */
static int
for_each(int named, int from, int to, int (*each)(int from, int to, const char *name, struct scratch *scratch))
{
	struct scratch *scratch = mem_new(sizeof(*scratch));
	ssize_t len = flistxattr(named, scratch->names, MOST);
	int result = len >= 0 || errno == ENOTSUP ? 0 : -1;

	for (ssize_t at = 0; at < len && result == 0; at += (ssize_t)strlen(scratch->names + at) + 1) {
		const char *name = scratch->names + at;

		if (!is_signature(name) && each(from, to, name, scratch) < 0 && errno != ENOTSUP)
			result = -1;
	}
	free(scratch);
	return result;
}

int
attributes_copy(int from, int to)
{
	return for_each(to, from, to, remove_one) < 0 ? -1 : for_each(from, from, to, copy_one);
}

#else

int
attributes_copy(int from, int to)
{
	(void)from;
	(void)to;
	return 0;
}

#endif
