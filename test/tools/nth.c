/*
 * A library that is loaded before those of a program. In one of its processes, NTH_PROCESS, one
 * call goes wrong, the NTH_NUMBER-th of those that NTH_KIND can hit:
 *   memory  an allocation fails
 *   starved so do all of that process from then on
 *   byte    one byte is read or written, though there are more
 *   half    half of them are
 * Those of getpwuid succeed: glibc reads through NULL there.
 * NTH_FILE counts such calls: how many allocations, how many transfers, for each name of a process,
 * and whether one went wrong.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ALLOCATIONS, TRANSFERS, WAYS, NAME_SIZE = 16, PIECES = 64, STRUCT_MOST = 1024 };

/* The order of the rows in NTH_FILE. A server is "other" until it is executed. */
static const char *const names[] = { "canceld", "cancel-start", "cancel-guard", "cancel-history",
	"cancel-log", "cancelctl" };

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static struct counts {
	atomic_uint made[NAMES][WAYS], hit;
} * counts;

static const char *process, *kind;
static unsigned number;
static bool spared;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
ssize_t __read_chk(int fd, void *to, size_t len, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t len, size_t room, int flags);

static const char *
setting(const char *name)
{
	const char *value = getenv(name);

	return value != NULL ? value : "";
}

/* What the program starts is not loaded with it. */
__attribute__((constructor)) static void
load(void)
{
	int fd = open(setting("NTH_FILE"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *map = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(*counts)) == 0)
		map = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	process = setting("NTH_PROCESS");
	kind = setting("NTH_KIND");
	number = (unsigned)atoi(setting("NTH_NUMBER"));
	unsetenv("LD_PRELOAD");
	if (map != MAP_FAILED)
		counts = map;
}

static bool
is_kind(const char *one, const char *other)
{
	return strcmp(kind, one) == 0 || strcmp(kind, other) == 0;
}

/* Whether the call at hand is the one. */
static bool
is_it(int way)
{
	char name[NAME_SIZE] = "";
	unsigned made;
	bool hit;

	if (counts == NULL)
		return false;
	prctl(PR_GET_NAME, name);
	for (int i = 0; i < NAMES; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		made = atomic_fetch_add(&counts->made[i][way], 1) + 1;
		hit = strcmp(name, process) == 0 && number > 0 &&
		    (made == number || (made > number && strcmp(kind, "starved") == 0)) &&
		    (way == ALLOCATIONS ? is_kind("memory", "starved") : is_kind("byte", "half"));
		if (hit)
			atomic_store(&counts->hit, 1);
		return hit;
	}
	return false;
}

static bool
is_lacking(void)
{
	bool lacking = !spared && is_it(ALLOCATIONS);

	if (lacking)
		errno = ENOMEM;
	return lacking;
}

void *
malloc(size_t size)
{
	return is_lacking() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
	return is_lacking() ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t size)
{
	return is_lacking() ? NULL : __libc_realloc(old, size);
}

struct passwd *
getpwuid(uid_t user)
{
	struct passwd *(*original)(uid_t);
	struct passwd *account;

	spared = true;
	*(void **)&original = dlsym(RTLD_NEXT, "getpwuid");
	account = original(user);
	spared = false;
	return account;
}

/*
 * How many bytes may be moved of len. Systems move a few bytes whole or not at all: what canceld's
 * processes tell each other, through pipes a number, through sockets a struct, with write(2).
 */
static size_t
allowed(int fd, size_t len, bool writing, bool plain)
{
	struct stat status;
	int there = 0, error = errno;
	size_t most = len;

	if (fstat(fd, &status) != 0 || S_ISCHR(status.st_mode) || (plain && len <= sizeof(int)) ||
	    (S_ISSOCK(status.st_mode) && (writing ? plain : len < STRUCT_MOST)))
		return len;
	if (!writing && ioctl(fd, FIONREAD, &there) == 0 && (size_t)there < most)
		most = (size_t)there;
	errno = error;
	if (most < 2 || !is_it(TRANSFERS))
		return len;
	return strcmp(kind, "byte") == 0 ? 1 : most / 2;
}

static ssize_t
transfer(int fd, const struct iovec *pieces, int count, bool writing, int flags)
{
	struct iovec fewer[PIECES];
	size_t len = 0, most;
	int i;

	for (i = 0; i < count && i < PIECES; i++)
		len += pieces[i].iov_len;
	most = allowed(fd, len, writing, false);
	if (most == len || count > PIECES)
		return syscall(writing ? SYS_pwritev2 : SYS_preadv2, fd, pieces, count, -1L, -1L,
		    flags);
	for (i = 0; most > 0; i++) {
		fewer[i] = pieces[i];
		if (fewer[i].iov_len > most)
			fewer[i].iov_len = most;
		most -= fewer[i].iov_len;
	}
	return syscall(writing ? SYS_pwritev2 : SYS_preadv2, fd, fewer, i, -1L, -1L, flags);
}

ssize_t
readv(int fd, const struct iovec *pieces, int count)
{
	return transfer(fd, pieces, count, false, 0);
}

ssize_t
writev(int fd, const struct iovec *pieces, int count)
{
	return transfer(fd, pieces, count, true, 0);
}

ssize_t
preadv2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	(void)offset;
	return transfer(fd, pieces, count, false, flags);
}

ssize_t
pwritev2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	(void)offset;
	return transfer(fd, pieces, count, true, flags);
}

/* The first piece alone may be cut. With descriptors beside it a message is a process's of ours. */
static ssize_t
message(int fd, const struct msghdr *whole, int flags, bool writing)
{
	struct msghdr cut = *whole;
	struct iovec piece = whole->msg_iov[0];
	size_t len = piece.iov_len;

	if (whole->msg_controllen == 0)
		piece.iov_len = allowed(fd, len, writing, false);
	if (piece.iov_len < len) {
		cut.msg_iov = &piece;
		cut.msg_iovlen = 1;
		whole = &cut;
	}
	return syscall(writing ? SYS_sendmsg : SYS_recvmsg, fd, whole, flags);
}

ssize_t
sendmsg(int fd, const struct msghdr *whole, int flags)
{
	return message(fd, whole, flags, true);
}

ssize_t
recvmsg(int fd, struct msghdr *whole, int flags)
{
	/* Only where nothing stands beside the bytes is a copy received into. */
	return message(fd, whole, flags, false);
}

ssize_t
read(int fd, void *to, size_t len)
{
	return syscall(SYS_read, fd, to, allowed(fd, len, false, true));
}

ssize_t
__read_chk(int fd, void *to, size_t len, size_t room)
{
	return read(fd, to, len < room ? len : room);
}

ssize_t
write(int fd, const void *from, size_t len)
{
	return syscall(SYS_write, fd, from, allowed(fd, len, true, true));
}

ssize_t
recv(int fd, void *to, size_t len, int flags)
{
	return syscall(SYS_recvfrom, fd, to, allowed(fd, len, false, false), flags, NULL, NULL);
}

ssize_t
__recv_chk(int fd, void *to, size_t len, size_t room, int flags)
{
	return recv(fd, to, len < room ? len : room, flags);
}

ssize_t
send(int fd, const void *from, size_t len, int flags)
{
	return syscall(SYS_sendto, fd, from, allowed(fd, len, true, false), flags, NULL, 0);
}
