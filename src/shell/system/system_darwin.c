/*
 * macOS 11 and later. Facts: the manual pages, xnu's sources and what others have reported; nobody
 * of us has run this.
 *
 * kqueue(2) shows no end of a FIFO, poll(2), which is made of it, neither; and no end of a socket
 * but beside its bytes.
 */
#include "shell/system.h"

#include <copyfile.h>
#include <libproc.h>
#include <mach-o/dyld.h>
#include <sys/event.h>
#include <sys/proc.h>
#include <sys/select.h>
#include <sys/sysctl.h>

#include "descendants.h"

enum {
	/* more than there are pids; memory that is not used costs nothing */
	PROCESS_MOST = 1 << 17,
	EVENTS = 64,
	ROUNDS = 8,
};

/* Not in Apple's headers, but in xnu's. */
enum { PROC_PIDUNIQIDENTIFIERINFO = 17 };
struct identity {
	uint8_t uuid[16]; /* of the program */
	/* newer kernels: if an orphan executes a program, its origin is init */
	uint64_t id, origin;
	/* they only grow, with each fork and exec; 0: an older kernel */
	int32_t version, origin_version;
	uint64_t reserved[8]; /* more than there is: a kernel may give more */
};

bool
system_has(enum system_feature feature)
{
	return feature != SYSTEM_DIES_ALONG && feature != SYSTEM_RENAMES &&
	    feature != SYSTEM_OPENS_ANEW && feature != SYSTEM_SENDS_AT_ONCE;
}

bool
system_is_ready(int fd, bool writing)
{
	struct timeval now = { 0 };
	fd_set ready;

	if (fd >= FD_SETSIZE)
		return true;
	FD_ZERO(&ready);
	FD_SET(fd, &ready);
	return select(fd + 1, writing ? NULL : &ready, writing ? &ready : NULL, NULL, &now) > 0;
}

/* A new kqueue with one event; -1 with errno. */
static int
watch_event(uintptr_t what, int16_t filter, uint32_t notes)
{
	struct kevent event;
	int queue = kqueue(), error;

	EV_SET(&event, what, filter, EV_ADD, notes, 0, NULL);
	if (queue < 0 ||
	    (fcntl(queue, F_SETFD, FD_CLOEXEC) == 0 &&
		kevent(queue, &event, 1, NULL, 0, NULL) == 0))
		return queue;
	error = errno;
	close(queue);
	errno = error;
	return -1;
}

/*
 * On an end of a pipe, the filter of the other direction waits for nothing but that the pipe dies.
 */
int
system_watch_end(int fd, bool writer)
{
	struct pipe_fdinfo pipe;
	int access = fcntl(fd, F_GETFL) & O_ACCMODE;

	if (access == (writer ? O_RDONLY : O_WRONLY) &&
	    proc_pidfdinfo(getpid(), fd, PROC_PIDFDPIPEINFO, &pipe, sizeof(pipe)) ==
		(int)sizeof(pipe))
		return watch_event((uintptr_t)fd, writer ? EVFILT_WRITE : EVFILT_READ, 0);
	errno = EPERM;
	return -1;
}

int
system_watch_process(pid_t pid)
{
	return watch_event((uintptr_t)pid, EVFILT_PROC, NOTE_EXIT);
}

/* false: there is no such process. Also one that is not reaped yet. */
static bool
ask_about(pid_t pid, struct proc_bsdshortinfo *about)
{
	return proc_pidinfo(pid, PROC_PIDT_SHORTBSDINFO, 1, about, sizeof(*about)) ==
	    (int)sizeof(*about);
}

pid_t
system_parent(pid_t pid)
{
	struct proc_bsdshortinfo about;

	return ask_about(pid, &about) && about.pbsi_status != SZOMB ? (pid_t)about.pbsi_ppid : 0;
}

enum system_input
system_input_of(pid_t pid, int fd)
{
	struct pipe_fdinfo pipe, ours;
	struct socket_fdinfo socket, own;
	struct vnode_fdinfo file;
	struct stat status;
	pid_t self = getpid();
	bool same;

	if (proc_pidfdinfo(pid, 0, PROC_PIDFDPIPEINFO, &pipe, sizeof(pipe)) == (int)sizeof(pipe))
		same = proc_pidfdinfo(self, fd, PROC_PIDFDPIPEINFO, &ours, sizeof(ours)) ==
			(int)sizeof(ours) &&
		    pipe.pipeinfo.pipe_handle == ours.pipeinfo.pipe_handle;
	else if (proc_pidfdinfo(pid, 0, PROC_PIDFDSOCKETINFO, &socket, sizeof(socket)) ==
	    (int)sizeof(socket))
		same = proc_pidfdinfo(self, fd, PROC_PIDFDSOCKETINFO, &own, sizeof(own)) ==
			(int)sizeof(own) &&
		    socket.psi.soi_so == own.psi.soi_so;
	else if (proc_pidfdinfo(pid, 0, PROC_PIDFDVNODEINFO, &file, sizeof(file)) ==
	    (int)sizeof(file))
		same = fstat(fd, &status) == 0 &&
		    file.pvi.vi_stat.vst_dev == (uint32_t)status.st_dev &&
		    file.pvi.vi_stat.vst_ino == status.st_ino;
	else
		return errno == EBADF ? SYSTEM_INPUT_NONE : SYSTEM_INPUT_UNKNOWN;
	return same ? SYSTEM_INPUT_SAME : SYSTEM_INPUT_ANOTHER;
}

void
system_name(pid_t pid, char name[SYSTEM_NAME])
{
	struct proc_bsdshortinfo about;

	name[0] = '\0';
	if (ask_about(pid, &about))
		snprintf(name, SYSTEM_NAME, "%.*s", (int)sizeof(about.pbsi_comm), about.pbsi_comm);
}

/* waitid(2) also gives children that are only stopped, and no number of a signal. */
static bool
look_at_one(idtype_t type, id_t id, siginfo_t *info)
{
	struct proc_bsdinfo about;

	*info = (siginfo_t){ 0 };
	if (waitid(type, id, info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return false;
	if (info->si_code != CLD_EXITED && info->si_code != CLD_KILLED &&
	    info->si_code != CLD_DUMPED)
		info->si_pid = 0;
	else if (proc_pidinfo(info->si_pid, PROC_PIDTBSDINFO, 1, &about, sizeof(about)) ==
	    (int)sizeof(about))
		info->si_status = info->si_code == CLD_EXITED ? WEXITSTATUS(about.pbi_xstatus) :
								WTERMSIG(about.pbi_xstatus);
	return true;
}

/* Returns a number of processes, not of bytes. */
static int
list_children(pid_t pid, pid_t *pids)
{
	return proc_listchildpids(pid, pids, PROCESS_MOST * (int)sizeof(*pids));
}

bool
system_look_at(idtype_t type, id_t id, siginfo_t *info)
{
	static pid_t children[PROCESS_MOST];

	if (!look_at_one(type, id, info))
		return false;
	/* A stopped one may hide others that have ended. */
	if (type == P_ALL && info->si_pid == 0)
		for (int i = list_children(getpid(), children); i > 0 && info->si_pid == 0; i--)
			look_at_one(P_PID, (id_t)children[i - 1], info);
	return true;
}

pid_t
system_pid_limit(void)
{
	return PROCESS_MOST;
}

bool
system_each_child(system_each_fn *each, void *context)
{
	static pid_t children[PROCESS_MOST];

	for (int i = list_children(getpid(), children); i > 0; i--)
		each(context, children[i - 1]);
	return true;
}

/*
 * As the kernel keeps them: the number of arguments, the program's path, NULs, the arguments, the
 * environment. A buffer for less than all would get only the end. Apple's own programs show no
 * environment.
 */
static struct span
words_of(pid_t pid, enum system_words which)
{
	static char text[ARG_MAX];
	int question[] = { CTL_KERN, KERN_PROCARGS2, pid }, arguments;
	size_t len = sizeof(text) - 1, at = sizeof(arguments), end;

	if (sysctl(question, 3, text, &len, NULL, 0) < 0 || len <= sizeof(arguments))
		return SPAN_NONE;
	text[len] = '\0';
	memcpy(&arguments, text, sizeof(arguments));
	at += strlen(text + at);
	while (at < len && text[at] == '\0')
		at++;
	for (end = at; arguments > 0 && end < len; arguments--)
		end += strlen(text + end) + 1;
	if (end > len)
		end = len;
	return which == SYSTEM_ARGUMENTS ? span_at(text + at, end - at) :
					   span_at(text + end, len - end);
}

void
system_words(pid_t pid, enum system_words which, char *to, size_t room)
{
	struct span words = words_of(pid, which);

	memset(to, 0, room);
	if (room > 2)
		memcpy(to, words.ptr, words.len < room - 2 ? words.len : room - 2);
}

/*
 * The processes that descend from this one. Each tree has a mark of its own, as one may be inside
 * of another.
 */
static struct {
	struct identity self;
	char mark[64];
	int queue; /* tells which of them forks */
	struct descendants descendants;
	struct process seen[PROCESS_MOST];
	int count;
	pid_t pids[PROCESS_MOST];
} following;

static bool
identify(pid_t pid, struct identity *identity)
{
	return proc_pidinfo(pid, PROC_PIDUNIQIDENTIFIERINFO, 1, identity, sizeof(*identity)) >=
	    (int)offsetof(struct identity, reserved);
}

static bool
look_closely(pid_t pid, struct process *process)
{
	struct proc_bsdshortinfo about;
	struct identity identity;

	if (!identify(pid, &identity) || !ask_about(pid, &about))
		return false;
	*process = (struct process){ .pid = pid,
		.parent = (pid_t)about.pbsi_ppid,
		.id = identity.id,
		.origin = identity.origin,
		.foreign = identity.origin_version != 0 ?
		    identity.origin_version < following.self.version :
		    identity.origin < following.self.id,
		.dead = about.pbsi_status == SZOMB };
	return true;
}

void
system_mark(void)
{
	if (!identify(getpid(), &following.self))
		return;
	print_into(following.mark, "CANCELD_GUARDED_BY_%llx",
	    (unsigned long long)following.self.id);
	setenv(following.mark, "1", 1);
}

static bool
is_marked(pid_t pid)
{
	struct span words = words_of(pid, SYSTEM_ENVIRONMENT);
	size_t len = strlen(following.mark);

	while (words.len > len && words.ptr[0] != '\0') {
		if (strncmp(words.ptr, following.mark, len) == 0 && words.ptr[len] == '=')
			return true;
		words = span_from(words, strnlen(words.ptr, words.len - 1) + 1);
	}
	return false;
}

static void
see_children(pid_t pid)
{
	int count = list_children(pid, following.pids), seen = 0;

	for (int i = 0; i < count; i++)
		seen += look_closely(following.pids[i], &following.seen[seen]);
	descendants_see(&following.descendants, following.seen, seen, false);
}

/* Returns whether there was news. marks: they are looked for where the origin is unknown. */
static bool
see_all(bool marks)
{
	struct descendants *descendants = &following.descendants;
	int count = proc_listallpids(following.pids, sizeof(following.pids));

	following.count = 0;
	for (int i = 0; i < count; i++) {
		struct process *process = &following.seen[following.count];

		if (!look_closely(following.pids[i], process))
			continue;
		process->marked = marks && process->id > following.self.id && !process->foreign &&
		    descendants_find(descendants, process->id) == NULL && is_marked(process->pid);
		following.count++;
	}
	return descendants_see(descendants, following.seen, following.count, true);
}

/* Watched before its children are looked at, so that it does not fork in between. */
static void
watch_forks(struct descendant *descendant)
{
	struct kevent event;
	pid_t pid = descendant->pid;

	descendant->watched = true;
	EV_SET(&event, (uintptr_t)pid, EVFILT_PROC, EV_ADD | EV_CLEAR, NOTE_FORK, 0, NULL);
	kevent(following.queue, &event, 1, NULL, 0, NULL);
	see_children(pid);
}

/* The process has forked. */
static void
learn_from(pid_t pid)
{
	struct descendants *descendants = &following.descendants;

	if (descendants->count == DESCENDANTS_MOST)
		see_all(false);
	see_children(pid);
	for (int i = 0; i < descendants->count; i++)
		if (!descendants->known[i].watched) {
			watch_forks(&descendants->known[i]);
			i = -1; /* the order may have changed */
		}
}

static bool
begin_to_follow(void)
{
	if (following.self.id == 0 || (following.queue = kqueue()) < 0)
		return false;
	fcntl(following.queue, F_SETFD, FD_CLOEXEC);
	descendants_init(&following.descendants, getpid(), following.self.id);
	learn_from(getpid());
	return true;
}

int
system_follow(void)
{
	const struct timespec now = { 0 };
	struct kevent events[EVENTS];
	int count;

	if (following.descendants.count == 0 && !begin_to_follow())
		return -1;
	do {
		count = kevent(following.queue, NULL, 0, events, EVENTS, &now);
		for (int i = 0; i < count; i++)
			learn_from((pid_t)events[i].ident);
	} while (count == EVENTS);
	return following.queue;
}

static void
end_one(const struct process *process, system_ended_fn *ended, void *context)
{
	struct descendant *descendant = descendants_find(&following.descendants, process->id);
	char name[SYSTEM_NAME];
	struct process now;

	system_name(process->pid, name);
	if (!look_closely(process->pid, &now) || now.id != process->id ||
	    kill(process->pid, SIGKILL) < 0 || descendant->told)
		return;
	descendant->told = true;
	ended(context, process->pid, SIGKILL, name);
}

/* All are looked at until there is no news, but not for ever, if they fork as fast. */
size_t
system_end_followed(system_ended_fn *ended, void *context)
{
	int count;

	if (following.descendants.count == 0)
		return 0;
	for (int round = 0; round < ROUNDS && see_all(true); round++)
		;
	count = descendants_to_end(&following.descendants, following.seen, following.count);
	for (int i = 0; i < count && ended != NULL; i++)
		end_one(&following.seen[i], ended, context);
	return (size_t)count;
}

bool
system_find(system_is_fn *is_it, const void *context)
{
	static pid_t pids[PROCESS_MOST];
	int count = proc_listallpids(pids, sizeof(pids));
	struct proc_bsdshortinfo about;
	bool found = false;

	for (int i = 0; i < count && !found; i++)
		found = ask_about(pids[i], &about) && about.pbsi_uid == geteuid() &&
		    is_it(pids[i], context);
	return found;
}

bool
system_program(char *path, size_t room)
{
	char given[PATH_MAX], *real = NULL;
	uint32_t len = sizeof(given);
	bool fits;

	if (_NSGetExecutablePath(given, &len) == 0)
		real = realpath(given, NULL);
	fits = real != NULL && snprintf(path, room, "%s", real) < (int)room;
	if (!fits)
		path[0] = '\0';
	free(real);
	return fits;
}

int
system_copy_attributes(const char *from, int to)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), result, error;

	if (fd < 0)
		return -1;
	result = fcopyfile(fd, to, NULL, COPYFILE_XATTR | COPYFILE_ACL);
	error = errno;
	close(fd);
	errno = error;
	return result < 0 && error != ENOTSUP ? -1 : 0;
}
