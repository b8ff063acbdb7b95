#pragma once

/*
 * Replaces the contents of a file of this user's so that at any moment, whatever ends us, its name
 * has all of the old or all of the new bytes. Mode, group, ACL and extended attributes stay; a
 * backup is made first.
 */

#include <limits.h>
#include <sys/stat.h>

#include "core/buf.h"

enum { REPLACE_MOST = 64 << 20 }; /* bytes of a file */

struct replace {
	char *path; /* without symbolic links */
	struct buf text;
	struct stat status;
	char backup[PATH_MAX]; /* where the old contents are, once it is replaced */
	char fault[512];
};

/*
 * Reads the file. Symbolic links are followed; within: a directory in which the file has to be
 * after that, or NULL. 0, or -1 with the fault: also of another user, not a regular file, with
 * another name (a hard link). Call replace_free in any case.
 */
int replace_read(struct replace *file, const char *path, const char *within) MUST_USE;

/*
 * Whether the file that was read may be replaced, which is not asked of its own rights: 0, or -1
 * with the fault.
 */
int replace_check(struct replace *file) MUST_USE;

/*
 * Puts text in its place. state: the directory for backups, made if it is not there; nobody else
 * may read it. 0, or -1 with the fault: also if another program has changed the file since it was
 * read.
 */
int replace_write(struct replace *file, struct span text, char *state) MUST_USE;
void replace_free(struct replace *file);
