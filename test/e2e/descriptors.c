/*
 * Descriptors and signals: what the server inherits, and what canceld must leave as it was for the
 * client.
 */
#include <poll.h>
#include <sys/socket.h>

#include "client.h"

static json_t *
server_facts(struct run *run)
{
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"facts\"}");
	return at(run_expect_answer(run, "1"), "result");
}

static bool
has_signal(json_t *facts, const char *set, int number)
{
	unsigned long long bits = (unsigned long long)json_real_value(at(facts, set));

	return (bits >> (number - 1) & 1) != 0;
}

static void
expect_descriptors(json_t *facts, int extra)
{
	json_t *list = at(facts, "descriptors");
	size_t i;
	json_t *fd;

	json_array_foreach (list, i, fd) {
		int number = (int)json_number_value(fd);

		ck_assert_msg(number <= 2 || number == extra, "descriptor %d is open", number);
	}
	ck_assert_uint_eq(json_array_size(list), extra == 0 ? 3 : 4);
}

SUITE("descriptors", .seconds = 9);

TEST(the_server_gets_three_descriptors_and_no_changed_signals)
{
	struct run *run = run_options("", "peer facts");
	json_t *facts = server_facts(run);

	expect_descriptors(facts, 0);
	/* without those reserved by libc */
	ck_assert_int_eq((int64_t)at_number(facts, "SigIgn") & 0x7fffffff, 0);
	ck_assert_int_eq(at_number(facts, "SigBlk"), 0);
	run_end(run);
}

TEST(the_server_gets_what_canceld_was_given)
{
	struct run *run = run_start(&(struct setup){ .command = "peer facts",
	    .shell = "trap '' PIPE; exec 9</dev/null",
	    .blocked = SIGUSR2 });
	json_t *facts = server_facts(run);

	expect_descriptors(facts, 9);
	ck_assert(has_signal(facts, "SigIgn", SIGPIPE));
	ck_assert(has_signal(facts, "SigBlk", SIGUSR2));
	ck_assert(!has_signal(facts, "SigBlk", SIGTERM));
	run_end(run);
}

static void
expect_blocking(struct run *run)
{
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(fcntl(run->kept[i], F_GETFL) & O_NONBLOCK, 0);
}

/*
 * O_NONBLOCK belongs to the open file, which the client's other children may share: it is never
 * set.
 */
TESTS(each_wiring_carries_a_session, 0, 3)
{
	const struct setup setup = { .wiring = (enum wiring)_i,
		.keep = true,
		.options = "-t tools/call:sleep=300ms" };
	struct run *run = run_start(&setup);

	run_handshake(run);
	expect_blocking(run);
	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_call(run, "3", "flood", "{\"count\":20000,\"bytes\":3000000}");
	for (int i = 0; i < 20000; i++)
		run_expect_message(run);
	expect_blocking(run);
	ck_assert_uint_eq(strlen(answer_text(run_expect_answer(run, "3"))), 3000000);
	run_close_in(run);
	if (setup.wiring == WIRED_ONE_SOCKET)
		shutdown(run->from, SHUT_WR);
	run_expect_exit(run, 0);
	expect_blocking(run);
	for (int i = 0; i < 2; i++) {
		close(run->kept[i]);
		run->kept[i] = -1;
	}
	run_expect_end(run);
	run_end(run);
}

TEST(a_half_closed_socket_still_takes_answers)
{
	struct run *run =
	    run_start(&(struct setup){ .wiring = WIRED_ONE_SOCKET, .options = "--drain" });

	run_handshake(run);
	run_call(run, "2", "sleep", "{\"ms\":300}");
	shutdown(run->to, SHUT_WR);
	ck_assert_str_eq(answer_text(run_expect_answer(run, "2")), "done");
	run_finish(run, 0);
}

TESTS(dev_null_as_input_is_an_end, 0, 2)
{
	struct run *run = run_start(
	    &(struct setup){ .in = "/dev/null", .command = _i == 0 ? NULL : "demo --ignore-eof" });

	run_expect_exit(run, 0);
	run_expect_end(run);
	run_end(run);
}
