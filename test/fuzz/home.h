/* A home of the fuzzer's own, with nothing but what it puts there, until it exits. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "folder.h"

enum { HOME_PATH = 64 };

static char home[] = "/tmp/fuzz-XXXXXX";

static inline void
home_leave(void)
{
	folder_remove(home);
}

/* Once; `path` becomes that of a file in it. */
static inline void
home_enter(char path[HOME_PATH], const char *file)
{
	if (mkdtemp(home) == NULL)
		abort();
	snprintf(path, HOME_PATH, "%s/%s", home, file);
	setenv("HOME", home, 1);
	unsetenv("XDG_CONFIG_HOME");
	atexit(home_leave);
}
