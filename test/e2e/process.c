#include "process.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "text.h"

enum { SWEEP = 10000 }; /* milliseconds */

static struct text
file_read(const char *path)
{
	struct text text = { 0 };
	FILE *file = fopen(path, "re");
	char piece[4096];
	size_t len;

	text_append(&text, "", 0);
	if (file == NULL)
		return text;
	while ((len = fread(piece, 1, sizeof(piece), file)) > 0)
		text_append(&text, piece, len);
	fclose(file);
	return text;
}

static struct text
process_file(pid_t pid, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return file_read(path);
}

/* The state follows the name, which is in parentheses and may hold any byte. */
char
process_state(pid_t pid)
{
	struct text stat = process_file(pid, "stat");
	const char *after = strrchr(stat.data, ')');
	char state = after == NULL ? 'X' : after[2];

	free(stat.data);
	return state;
}

static bool
is_live(pid_t pid)
{
	return strchr("ZX", process_state(pid)) == NULL;
}

static bool
is_marked(pid_t pid, const char *mark)
{
	struct text environment = process_file(pid, "environ");
	char variable[128];
	bool found;

	snprintf(variable, sizeof(variable), PROCESS_MARK "=%s", mark);
	found = memmem(environment.data, environment.len, variable, strlen(variable)) != NULL;
	free(environment.data);
	return found && pid != getpid() && is_live(pid);
}

/*
 * Processes that are none of a run, as they were there before it: most of a machine's, and reading
 * what each says takes longer than most tests. As /proc names them, in the order of their pids; a
 * process that gets the pid of one that has ended has another inode.
 */
static struct other {
	pid_t pid;
	ino_t inode;
} * others;
static size_t other_count;

void
process_note_others(void)
{
	DIR *directory;
	const struct dirent *entry;

	if (others != NULL || (directory = opendir("/proc")) == NULL)
		return;
	while ((entry = readdir(directory)) != NULL) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		others = realloc(others, (other_count + 1) * sizeof(*others));
		if (others == NULL)
			abort();
		others[other_count++] = (struct other){ (pid_t)atoi(entry->d_name), entry->d_ino };
	}
	closedir(directory);
}

static int
by_pid(const void *a, const void *b)
{
	return ((const struct other *)a)->pid - ((const struct other *)b)->pid;
}

static bool
is_other(pid_t pid, ino_t inode)
{
	const struct other *other = other_count == 0 ?
	    NULL :
	    bsearch(&(struct other){ .pid = pid }, others, other_count, sizeof(*others), by_pid);

	return other != NULL && other->inode == inode;
}

typedef void each_function(pid_t pid, void *context);

static int
each_marked(const char *mark, each_function *function, void *context)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (!isdigit((unsigned char)*entry->d_name) || is_other(pid, entry->d_ino) ||
		    !is_marked(pid, mark))
			continue;
		function(pid, context);
		count++;
	}
	if (directory != NULL)
		closedir(directory);
	return count;
}

static void
describe(pid_t pid, void *context)
{
	struct text command = process_file(pid, "cmdline");

	for (size_t i = 0; i + 1 < command.len; i++)
		if (command.data[i] == '\0')
			command.data[i] = ' ';
	text_print(context, "%d %c %s; ", (int)pid, process_state(pid), command.data);
	free(command.data);
}

static void
end(pid_t pid, void *context)
{
	(void)context;
	kill(pid, SIGKILL);
}

int
process_marked(const char *mark, char *list, size_t size)
{
	struct text text = { 0 };
	int count;

	text_append(&text, "", 0);
	count = each_marked(mark, describe, &text);
	snprintf(list, size, "%s", text.data);
	free(text.data);
	return count;
}

static void
look_at_sleep(pid_t pid, void *context)
{
	bool *all = context;

	*all = *all && strchr("ST", process_state(pid)) != NULL;
}

bool
process_all_sleep(const char *mark)
{
	bool all = true;

	return each_marked(mark, look_at_sleep, &all) > 0 && all;
}

void
process_sweep(const char *mark)
{
	for (long limit = milliseconds() + SWEEP;
	     each_marked(mark, end, NULL) > 0 && milliseconds() < limit;)
		;
}

static bool
has_word(pid_t pid, const char *word)
{
	struct text command = process_file(pid, "cmdline");
	bool found = memmem(command.data, command.len, word, strlen(word)) != NULL;

	free(command.data);
	return found && is_live(pid);
}

/*
 * Those of the process that are live or not waited for, but for what writes its history; the caller
 * frees it.
 */
static pid_t *
children_of(pid_t parent)
{
	char path[64];
	struct text children;
	pid_t *pids;
	size_t count = 0;

	snprintf(path, sizeof(path), "task/%d/children", (int)parent);
	children = process_file(parent, path);
	pids = calloc(children.len + 1, sizeof(*pids));
	for (char *rest = children.data, *at; (at = strsep(&rest, " ")) != NULL && *at != '\0';) {
		struct text comm = process_file((pid_t)atoi(at), "comm");

		if (comm.data == NULL ||
		    strncmp(comm.data, "cancel-history", strlen("cancel-history")) != 0)
			pids[count++] = (pid_t)atoi(at);
		free(comm.data);
	}
	free(children.data);
	return pids;
}

/*
 * Until it calls exec, and what writes the history never does, a child has its parent's command
 * line too.
 */
static bool
has_executed(pid_t pid, pid_t parent)
{
	char path[64], program[2][PATH_MAX];
	ssize_t len[2];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)(i == 0 ? pid : parent));
		len[i] = readlink(path, program[i], sizeof(program[i]));
	}
	return len[0] > 0 &&
	    (len[0] != len[1] || memcmp(program[0], program[1], (size_t)len[0]) != 0);
}

pid_t
process_child(pid_t parent, const char *word)
{
	pid_t *pids = children_of(parent);
	pid_t found = -1;

	for (size_t i = 0; pids[i] > 0; i++) {
		pid_t below = process_child(pids[i], word);

		if (below > 0)
			found = below;
		else if (has_word(pids[i], word) && has_executed(pids[i], parent))
			found = pids[i];
	}
	free(pids);
	return found;
}

pid_t
process_named(pid_t parent, const char *name)
{
	pid_t *pids = children_of(parent);
	pid_t found = -1;

	for (size_t i = 0; pids[i] > 0; i++) {
		struct text comm = process_file(pids[i], "comm");

		if (strncmp(comm.data, name, strlen(name)) == 0 && is_live(pids[i]))
			found = pids[i];
		free(comm.data);
	}
	free(pids);
	return found;
}

pid_t
process_first(pid_t parent)
{
	pid_t *pids = children_of(parent);
	pid_t first = -1;

	for (size_t i = 0; pids[i] > 0 && first < 0; i++)
		first = is_live(pids[i]) ? pids[i] : -1;
	free(pids);
	return first;
}

pid_t
process_guardian(pid_t canceld)
{
	pid_t named = process_named(canceld, "cancel-guard");

	return named > 0 || process_named(canceld, "cancel-start") > 0 ? named :
									 process_first(canceld);
}

/* In place of the C library's: a process that was not found is -1, which is all that there are. */
int
kill(pid_t pid, int number)
{
	if (pid == -1)
		abort();
	return (int)syscall(SYS_kill, pid, number);
}

bool
process_has_child(pid_t parent, pid_t beside)
{
	pid_t *pids = children_of(parent);
	bool found = false;

	for (size_t i = 0; pids[i] > 0; i++)
		found = found || (pids[i] != beside && is_live(pids[i]));
	free(pids);
	return found;
}

/* A field of /proc/PID/stat, counted from the state, which is 0. */
static long
stat_field(pid_t pid, int field)
{
	struct text stat = process_file(pid, "stat");
	const char *at = strrchr(stat.data, ')');
	long number = -1;

	for (at = at == NULL ? NULL : at + 1; at != NULL && field >= 0; field--)
		at = strchr(at + 1, ' ');
	if (at != NULL)
		number = atol(at + 1);
	free(stat.data);
	return number;
}

pid_t
process_group(pid_t pid)
{
	return (pid_t)stat_field(pid, 1);
}

pid_t
process_session(pid_t pid)
{
	return (pid_t)stat_field(pid, 2);
}

/* The number that follows a name in a file of lines; -1 without it. */
static long
number_behind(pid_t pid, const char *file, const char *name)
{
	struct text text = process_file(pid, file);
	const char *line = strstr(text.data, name);
	long number = line == NULL ? -1 : atol(line + strlen(name));

	free(text.data);
	return number;
}

/* The same for kilobytes, as bytes. */
static long
bytes_behind(pid_t pid, const char *file, const char *name)
{
	long kilobytes = number_behind(pid, file, name);

	return kilobytes < 0 ? -1 : kilobytes * 1024;
}

long
process_share(pid_t pid)
{
	return bytes_behind(pid, "smaps_rollup", "\nPss:");
}

long
process_switches(pid_t pid)
{
	return number_behind(pid, "status", "\nvoluntary_ctxt_switches:");
}

long
process_filters(pid_t pid)
{
	return number_behind(pid, "status", "\nSeccomp_filters:");
}

long
process_resident(pid_t pid)
{
	return bytes_behind(pid, "status", "\nVmRSS:");
}

long
process_peak(pid_t pid)
{
	return bytes_behind(pid, "status", "\nVmHWM:");
}

double
process_seconds(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return -1;
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

int
process_descriptors(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *directory;
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		count += isdigit((unsigned char)*entry->d_name) != 0;
	if (directory != NULL)
		closedir(directory);
	return count;
}

bool
process_ended(pid_t pid)
{
	return !is_live(pid);
}

bool
process_has_text(const char *path, const char *text)
{
	struct text file = file_read(path);
	bool found = memmem(file.data, file.len, text, strlen(text)) != NULL;

	free(file.data);
	return found;
}

/*
 * canceld reads the configuration of its user and leaves a socket in the home: not in the
 * developer's. npx keeps its cache.
 */
static bool
leave_home(const char *directory)
{
	const char *home = getenv("HOME");
	char path[512];

	snprintf(path, sizeof(path), "%s/.npm", home == NULL ? directory : home);
	setenv("npm_config_cache", path, 0);
	snprintf(path, sizeof(path), "%s/home", directory);
	if (mkdir(path, 0700) < 0) {
		perror(path);
		return false;
	}
	setenv("HOME", path, 1);
	return true;
}

static void
clean_up(const char *mark, const char *directory)
{
	process_sweep(mark);
	folder_remove(directory);
}

/* Waits, as no child of this process, until it and all that it has forked are gone. */
static bool
leave_keeper(const char *mark, const char *directory)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	if (fork() == 0) {
		if (fork() > 0)
			_exit(0);
		setsid();
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 0)
			clean_up(mark, directory);
		_exit(0);
	}
	close(ends[0]);
	return wait(NULL) > 0;
}

void
process_end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

pid_t
process_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		process_end_with_parent();
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

int
process_guard(const char *name, int (*run)(void))
{
	const char *parent = getenv("TMPDIR");
	char directory[256];
	char mark[32];
	int status;

	snprintf(directory, sizeof(directory), "%s/canceld-%s.XXXXXX",
	    parent == NULL ? "/tmp" : parent, name);
	if (mkdtemp(directory) == NULL) {
		perror(directory);
		return 1;
	}
	snprintf(mark, sizeof(mark), "%s-%d.", name, (int)getpid());
	setenv("E2E_DIRECTORY", directory, 1);
	setenv("TMPDIR", directory, 1);
	unsetenv("XDG_STATE_HOME");
	setenv(PROCESS_MARK, mark, 1);
	if (!leave_home(directory) || !leave_keeper(mark, directory))
		return 1;
	status = run();
	clean_up(mark, directory);
	return status;
}
