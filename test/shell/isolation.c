/* Each call that is refused, tried from inside. */
#include "shell/system.h"

#include <check.h>

#include "folder.h"
#include "needs.h"

#ifdef __linux__
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

SUITE("isolation", .alone = true);

/*
 * common: every process may try it, so that EPERM is the filter's. The numbers from 424 on are
 * those of all processors.
 */
static const struct {
	const char *name;
	long number;
	long arguments[3];
	bool common;
} calls[] = {
	{ "execve", SYS_execve, { 0 }, true },
	{ "execveat", SYS_execveat, { -1 }, true },
	{ "ptrace", SYS_ptrace, { PTRACE_CONT, 1 << 30 }, true },
	{ "process_vm_readv", SYS_process_vm_readv, { 1 << 30 }, true },
	{ "process_vm_writev", SYS_process_vm_writev, { 1 << 30 }, true },
	{ "pidfd_getfd", 438, { -1 }, true },
	{ "process_madvise", 440, { -1 }, false },
	{ "kcmp", SYS_kcmp, { 1 << 30 }, false },
	{ "socket AF_INET", SYS_socket, { AF_INET, SOCK_STREAM }, true },
	{ "socket AF_INET6", SYS_socket, { AF_INET6, SOCK_DGRAM }, true },
	{ "socket AF_NETLINK", SYS_socket, { 16, SOCK_DGRAM }, true },
	{ "socketpair AF_INET", SYS_socketpair, { AF_INET, SOCK_STREAM }, true },
	{ "ioctl TIOCSTI", SYS_ioctl, { -1, TIOCSTI }, true },
	{ "ioctl TIOCLINUX", SYS_ioctl, { -1, TIOCLINUX }, true },
	{ "setuid", SYS_setuid, { -1 }, true },
	{ "setgid", SYS_setgid, { -1 }, true },
	{ "setreuid", SYS_setreuid, { -1, -1 }, true },
	{ "setregid", SYS_setregid, { -1, -1 }, true },
	{ "setresuid", SYS_setresuid, { -1, -1, -1 }, true },
	{ "setresgid", SYS_setresgid, { -1, -1, -1 }, true },
	{ "setfsuid", SYS_setfsuid, { -1 }, true },
	{ "setfsgid", SYS_setfsgid, { -1 }, true },
	{ "setgroups", SYS_setgroups, { -1 }, false },
	{ "capset", SYS_capset, { 0 }, true },
	{ "init_module", SYS_init_module, { 0 }, false },
	{ "finit_module", SYS_finit_module, { -1 }, false },
	{ "delete_module", SYS_delete_module, { 0 }, false },
	{ "kexec_load", SYS_kexec_load, { 0 }, false },
	{ "bpf", SYS_bpf, { -1 }, false },
	{ "perf_event_open", SYS_perf_event_open, { 0 }, false },
	{ "userfaultfd", SYS_userfaultfd, { -1 }, false },
	{ "io_uring_setup", 425, { 0 }, false },
	{ "mount", SYS_mount, { 0 }, false },
	{ "umount2", SYS_umount2, { 0 }, false },
	{ "pivot_root", SYS_pivot_root, { 0 }, false },
	{ "chroot", SYS_chroot, { 0 }, false },
	{ "unshare", SYS_unshare, { 0 }, false },
	{ "setns", SYS_setns, { -1 }, false },
	{ "open_tree", 428, { -1 }, false },
	{ "move_mount", 429, { -1 }, false },
	{ "fsopen", 430, { 0 }, false },
	{ "fsmount", 432, { -1 }, false },
	{ "mount_setattr", 442, { -1 }, false },
};

/* What a child finds, which is isolated if there are folders: 0, or what it failed at. */
static int
in_child(int (*look)(int i), int i, const char *const folders[])
{
	int status = -1;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (folders != NULL)
			system_isolate(folders);
		_exit(look(i));
	}
	waitpid(pid, &status, 0);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
try_call(int i)
{
	const long *arguments = calls[i].arguments;

	return syscall(calls[i].number, arguments[0], arguments[1], arguments[2], 0, 0) == -1 ?
	    errno :
	    0;
}

static const char *const no_folders[] = { NULL };

TESTS(a_call_that_canceld_does_not_need_is_refused, 0, COUNT(calls))
{
	NEEDS(SYSTEM_ISOLATES);
	if (calls[_i].common)
		ck_assert_msg(in_child(try_call, _i, NULL) != EPERM, "%s without the filter",
		    calls[_i].name);
	ck_assert_msg(in_child(try_call, _i, no_folders) == EPERM, "%s", calls[_i].name);
}

#ifdef __x86_64__
/* The numbers of other tables, which reach the same calls: x32's, and those of 32 bits. */
static int
try_other_table(int i)
{
	long result = 20; /* getpid */

	if (i == 0)
		return syscall((1 << 30) | SYS_getpid) == -1 ? errno : 0;
	__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
	return result < 0 ? (int)-result : 0;
}

TESTS(a_call_by_a_number_of_another_table_is_refused, 0, 2)
{
	NEEDS(SYSTEM_ISOLATES);
	ck_assert_int_eq(in_child(try_other_table, _i, no_folders), EPERM);
}
#endif

#define MUST(condition) \
	do { \
		if (!(condition)) \
			return __LINE__ % 250 + 1; \
	} while (0)

static int
try_what_is_needed(int i)
{
	int pair[2];
	pid_t pid;

	(void)i;
	MUST(system_socket_pair(pair) == 0 && system_socket(AF_UNIX) >= 0);
	MUST(system_pipe(pair) == 0 && write(pair[1], "x", 1) == 1);
	MUST(system_open_anew(pair[0]) >= 0 && system_open_anew(pair[1]) >= 0);
	MUST(ioctl(pair[0], FIONREAD, &i) == 0);
	MUST(system_watch_end(pair[0], true) >= 0 && system_watch_process(getpid()) >= 0);
	pid = system_fork_hidden();
	if (pid == 0)
		_exit(0);
	MUST(pid > 0 && kill(pid, 0) == 0);
	system_reap_hidden(pid, 0);
	return 0;
}

TEST(what_canceld_needs_is_not_refused)
{
	NEEDS(SYSTEM_ISOLATES);
	ck_assert_int_eq(in_child(try_what_is_needed, 0, NULL), 0);
	ck_assert_int_eq(in_child(try_what_is_needed, 0, no_folders), 0);
}

static char root[64];

static int
open_file(const char *name, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/* As the history's writer turns its file over, and as the control socket is removed. */
static int
try_files(int i)
{
	char from[128], to[128];

	(void)i;
	MUST(open_file("kept/new", O_WRONLY | O_CREAT) >= 0);
	MUST(open_file("kept/old", O_WRONLY | O_APPEND | O_TRUNC) >= 0);
	snprintf(from, sizeof(from), "%s/kept/old", root);
	snprintf(to, sizeof(to), "%s/kept/old.1", root);
	MUST(rename(from, to) == 0 && unlink(to) == 0);
	MUST(open_file("other/old", O_RDONLY) >= 0);
	MUST(open_file("other/old", O_WRONLY) == -EACCES);
	MUST(open_file("other/new", O_WRONLY | O_CREAT) == -EACCES);
	snprintf(from, sizeof(from), "%s/other/old", root);
	MUST(unlink(from) < 0 && errno == EACCES);
	MUST(rename(from, to) < 0 && truncate(from, 0) < 0);
	snprintf(to, sizeof(to), "%s/other/folder", root);
	MUST(mkdir(to, 0700) < 0 && mkfifo(to, 0600) < 0 && symlink("/", to) < 0);
	return 0;
}

TEST(files_are_changed_in_the_folders_only)
{
	char kept[80], name[80];
	const char *const folders[] = { "", kept, "/no/such/folder", NULL };

	NEEDS(SYSTEM_ISOLATES);
	if (syscall(444, NULL, 0, 1) < 3) { /* landlock_create_ruleset: its version */
		fprintf(stderr,
		    "skipped: files are changed in the folders only, as this kernel's "
		    "Landlock is missing or old\n");
		return;
	}
	snprintf(root, sizeof(root), "/tmp/isolation.%ld", (long)getpid());
	snprintf(kept, sizeof(kept), "%s/kept", root);
	snprintf(name, sizeof(name), "%s/kept/old", root);
	ck_assert_int_eq(folder_put(name, "old"), 0);
	snprintf(name, sizeof(name), "%s/other/old", root);
	ck_assert_int_eq(folder_put(name, "old"), 0);
	ck_assert_int_eq(in_child(try_files, 0, folders), 0);
	ck_assert_int_eq(folder_remove(root), 0);
}

static int
write_on(int i)
{
	return write(i, "x", 1) == 1 && ftruncate(i, 0) == 0 ? 0 : errno;
}

TEST(what_is_open_stays_so)
{
	FILE *file = tmpfile();

	NEEDS(SYSTEM_ISOLATES);
	ck_assert_int_eq(in_child(write_on, fileno(file), no_folders), 0);
	fclose(file);
}
#endif

/* The rules take the one descriptor that is left: without its own a folder could not be changed. */
TEST(a_folder_that_cannot_be_opened_is_told)
{
	const char *const folders[] = { ".", NULL };
	struct rlimit most = { 64, 64 };
	int status, last = -1;
	pid_t pid;

	NEEDS(SYSTEM_ISOLATES);
	if (syscall(444, NULL, 0, 1) < 1) {
		fprintf(stderr,
		    "skipped: a folder that cannot be opened is told, as this kernel has no Landlock\n");
		return;
	}
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		alarm(20);
		setrlimit(RLIMIT_NOFILE, &most);
		for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;)
			last = fd;
		close(last);
		_exit(system_isolate(folders) || errno != EMFILE);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
