/*
 * What the server is born with: a program that is started directly and one behind canceld, at first
 * and again, must find the same. Nothing that works without canceld may fail with it.
 */
#include <ctype.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "client.h"
#include "hide.h"
#include "needs.h"
#include "peers.h"
#include "shell.h"

extern char **environ;

enum { DESCRIPTORS = 1024, SIGNALS = 65 };

/* --- the server: it tells all that it finds */

__attribute__((format(printf, 3, 4))) static void
put(json_t *facts, const char *name, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_object_set_new(facts, name, json_string(text));
}

static void
put_descriptors(json_t *facts)
{
	struct stat status;
	char name[32];

	for (int fd = 0; fd < DESCRIPTORS; fd++) {
		bool file;

		if (fstat(fd, &status) < 0)
			continue;
		file = S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
		snprintf(name, sizeof(name), "descriptor %d", fd);
		put(facts, name, "kind %o flags %x close %d file %ld at %ld",
		    (unsigned)(status.st_mode & S_IFMT), fcntl(fd, F_GETFL), fcntl(fd, F_GETFD),
		    file ? (long)status.st_ino : 0, file ? (long)lseek(fd, 0, SEEK_CUR) : 0);
	}
}

static void
put_signals(json_t *facts)
{
	sigset_t mask, pending;
	char text[4][SIGNALS + 1] = { "" };

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigpending(&pending);
	for (int i = 1; i < SIGNALS; i++) {
		struct sigaction action = { .sa_handler = SIG_DFL };

		text[0][i - 1] = sigaction(i, NULL, &action) < 0 ? '?' :
		    action.sa_handler == SIG_IGN                 ? 'i' :
								   '.';
		text[1][i - 1] = sigismember(&mask, i) > 0 ? 'b' : '.';
		text[2][i - 1] = sigismember(&pending, i) > 0 ? 'p' : '.';
	}
	put(facts, "signals ignored", "%s", text[0]);
	put(facts, "signals blocked", "%s", text[1]);
	put(facts, "signals pending", "%s", text[2]);
}

static void
put_words(json_t *facts)
{
	char name[32], directory[1024];
	mode_t mask = umask(0);
	gid_t groups[256];
	int count = getgroups(256, groups);

	for (int i = 0; environ[i] != NULL; i++) {
		snprintf(name, sizeof(name), "environment %d", i);
		put(facts, name, "%s", environ[i]);
	}
	put(facts, "directory", "%s", getcwd(directory, sizeof(directory)));
	put(facts, "umask", "%o", (unsigned)mask);
	put(facts, "users", "%d %d %d %d", (int)getuid(), (int)geteuid(), (int)getgid(),
	    (int)getegid());
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "group %d", i);
		put(facts, name, "%d", (int)groups[i]);
	}
	put(facts, "nice", "%d", getpriority(PRIO_PROCESS, 0));
	put(facts, "leads a process group", "%d", getpgrp() == getpid());
	put(facts, "terminal", "%d", open("/dev/tty", O_RDWR | O_CLOEXEC) >= 0);
}

#ifdef __linux__
/* The members of /proc/self/status that tell of rights and places, and not of work done. */
static const char *const status_members[] = { "Umask", "Uid", "Gid", "Groups", "SigPnd", "ShdPnd",
	"SigBlk", "SigIgn", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs",
	"Seccomp", "Seccomp_filters", "Speculation_Store_Bypass", "SpeculationIndirectBranch",
	"CoreDumping", "THP_enabled", "Cpus_allowed", "Mems_allowed", "TracerPid" };

static const char *const proc_files[] = { "oom_score_adj", "timerslack_ns", "personality",
	"coredump_filter", "cgroup", "loginuid", "sessionid", "attr/current", "uid_map", "gid_map",
	"setgroups", "cpuset" };

static const char *const proc_links[] = { "cwd", "root", "ns/cgroup", "ns/ipc", "ns/mnt", "ns/net",
	"ns/pid", "ns/pid_for_children", "ns/time", "ns/user", "ns/uts" };

static const struct {
	const char *name;
	int number;
} attributes[] = {
	{ "securebits", PR_GET_SECUREBITS },
	{ "dumpable", PR_GET_DUMPABLE },
	{ "keepcaps", PR_GET_KEEPCAPS },
	{ "no transparent huge pages", PR_GET_THP_DISABLE },
	{ "machine checks", PR_MCE_KILL_GET },
	{ "flusher", 58 /* PR_GET_IO_FLUSHER */ },
	{ "timer slack", PR_GET_TIMERSLACK },
	{ "timing", PR_GET_TIMING },
};

static void
put_status(json_t *facts)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[1024], *value;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		value = strchr(line, ':');
		if (value == NULL)
			continue;
		*value++ = '\0';
		for (int i = 0; i < COUNT(status_members); i++)
			if (strcmp(line, status_members[i]) == 0)
				put(facts, line, "%s", value);
	}
	if (file != NULL)
		fclose(file);
}

static void
put_proc(json_t *facts)
{
	char path[64], text[1024];
	ssize_t len;

	for (int i = 0; i < COUNT(proc_files); i++) {
		int fd;

		snprintf(path, sizeof(path), "/proc/self/%s", proc_files[i]);
		if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
			continue;
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
		put(facts, proc_files[i], "%.*s", len > 0 ? (int)len : 0, text);
	}
	for (int i = 0; i < COUNT(proc_links); i++) {
		snprintf(path, sizeof(path), "/proc/self/%s", proc_links[i]);
		len = readlink(path, text, sizeof(text));
		put(facts, proc_links[i], "%.*s", len > 0 ? (int)len : 0, text);
	}
}

static void
put_limits(json_t *facts)
{
	unsigned long long limit[2]; /* soft and hard */
	char name[32];

	for (int i = 0; syscall(SYS_prlimit64, 0, i, NULL, limit) == 0; i++) {
		snprintf(name, sizeof(name), "limit %d", i);
		put(facts, name, "%llu of %llu", limit[0], limit[1]);
	}
}

static void
put_system(json_t *facts)
{
	unsigned char processors[128] = { 0 };
	unsigned scheduling[16] = { sizeof(scheduling) };
	unsigned long nodes[64] = { 0 };
	char text[257] = "";
	int mode = -1;

	put_status(facts);
	put_limits(facts);
	put_proc(facts);
	for (int i = 0; i < COUNT(attributes); i++)
		put(facts, attributes[i].name, "%d", prctl(attributes[i].number, 0, 0, 0, 0));
	put(facts, "personality", "%x", (unsigned)personality(0xffffffff));
	syscall(SYS_sched_getaffinity, 0, sizeof(processors), processors);
	for (size_t i = 0; i < sizeof(processors); i++)
		snprintf(text + 2 * i, 3, "%02x", processors[i]);
	put(facts, "processors", "%s", text);
	syscall(SYS_sched_getattr, 0, scheduling, sizeof(scheduling), 0);
	/* without the slice of its run time, which is the kernel's */
	put(facts, "scheduling", "%u %x%x %u %u bounds %u %u", scheduling[1], scheduling[2],
	    scheduling[3], scheduling[4], scheduling[5], scheduling[12], scheduling[13]);
	put(facts, "input and output", "%ld", syscall(SYS_ioprio_get, 1, 0));
	syscall(SYS_get_mempolicy, &mode, nodes, 4096, NULL, 0);
	put(facts, "memory", "%d %lx", mode, nodes[0]);
	if (syscall(SYS_keyctl, 6 /* KEYCTL_DESCRIBE */, -3 /* of the session */, text,
		sizeof(text) - 1) > 0)
		put(facts, "keyring", "%s", text);
	prctl(PR_GET_PDEATHSIG, &mode);
	put(facts, "parent-death signal", "%d", mode);
	prctl(PR_GET_CHILD_SUBREAPER, &mode);
	put(facts, "child subreaper", "%d", mode);
}
#else
static void
put_system(json_t *facts)
{
	(void)facts;
}
#endif

char *
inherited_facts(void)
{
	json_t *facts = json_object();
	char *text;

	put_descriptors(facts);
	put_signals(facts);
	put_words(facts);
	put_system(facts);
	text = json_dumps(facts, 0);
	json_decref(facts);
	return text;
}

/* --- its caller: what a client or a person may have set before */

static void
set_nothing(void)
{
}

static void
set_dispositions(void)
{
	for (int i = 1; i < SIGNALS; i++)
		signal(i, SIG_IGN);
}

static void
set_mask(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

static void
set_some_signals(void)
{
	sigset_t set;

	signal(SIGCHLD, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

/* What canceld itself can live with; a sanitizer maps terabytes. */
static void
set_limits(void)
{
#ifdef __linux__
	static const unsigned long long most[] = { [RLIMIT_CPU] = 2000,
		[RLIMIT_FSIZE] = 1ULL << 40,
		[RLIMIT_STACK] = 16 << 20,
		[RLIMIT_NOFILE] = 400,
		[RLIMIT_NPROC] = 20000,
		[RLIMIT_CORE] = 1 };
	unsigned long long limit[2]; /* soft and hard */

	for (int i = 0; syscall(SYS_prlimit64, 0, i, NULL, limit) == 0; i++) {
		unsigned long long wanted = i < COUNT(most) && most[i] != 0 ? most[i] : 1ULL << 47;

		if (limit[1] > wanted)
			limit[1] = wanted;
		if (limit[0] > limit[1] / 4 * 3)
			limit[0] = limit[1] / 4 * 3;
		syscall(SYS_prlimit64, 0, i, limit, NULL);
	}
#endif
}

static void
set_places(void)
{
	static char *words[512] = { "EMPTY=", "TWICE=1", "TWICE=2", "no equals sign", "=nameless",
		"LD_BIND_NOW=", "line=a\nb", "JSON={\"a\":\"\\u0000\"}" };
	int count = 8;

	for (int i = 0; environ[i] != NULL && count < 510; i++)
		words[count++] = environ[i];
	environ = words;
	umask(027);
	(void)!chdir("/dev");
}

static void
set_descriptors(void)
{
	int pair[2], file = open(getenv("CANCELD"), O_RDONLY);

	lseek(file, 17, SEEK_SET);
	dup2(file, 9);
	dup2(open("/dev/null", O_WRONLY | O_APPEND | O_NONBLOCK), 250);
	dup2(open("/", O_RDONLY | O_DIRECTORY), 11);
	if (pipe(pair) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
		fcntl(pair[0], F_SETFL, O_NONBLOCK);
}

static void
write_proc(const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	if ((fd = open(path, O_WRONLY | O_CLOEXEC)) < 0)
		return;
	(void)!write(fd, text, strlen(text));
	close(fd);
}

static void
set_priorities(void)
{
	(void)!nice(3);
#ifdef __linux__
	unsigned char first[128] = { 1 };

	sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
	syscall(SYS_sched_setaffinity, 0, sizeof(first), first);
	syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6);
	syscall(SYS_set_mempolicy, 1 /* MPOL_PREFERRED */, NULL, 0);
	write_proc("oom_score_adj", "321");
	write_proc("coredump_filter", "0x3");
	prctl(PR_SET_TIMERSLACK, 123456, 0, 0, 0);
	prctl(PR_MCE_KILL, 1, 1, 0, 0);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	prctl(57 /* PR_SET_IO_FLUSHER */, 1, 0, 0, 0);
	syscall(SYS_keyctl, 1 /* KEYCTL_JOIN_SESSION_KEYRING */, "inherited");
	personality(ADDR_NO_RANDOMIZE | 0x0020000 /* UNAME26 */);
#endif
}

static void
set_rights(void)
{
#ifdef __linux__
	const gid_t groups[] = { 7, 4, 12345 };

	syscall(SYS_setgroups, 3, groups);
	prctl(PR_CAPBSET_DROP, 25 /* CAP_SYS_TIME */, 0, 0, 0);
	prctl(PR_SET_SECUREBITS, 1 << 6 /* SECBIT_NO_CAP_AMBIENT_RAISE */, 0, 0, 0);
	prctl(PR_SET_SPECULATION_CTRL, 0, 1UL << 2 /* PR_SPEC_DISABLE */, 0, 0);
#endif
}

/* As in a container: a filter is there already, and no_new_privs. */
static void
set_filter(void)
{
#ifdef __linux__
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){ 1, &allow });
#endif
}

static void (*const callers[])(void) = { set_nothing, set_dispositions, set_mask, set_some_signals,
	set_limits, set_places, set_descriptors, set_priorities, set_rights, set_filter };

/* --- the comparison */

/* How canceld starts servers: by its starter, without isolation, and without a starter. */
enum how { ISOLATED, NOT_ISOLATED, NO_STARTER, HOWS };

/* What differs by design: canceld(7), "The server's environment", and canceld(1), CAVEATS. */
static const char *const by_design[] = {
	"leads a process group", /* a placeholder leads it, so that the server may call setsid(2) */
	"terminal",              /* the guardian has a session of its own */
	"parent-death signal",   /* the server ends with its guardian */
	"child subreaper",       /* no process inherits that; the guardian adopts all orphans */
};

static bool
differs_by_design(const char *name)
{
	for (int i = 0; i < COUNT(by_design); i++)
		if (strcmp(name, by_design[i]) == 0)
			return true;
	return false;
}

static struct run *
start(int caller, enum how how, const char *mark)
{
	return run_start(&(struct setup){
	    .options = how == NOT_ISOLATED ?
		"--no-isolation -k300ms -t stuck=100ms --kill-after 100ms --term-after 100ms" :
		"-k300ms -t stuck=100ms --kill-after 100ms --term-after 100ms",
	    .command = "peer inherited",
	    .prepare = callers[caller],
	    .hides = how == NO_STARTER ? "/proc/self/ns/pid" : NULL,
	    .mark = mark,
	    .bare = mark == NULL,
	});
}

static json_t *
ask(struct run *run, const char *id)
{
	run_sendf(run, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"facts\"}", id);
	return json_incref(at(run_expect_answer(run, id), "result"));
}

static void
compare(json_t *with, json_t *without, const char *start)
{
	const char *name;
	json_t *value;

	json_object_foreach (without, name, value)
		ck_assert_msg(differs_by_design(name) ||
			json_equal(value, json_object_get(with, name)),
		    "%s: %s is '%s' behind canceld and '%s' without", start, name,
		    json_string_value(json_object_get(with, name)), json_string_value(value));
	json_object_foreach (with, name, value)
		ck_assert_msg(json_object_get(without, name) != NULL,
		    "%s: %s is '%s' behind canceld only", start, name, json_string_value(value));
	json_decref(with);
}

SUITE("inherited", .seconds = 40);

TESTS(a_server_finds_what_it_would_without_canceld, 0, COUNT(callers) * HOWS)
{
	int caller = _i / HOWS;
	enum how how = (enum how)(_i % HOWS);
	struct run *run;
	json_t *without;
	char mark[sizeof(run->mark)];

	if (how == NO_STARTER && !can_hide())
		return;
	run = start(caller, how, NULL);
	snprintf(mark, sizeof(mark), "%s", run->mark);
	without = ask(run, "1");
	run_leave(run, 0);
	run_end(run);
	run = start(caller, how, mark); /* it is a variable of the environment */
	run_handshake(run);
	compare(ask(run, "1"), without, "at first");
	run_sendf(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"crash\"}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	compare(ask(run, "3"), without, "after a crash");
	run_sendf(run, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"stuck\"}");
	run_expect_error(run, "4", CODE_CANCELLED, "timeout");
	compare(ask(run, "5"), without, "after it was stuck");
	run_expect_shell(run, "$C restart $PID", 0, "]: restarted\n");
	compare(ask(run, "6"), without, "after cancelctl restart");
	json_decref(without);
	run_end(run);
}
