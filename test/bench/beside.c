#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "e2e/process.h"
#include "load.h"

enum { HELD = 3000, RULES = 60, INPUT = 1 << 20, LINE = 1024 };

/* The longest pattern: it fits no name of 500 zeros, which is seen late. */
#define PATTERN "*0*0*0*0*0*0*%0239d1%02d*"

static const struct load_beside {
	/* what stands around the pattern; NULL: there is none */
	const char *name, *method, *before, *after;
	int connections; /* more than one: nothing is ever read */
} loads[] = {
	{ "beside cancel", "cancel", "\"name\":\"", "\"", 1 },
	{ "beside set", "set",
	    "\"now\":true,\"option\":\"timeout\",\"rule\":\"tools/call:", "=1h\"", 1 },
	{ "beside list", "list", "\"requests\":true", NULL, 1 },
	{ "beside 16 watchers", "watch", "\"level\":\"traffic\"", NULL, 16 },
};

static void
write_line(int fd, const char *line)
{
	if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		exit(1);
}

static void
hold(const struct load *load)
{
	char line[LINE];

	for (int i = 1; i <= HELD; i++) {
		snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":-%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%0500d\"}}\n",
		    i, 0);
		write_line(load->to, line);
	}
}

static int
connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		exit(1);
	return fd;
}

_Noreturn static void
ask(const struct load_beside *beside, const char *path)
{
	static char input[INPUT];
	char line[LINE], pattern[LINE / 2];

	for (int i = 0, fd = -1;; i++) {
		if (i < beside->connections)
			fd = connect_to(path);
		snprintf(pattern, sizeof(pattern), PATTERN, 0, i % RULES);
		snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s%s%s}}\n",
		    beside->method, beside->before, beside->after == NULL ? "" : pattern,
		    beside->after == NULL ? "" : beside->after);
		write_line(fd, line);
		for (ssize_t got = 0;
		     beside->connections == 1 && (got == 0 || input[got - 1] != '\n');)
			if ((got = read(fd, input, INPUT)) <= 0)
				exit(1);
		while (beside->connections > 1 && i == beside->connections - 1)
			pause();
	}
}

void
load_beside(struct load *load, const char *name, const char *path)
{
	hold(load);
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (strcmp(loads[i].name, name) == 0 && (load->beside = process_fork()) == 0)
			ask(&loads[i], path);
}
