/*
 * What is written to the control socket of a session with open requests: whatever it is, each line
 * of what comes back is an answer or a notification of JSON-RPC, no more answers than lines that
 * were written, and one to "list" is sane.
 */

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "home.h"
#include "shell/control.h"
#include "shell/life.h"
#include "shell/statistics.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static char path[HOME_PATH];

struct world {
	struct options options;
	struct log log;
	struct session *session;
	struct statistics statistics;
	struct life life;
	struct port ports[2];
	struct control control;
	msec_t now;
};

static void
on_action(void *user, const struct action *action)
{
	struct world *world = user;

	if (action->verb == VERB_END)
		statistics_end(&world->statistics, action, world->now);
	else
		report_action(&world->log, action);
}

static void
say(struct world *world, enum side side, const char *line)
{
	buf_append(&session_lane(world->session, side)->bytes, span_of(line));
	session_hear(world->session, side);
}

/* The server has taken what was written to it. */
static void
take(struct world *world)
{
	struct lane *lane = session_lane(world->session, SIDE_CLIENT);
	struct span span;

	while (lane_output(lane, &span, 1) > 0)
		lane_sent(lane, span.len);
}

static void
open_world(struct world *world)
{
	static char name[] = "canceld", control[] = "--control", config[] = "--no-history",
		    restart[] = "-r", dialect[] = "-Dmcp", server[] = "server";
	static char *argv[] = { name, control, path, config, restart, dialect, server, NULL };
	const struct log_config log = { .file = "/dev/null", .tail = true };
	struct session_config session;

	if (options_parse(&world->options, 7, argv) != OPTIONS_RUN ||
	    configfile_load(&world->options) != OPTIONS_RUN || log_open(&world->log, &log) != NULL)
		abort();
	session = world->options.session;
	session.policy = &world->options.policy;
	session.observed = session.restarts = true;
	world->session = session_new(&session, on_action, world, world->now);
	each_side (side)
		port_init(&world->ports[side], side, world->session,
		    (struct lane *[]){ session_lane(world->session, SIDE_CLIENT),
			session_lane(world->session, SIDE_SERVER) });
	world->life = (struct life){
		.options = &world->options,
		.log = &world->log,
		.session = world->session,
		.port = &world->ports[SIDE_SERVER],
		.client.port = &world->ports[SIDE_CLIENT],
	};
	world->control = (struct control){
		.options = &world->options,
		.log = &world->log,
		.session = world->session,
		.life = &world->life,
		.statistics = &world->statistics,
	};
	control_open(&world->control);
	assert(world->control.path[0] != '\0');
	say(world, SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n");
	take(world);
	say(world, SIDE_SERVER,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\"}}\n");
	say(world, SIDE_CLIENT,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\","
	    "\"_meta\":{\"progressToken\":1}}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"tools/call\",\"params\":{\"name\":\"b\"}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
	take(world);
	say(world, SIDE_SERVER, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n");
}

static void
close_world(struct world *world)
{
	control_close(&world->control);
	session_free(world->session);
	if (log_close(&world->log) != 0)
		abort();
	options_free(&world->options);
}

static int
dial(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		abort();
	return fd;
}

/* Whether it is an answer. */
static bool
check_line(const char *line, size_t len)
{
	json_t *message = json_loadb(line, len, JSON_ALLOW_NUL, NULL), *result;
	bool answer = json_object_get(message, "method") == NULL;

	assert(message != NULL &&
	    strcmp(json_string_value(json_object_get(message, "jsonrpc")), "2.0") == 0);
	result = json_object_get(message, "result");
	if (answer) {
		assert(json_object_get(message, "id") != NULL);
		assert((result == NULL) != (json_object_get(message, "error") == NULL));
	}
	if (json_object_get(result, "in_flight") != NULL && json_object_get(result, "pid") != NULL)
		assert(json_integer_value(json_object_get(result, "in_flight")) >= 0);
	json_decref(message);
	return answer;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct world world;
	struct span text = { (const char *)bytes, len };
	struct buf back = { 0 };
	size_t lines = span_count(text, '\n') + 1, answers = 0, at = 0;
	int fd, idle = 0;

	if (path[0] == '\0') {
		home_enter(path, "s");
		descriptor_loop = ev_loop_new(EVFLAG_AUTO);
	}
	world = (struct world){ .now = 1 };
	open_world(&world);
	fd = dial();
	while (idle < 4) {
		ssize_t put = at < len ? write(fd, bytes + at, len - at) : 0, got;

		at += put > 0 ? (size_t)put : 0;
		if (at == len || (put < 0 && errno == EPIPE))
			shutdown(fd, SHUT_WR);
		ev_run(descriptor_loop, EVRUN_NOWAIT);
		world.now += 10000;
		session_set_time(world.session, world.now);
		control_round(&world.control, world.now);
		session_expire(world.session, true);
		session_sleep(world.session, false, MSEC_NEVER);
		take(&world);
		control_watch(&world.control);
		got = read(fd, buf_space(&back, 1 << 16), 1 << 16);
		buf_added(&back, got > 0 ? (size_t)got : 0);
		idle = put > 0 || got > 0 || world.control.wake != MSEC_NEVER ? 0 : idle + 1;
	}
	close(fd);
	for (struct span rest = buf_span(&back); rest.len > 0;) {
		size_t end = span_until(rest, "\n").len;

		assert(end < rest.len);
		answers += check_line(rest.ptr, end);
		rest = span_from(rest, end + 1);
	}
	assert(answers <= lines);
	buf_free(&back);
	close_world(&world);
	return 0;
}
