#include "shell/splice.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

void
splice_init(struct splice *kept)
{
	*kept = (struct splice){ .ends = { -1, -1 } };
}

void
splice_drop(struct splice *kept)
{
	if (kept->ends[0] >= 0) {
		close(kept->ends[0]);
		close(kept->ends[1]);
	}
	splice_init(kept);
}

#ifdef __linux__

size_t
splice_keep(struct splice *kept, int from, int to, uint64_t position, size_t room)
{
	int there = 0;
	ssize_t got;

	if (kept->len > 0 || room < SPLICE_KEPT_LEAST || fcntl(to, F_GETPIPE_SZ) < 0)
		return 0;
	if (ioctl(from, FIONREAD, &there) < 0 || there < SPLICE_KEPT_LEAST)
		return 0;
	if (kept->ends[0] < 0 && pipe2(kept->ends, O_CLOEXEC) < 0) {
		splice_init(kept);
		return 0;
	}
	got = tee(from, kept->ends[1], room, SPLICE_F_NONBLOCK);
	if (got < SPLICE_KEPT_LEAST) {
		splice_drop(kept);
		return 0;
	}
	kept->position = position;
	kept->len = (size_t)got;
	return kept->len;
}

size_t
splice_pass(struct splice *kept, int to, uint64_t position, size_t len)
{
	ssize_t passed;

	if (kept->len == 0 || position == UINT64_MAX || position < kept->position)
		return 0;
	if (position > kept->position) {
		splice_drop(kept);
		return 0;
	}
	if (len > kept->len)
		len = kept->len;
	if (len < SPLICE_PASSED_LEAST)
		return 0;
	passed = splice(kept->ends[0], NULL, to, NULL, len, SPLICE_F_NONBLOCK);
	if (passed <= 0)
		return 0;
	kept->position += (size_t)passed;
	kept->len -= (size_t)passed;
	return (size_t)passed;
}

#else

size_t
splice_keep(struct splice *kept, int from, int to, uint64_t position, size_t room)
{
	(void)kept;
	(void)from;
	(void)to;
	(void)position;
	(void)room;
	return 0;
}

size_t
splice_pass(struct splice *kept, int to, uint64_t position, size_t len)
{
	(void)kept;
	(void)to;
	(void)position;
	(void)len;
	return 0;
}

#endif
