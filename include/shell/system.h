#pragma once

/*
 * What systems do in different ways: one file of src/shell/system for each, of which SYSTEM
 * (config.mk) names the one that is compiled, with those of what all others do in one way. Nothing
 * else in src and include names a system. What a system cannot tell is unknown, and the caller does
 * without; system_has says so beforehand. Pids are never below 1.
 *
 * It brings the headers of POSIX that most files of the shell need: they need not be named again.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/timeline.h"

enum system_feature {
	/* system_adopt_orphans, or system_follow: hardly a process escapes from the sweep */
	SYSTEM_ADOPTS,
	SYSTEM_INFERS, /* ... by following, which is inference: --sweep tree has to be asked for */
	SYSTEM_DIES_ALONG,    /* system_die_along */
	SYSTEM_SEES_ENDS,     /* system_watch_end; else somebody has to look */
	SYSTEM_SEES_CLIENT,   /* system_watch_process, system_parent, system_input_of */
	SYSTEM_KNOWS_NAMES,   /* system_name */
	SYSTEM_RENAMES,       /* system_rename */
	SYSTEM_LISTS,         /* system_find, system_words */
	SYSTEM_OPENS_ANEW,    /* system_open_anew, system_path_of */
	SYSTEM_KEEPS_MORE,    /* system_copy_attributes: a file has more than a mode and a group */
	SYSTEM_SENDS_AT_ONCE, /* MSG_DONTWAIT counts for what is sent, too */
	SYSTEM_ISOLATES       /* system_isolate, and all that is forked here has one init */
};

/*
 * The first call of this, of system_transfer, system_watch_process or system_close_at_once may fork
 * and wait for a process, once: if this one was given a filter of system calls.
 */
bool system_has(enum system_feature feature);

/*
 * Milliseconds since some time before the program started; never goes back, and stands still while
 * the machine sleeps.
 */
msec_t monotonic_now(void);

/* Milliseconds since 1970. */
msec_t real_now(void);

/* Up to 256 bytes that nobody can foresee; never waits for them. false: there are none. */
bool system_random(void *to, size_t len);

/*
 * Descriptors that a program executed later does not get: a pipe, both ends of a connection, a
 * socket, a connection that was accepted. The last two have O_NONBLOCK. 0 or the descriptor, or -1
 * with errno; a pair is then { -1, -1 }.
 */
int system_pipe(int pair[2]) MUST_USE;
int system_socket_pair(int pair[2]) MUST_USE;
int system_socket(int family) MUST_USE;
int system_accept(int listener) MUST_USE;

/* Closes all descriptors from this one on, or those below the present limit. */
void system_close_from(int first);

/* The same in one call; false: there is no such call, or it failed. */
bool system_close_at_once(int first);

/*
 * The same pipe or terminal opened again, with O_NONBLOCK, for a description of its own. -1: not
 * possible here, or for this file.
 */
int system_open_anew(int fd);

/*
 * A path under which another process of this user can open a descriptor of process pid. false:
 * there is none.
 */
bool system_path_of(pid_t pid, int fd, char *path, size_t room);

/*
 * Like readv(2) and writev(2), but never blocks, whatever the description says. EOPNOTSUPP, ENOSYS:
 * not possible here.
 */
ssize_t system_transfer(int fd, struct iovec *pieces, int count, bool writing);

/* Whether a read, or a write of PIPE_BUF bytes (of a few to a terminal), does not block now. */
bool system_is_ready(int fd, bool writing);

/*
 * A new descriptor that turns readable, and stays so, when the last reader of fd has gone, or with
 * `writer` the last writer, though bytes may be left to read. -1 with errno: EPERM if this kind of
 * file, ENOSYS if this system cannot show that.
 */
int system_watch_end(int fd, bool writer);

/*
 * A new descriptor that is readable once the process has ended. -1: there is no such process, or
 * the system has none.
 */
int system_watch_process(pid_t pid);

/* The parent's pid; 0: there is none, it is unknown, or the process is dead. */
pid_t system_parent(pid_t pid);

/* What descriptor 0 of the process is, beside the pipe or socket fd. */
enum system_input {
	SYSTEM_INPUT_UNKNOWN,
	SYSTEM_INPUT_NONE,
	SYSTEM_INPUT_SAME,
	SYSTEM_INPUT_ANOTHER
};
enum system_input system_input_of(pid_t pid, int fd);

/*
 * The client's process is the nearest ancestor whose descriptor 0 is another one than our pipe or
 * socket: shells and launchers hand theirs on, or have closed it. Returns a descriptor as
 * system_watch_process does, and its pid. -1: it is not known, as our input is neither pipe nor
 * socket, an ancestor's cannot be read, or the client would be init.
 */
int system_watch_client(int input, pid_t *process);

/* The name of the process, as ps(1) shows it; "" if it is unknown. */
/* room for the longest name that Linux keeps, 15 bytes, a newline and a NUL */
enum { SYSTEM_NAME = 20 };
void system_name(pid_t pid, char name[SYSTEM_NAME]);

/*
 * Whether the kernel itself has sent the signal, as it does when Ctrl+C is typed; false also if
 * that is unknown.
 */
bool system_is_kernels(const siginfo_t *info);

/* Gives this process another name, where it can have one. */
void system_rename(const char *name);

/*
 * From now on this process gets the signal when its parent ends: see getppid(2) whether it has by
 * now.
 */
void system_die_along(int signal);

/* From now on an orphan becomes the child of this process, if it descends from it. */
void system_adopt_orphans(void);

/*
 * A child: info shows how it ended, or has si_pid 0 while it, or each of them, is alive; it is not
 * reaped. false: there is no such child.
 */
bool system_look_at(idtype_t type, id_t id, siginfo_t *info);

/* All pids are below this. */
pid_t system_pid_limit(void);

/*
 * fork(2), for a child that sends no signal as it ends and that P_ALL above does not show, where
 * the system can do so.
 */
pid_t system_fork_hidden(void);

/* Such a child; options: WNOHANG, if it has ended, or 0. */
void system_reap_hidden(pid_t pid, int options);

/*
 * From now on this process, and what it forks, can neither execute a program, change its user, nor
 * trace another process, nor make a socket of another family than AF_UNIX, nor change what is
 * mounted, nor type into a terminal; and create, write and remove files only below these folders,
 * of which NULL is the last, but for those that are open; as far as the kernel can see to that. A
 * process that shall be able to is forked before. false with errno: the system has refused a part
 * of it that it has.
 */
bool system_isolate(const char *const folders[]);

/*
 * Whether a process of the group lives; 0: any child. Where orphans are adopted, only children are
 * seen; elsewhere only the group, and who is dead but not reaped counts as living.
 */
bool system_lives(pid_t group);

/* Calls `each` for every child of this process. false: they cannot be listed. */
typedef void system_each_fn(void *context, pid_t pid);
bool system_each_child(system_each_fn *each, void *context);

/*
 * Where orphans are not adopted but can be told: from now on keeps track of the processes that
 * descend from this one. It returns a descriptor that is readable when system_follow is to be
 * called again; -1: there is nothing to follow. Before that, system_mark must have put a mark into
 * this process's environment, by which a descendant can be told later.
 */
void system_mark(void);
int system_follow(void);

/*
 * Sends SIGKILL to all processes that were followed and are no children of this one, each of them
 * verified just before. ended is called once for each that ended, with SIGKILL; NULL: none is sent.
 * Returns how many are left.
 */
typedef void system_ended_fn(void *context, pid_t pid, int signal, const char *name);
size_t system_end_followed(system_ended_fn *ended, void *context);

/* Whether `is_it` holds for any process of this user; false if they cannot be listed. */
typedef bool system_is_fn(pid_t pid, const void *context);
bool system_find(system_is_fn *is_it, const void *context);

/*
 * As much of the process's arguments, or of its environment, as there is room for, each with a NUL,
 * and an empty one at the end; only that if they are unknown.
 */
enum system_words { SYSTEM_ARGUMENTS, SYSTEM_ENVIRONMENT };
void system_words(pid_t pid, enum system_words which, char *to, size_t room);

/* The path of the program that runs. false: it is unknown. */
bool system_program(char *path, size_t room);

/*
 * Gives one file the extended attributes of the other, ACLs among them, and no more. What the file
 * system does not keep is passed over, and so are signatures of the contents, which are others now.
 * 0, or -1 with errno.
 */
int system_copy_attributes(const char *from, int to);
