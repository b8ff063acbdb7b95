#include "shell/history.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/session.h"

#ifndef __WALL
#define __WALL 0
#endif

static struct history history;

SUITE("history", .alone = true);

static void
expect_written(const char *path, const char *text)
{
	static char lines[4096];
	FILE *file;

	do {
		poll(NULL, 0, 2);
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		lines[fread(lines, 1, sizeof(lines) - 1, file)] = '\0';
		fclose(file);
	} while (strstr(lines, text) == NULL);
}

TEST(a_writer_that_was_killed_is_replaced)
{
	static struct policy policy;
	static struct statistics statistics;
	const struct session_config of = { .policy = &policy };
	struct session *session = session_new(&of, NULL, NULL, 0);
	const struct log_config config = { .level = LEVEL_ERROR };
	char directory[] = "/tmp/history-XXXXXX", path[64];
	struct log log;
	siginfo_t info;
	pid_t killed;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	setenv("XDG_STATE_HOME", directory, 1);
	signal(SIGPIPE, SIG_IGN);
	log_init(&log, &config);
	history_open(&history, &log, "me", session, &statistics);
	log_event(&log, WHY_STARTED, log_number("process", 1));
	history_round(&history, 0, false);
	killed = history.log.writer.pid;
	ck_assert_int_eq(kill(killed, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)killed, &info, WEXITED | WNOWAIT | __WALL), 0);
	history.log.writer.back.ready = true;
	history_round(&history, 1, false);
	log_event(&log, WHY_STUCK, log_number("process", 1));
	history_round(&history, HISTORY_EACH, false);
	ck_assert_int_eq(history.log.writer.pid, killed);
	history_round(&history, 1 + HISTORY_EACH, false);
	ck_assert_int_ne(history.log.writer.pid, killed);
	ck_assert(kill(killed, 0) < 0 && errno == ESRCH);
	log_event(&log, WHY_SUMMARY, log_number("requests", 1));
	history_close(&history);
	snprintf(path, sizeof(path), "%s/canceld/history", directory);
	expect_written(path, "\"why\":\"LINES_LOST\",\"lines\":1}");
	expect_written(path, "\"why\":\"SUMMARY\"");
	remove(path);
	*strrchr(path, '/') = '\0';
	remove(path);
	remove(directory);
}
