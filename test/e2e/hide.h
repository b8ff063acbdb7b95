/*
 * hide: paths that the processes of a run cannot open, look at or read: as where /proc is another
 * one or is not mounted. Whoever calls may do so as any user, in most containers too: seccomp(2),
 * user notification.
 */
#pragma once

#include <stdbool.h>

/* Whether that is possible here; if not, it says so. */
bool can_hide(void);

/*
 * In the process that is to be executed, with one end of a socket pair: calls of it and of all that
 * it starts wait from now on.
 */
void hide_begin(int socket);

/*
 * With the other end: from now on a thread lets each call whose path fits the pattern of sh fail
 * with this error, and all others go on. What the test does meanwhile, such as to look at all
 * processes, keeps no call waiting. It lives as long as the test's process. NULL: hide_begin has
 * failed.
 */
struct hiding *hide_watch(int socket, const char *pattern, int error);

/* Between these calls wait. hide_stalls: until one does; false: none did for this time (ms). */
void hide_stall(struct hiding *hiding);
bool hide_stalls(const struct hiding *hiding, int time);
void hide_go_on(struct hiding *hiding);

/*
 * In the process that is to be executed: it is killed for a system call of Linux 5.1 or later, and
 * for preadv2 and pwritev2, as is all that it starts.
 */
void hide_kill_newer(void);

/* These calls fail instead, with EACCES; or the filter, which is there, allows all. */
void hide_refuse_newer(void);
void hide_nothing(void);

/* No further filter can be set: EPERM. */
void hide_filters(void);
