#include "needs.h"

#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
	const char *name, *reason;
} features[] = {
	[SYSTEM_ADOPTS] = { "SYSTEM_ADOPTS", "orphans of the server are not found" },
	[SYSTEM_DIES_ALONG] = { "SYSTEM_DIES_ALONG",
	    "no process is told that its parent has ended" },
	[SYSTEM_SEES_ENDS] = { "SYSTEM_SEES_ENDS",
	    "no descriptor tells that the other end has gone" },
	[SYSTEM_SEES_CLIENT] = { "SYSTEM_SEES_CLIENT", "the client's process is unknown" },
	[SYSTEM_KNOWS_NAMES] = { "SYSTEM_KNOWS_NAMES", "names of processes are unknown" },
	[SYSTEM_RENAMES] = { "SYSTEM_RENAMES", "a process keeps its name" },
	[SYSTEM_LISTS] = { "SYSTEM_LISTS", "processes cannot be listed" },
	[SYSTEM_OPENS_ANEW] = { "SYSTEM_OPENS_ANEW", "no other process can open a descriptor" },
	[SYSTEM_KEEPS_MORE] = { "SYSTEM_KEEPS_MORE", "attributes of a file are not copied" },
	[SYSTEM_SENDS_AT_ONCE] = { "SYSTEM_SENDS_AT_ONCE", "a write to a socket may block" },
	[SYSTEM_ISOLATES] = { "SYSTEM_ISOLATES", "a process keeps the rights that it has" },
};

static atomic_int *skipped; /* of each feature; shared with the processes of the tests */

__attribute__((constructor)) static void
share(void)
{
	skipped = mmap(NULL, COUNT(features) * sizeof(*skipped), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

bool
needs_or_skips(enum system_feature feature, const char *file, const char *function, int row)
{
	size_t len = strlen(function), suffix = strlen("_run");

	if (system_has(feature))
		return true;
	if (len > suffix && strcmp(function + len - suffix, "_run") == 0)
		len -= suffix;
	dprintf(STDOUT_FILENO, "skipped: %s:%.*s:%d: %s: %s\n", file, (int)len, function, row,
	    features[feature].name, features[feature].reason);
	if (skipped != MAP_FAILED)
		atomic_fetch_add(&skipped[feature], 1);
	return false;
}

void
needs_report(void)
{
	for (int i = 0; skipped != MAP_FAILED && i < COUNT(features); i++)
		if (skipped[i] > 0)
			printf("skipped in all: %4d without %s: %s\n", skipped[i], features[i].name,
			    features[i].reason);
}
