/* Messages pass unchanged and in order, whatever their size; what exceeds a limit is refused. */
#include "client.h"

SUITE("streams", .seconds = 7);

TESTS(five_megabytes_pass_each_way, 0, 2)
{
	static char padding[5000001];
	struct run *run = run_session("", NULL);
	struct text line = { 0 };

	run->piece = _i == 0 ? 0 : 70000;
	memset(padding, 'x', sizeof(padding) - 1);
	text_print(&line,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
	    "\"arguments\":[\"%s\"]}}\n",
	    padding);
	run_send_text(run, line.data, line.len);
	run_expect_answer(run, "2");
	ck_assert_uint_eq(strlen(answer_text(run->message)), sizeof(padding) - 1 + 4);
	ck_assert_ptr_nonnull(strstr(answer_text(run->message), padding));
	run_expect_echo(run, "3");
	free(line.data);
	run_end(run);
}

TEST(a_last_line_without_newline_is_sent)
{
	struct run *run = run_session("--drain", NULL);
	const char *line = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}";

	run_send_text(run, line, strlen(line));
	run_close_in(run);
	run_expect_answer(run, "2");
	run_expect_end(run);
	run_end(run);
}

#define BIG(members) \
	"sh:for i in 2 3; do read a; printf '{\"jsonrpc\":\"2.0\"," members \
	"}\\n' $i 0; done; read a"

/* Its id stands in its first 4 KiB. */
TEST(a_response_beyond_the_limit_is_an_error)
{
	struct run *run =
	    run_options("--max-message 256K", BIG("\"id\":%d,\"result\":\"%02000000d\""));

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\"}");
	run_expect_error(run, "2", CODE_INTERNAL, "oversized-message");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"x\"}");
	run_expect_error(run, "3", CODE_INTERNAL, "oversized-message");
	run_end(run);
}

TESTS(a_response_below_the_limit_passes, 0, 2)
{
	static const char *const servers[] = { BIG("\"result\":\"%03000000d\",\"id\":%d"),
		BIG("\"id\":%d,\"result\":\"%03000000d\"") };
	struct run *run = run_options("--max-message 4M", servers[_i]);

	run_sendf(run, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"x\"}", 2 * _i);
	run_expect_answer(run, _i == 0 ? "0" : "2");
	ck_assert_uint_eq(strlen(at_text(run->message, "result")), 3000000);
	run_end(run);
}
