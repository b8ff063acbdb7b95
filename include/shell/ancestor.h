#ifndef SHELL_ANCESTOR_H
#define SHELL_ANCESTOR_H

/*
 * Which of the processes that this one descends from is the client: the nearest that holds the other end of our stdin. A
 * shell or a launcher between us holds none, and may go when it likes.
 */

/*
 * A new descriptor that turns readable when that process ends; the caller closes it. The parent's, if that cannot be looked
 * at; -1 if there is none, or init would be it, or the system has no such thing (other systems than Linux).
 */
int ancestor_watch(int input) __attribute__((warn_unused_result));

#endif
