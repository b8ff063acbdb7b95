#include "way.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 24, COMMAND = 4096 };

static pid_t running;

const char *
way_name(enum way way)
{
	static const char *const names[WAYS] = { "direct", "relay", "socat", "tee", "canceld" };

	return names[way];
}

void
give_up(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, errno != 0 ? strerror(errno) : "it ended too early");
	if (running > 0)
		kill(running, SIGTERM);
	exit(1);
}

static const char *
program(const char *variable)
{
	const char *path = getenv(variable);

	if (path == NULL) {
		fprintf(stderr, "bench: %s is not set: use make bench\n", variable);
		exit(2);
	}
	return path;
}

bool
way_exists(enum way way)
{
	return way != WAY_SOCAT || system("command -v socat >/dev/null") == 0;
}

/* Puts words before the server's command. */
static char **
in_front(char *const *words, char **server)
{
	static char *command[WORDS];
	int n = 0;

	while (*words != NULL)
		command[n++] = *words++;
	while (*server != NULL && n < WORDS - 1)
		command[n++] = *server++;
	command[n] = NULL;
	return command;
}

static char **
through_socat(char **server)
{
	static char address[COMMAND] = "", name[] = "socat", buffer[] = "-b262144", stdio[] = "STDIO";
	static char *command[] = { name, buffer, stdio, address, NULL };
	size_t len = (size_t)snprintf(address, COMMAND, "EXEC:%s", server[0]);

	for (server++; *server != NULL; server++)
		len += (size_t)snprintf(address + len, COMMAND - len, " %s", *server);
	snprintf(address + len, COMMAND - len, ",pipes");
	return command;
}

static char **
command_of(enum way way, char **server)
{
	static char shell[] = "sh", script[] = "-c", tee[] = "tee /dev/null | \"$@\" | tee /dev/null";
	static char inflight[] = "--max-inflight=4000000", quiet[] = "-q";
	char *relay[] = { NULL, NULL }, *canceld[] = { NULL, quiet, inflight, NULL };
	char *both[] = { shell, script, tee, shell, NULL };
	static char path[COMMAND];

	switch (way) {
	case WAY_RELAY:
		snprintf(path, sizeof(path), "%s", program("RELAY"));
		relay[0] = path;
		return in_front(relay, server);
	case WAY_CANCELD:
		snprintf(path, sizeof(path), "%s", program("CANCELD"));
		canceld[0] = path;
		return in_front(canceld, server);
	case WAY_TEE:
		return in_front(both, server);
	case WAY_SOCAT:
		return through_socat(server);
	case WAY_DIRECT:
	case WAYS:
		break;
	}
	return server;
}

static void
plumb(bool sockets, int input[2], int output[2])
{
	int failed = sockets ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) |
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, output) :
			       pipe2(input, O_CLOEXEC) | pipe2(output, O_CLOEXEC);

	if (failed)
		give_up("plumbing");
}

void
peer_start(struct peer *peer, enum way way, bool sockets, char **server)
{
	char **command = command_of(way, server);
	int input[2], output[2];

	plumb(sockets, input, output);
	*peer = (struct peer){ .way = way, .to = input[1], .from = output[0] };
	peer->pid = fork();
	if (peer->pid < 0)
		give_up("fork");
	if (peer->pid == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execvp(command[0], command);
		_exit(127);
	}
	running = peer->pid;
	close(input[0]);
	close(output[1]);
}

static long
status_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at == NULL ? 0 : strtol(at + strlen(name), NULL, 10);
}

void
peer_measure(struct peer *peer)
{
	char path[64], text[COMMAND];
	size_t len;
	FILE *file;

	if (peer->way == WAY_TEE)
		return;
	snprintf(path, sizeof(path), "/proc/%ld/status", (long)peer->pid);
	file = fopen(path, "r");
	if (file == NULL)
		return;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	peer->peak = status_field(text, "VmHWM:");
	peer->resident = status_field(text, "VmRSS:");
}

void
peer_end(struct peer *peer)
{
	char rest[COMMAND];

	close(peer->to);
	while (read(peer->from, rest, sizeof(rest)) > 0)
		;
	close(peer->from);
	if (waitpid(peer->pid, NULL, 0) < 0)
		give_up("waitpid");
	running = 0;
}
