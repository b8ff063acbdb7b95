#ifndef SHELL_SPLICE_H
#define SHELL_SPLICE_H

/*
 * From pipe to pipe without a copy. To look at bytes they must be read, but to pass them on they need not be written: of
 * what is about to be read a pipe of our own gets the pages too (tee(2)), and what was decided to pass as it came goes
 * on from there (splice(2)). Linux only; elsewhere, and where one of the two is no pipe, nothing is kept.
 *
 * A pipe has a number of slots, 16 mostly, of a page each; what is spliced takes one of its own however short it is. So
 * only what comes in full pages is kept and passed so: short pieces would fill the reader's pipe with little.
 *
 * It never waits, and nothing depends on it: whatever it does not pass is written from memory. But the pages are those of
 * their writer: one that gave them away with vmsplice(2) or sendfile(2), and changes them when its own pipe is empty,
 * changes what the reader has not read yet.
 */

#include <stddef.h>
#include <stdint.h>

enum { /* bytes */
	SPLICE_KEPT_LEAST = 48 << 10,
	SPLICE_PASSED_LEAST = 4 << 10,
};

struct splice {
	int ends[2];       /* of our pipe: read, write; -1: there is none */
	uint64_t position; /* in the stream, of the first byte kept */
	size_t len;        /* bytes kept */
};

void splice_init(struct splice *kept);

/* Forgets what it keeps, and closes its pipe. */
void splice_drop(struct splice *kept);

/*
 * Keeps what is to be read from the descriptor `from` next, at most room bytes or as much as a pipe holds: those that
 * stand at this position; returns how many. None if there are less than SPLICE_KEPT_LEAST, if it still keeps some, or if
 * `to`, where they may go, is no pipe. If fewer are read then, the caller has to drop them.
 */
size_t splice_keep(struct splice *kept, int from, int to, uint64_t position, size_t room);

/*
 * Passes up to len bytes from this position on; returns how many, 0 if it does not have them, they are less than
 * SPLICE_PASSED_LEAST, or `to` does not take them now. Bytes before a later position are forgotten. UINT64_MAX: bytes of
 * no position, of which it has none.
 */
size_t splice_pass(struct splice *kept, int to, uint64_t position, size_t len);

#endif
