#ifndef SHELL_ANCESTOR_H
#define SHELL_ANCESTOR_H

/*
 * Finds the client among the ancestors of this process: the nearest one that has the other end of stdin open. A shell
 * or a launcher in between does not have it open, and its end means nothing.
 */

/*
 * Returns a new descriptor that turns readable when the client's process ends; the caller closes it. input: stdin. If
 * the parent's descriptors cannot be read, the parent counts as the client. -1: there is no client, or it would be
 * init, or the system is not Linux.
 */
int ancestor_watch(int input) __attribute__((warn_unused_result));

#endif
