#ifndef CTL_ATTRIBUTES_H
#define CTL_ATTRIBUTES_H

/* The extended attributes of a file, POSIX ACLs among them. Linux only: elsewhere nothing is done. */

/*
 * Gives one file those of the other, and no more. What the file system does not keep is passed over, and so is what only
 * the kernel sets. 0, or -1 with errno.
 */
int attributes_copy(int from, int to) __attribute__((warn_unused_result));

#endif
