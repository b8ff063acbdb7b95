#include "shell/command.h"

#include <check.h>
#include <string.h>

Suite *command_suite(void);

/* Words are separated by a vertical bar. */
static const struct {
	const char *command, *line;
} lines[] = {
	{ "my-server", "my-server" },
	{ "/bin/sh|-c|exit 0", "/bin/sh -c 'exit 0'" },
	{ "a||*", "a '' '*'" },
	{ "env|API_KEY=sk-1|MODE=fast|my-server", "env API_KEY=*** MODE=fast my-server" },
	{ "docker|run|-e|GITHUB_TOKEN=ghp_1|-e|GITHUB_TOKEN|image",
	    "docker run -e GITHUB_TOKEN=*** -e GITHUB_TOKEN image" },
	{ "docker|run|-eGITHUB_TOKEN=ghp_1|image", "docker run -eGITHUB_TOKEN=*** image" },
	{ "my-server|--api-key|sk-1|--verbose", "my-server --api-key *** --verbose" },
	{ "my-server|--api-key=sk-1|--port=80", "my-server --api-key=*** --port=80" },
	{ "my-server|--token|--port|80", "my-server --token --port 80" },
	{ "my-server|--password|sk 1", "my-server --password '***'" },
	{ "npx|mcp-remote|https://a.example/sse|--header|Authorization: Bearer abc",
	    "npx mcp-remote https://a.example/sse --header 'Authorization:***'" },
	{ "npx|server-postgres|postgresql://me:s3cret@db:5432/x", "npx server-postgres postgresql://***@db:5432/x" },
	{ "npx|mcp-remote|https://a.example/sse?api_key=1&v=2",
	    "npx mcp-remote 'https://a.example/sse?api_key=***&v=2'" },
	{ "npx|server|https://auth.example/@scope", "npx server https://auth.example/@scope" },
	{ "sh|-c|TOKEN='a b' SECRET=x my-server \"--key=c\"",
	    "sh -c 'TOKEN=***'\\'' SECRET=*** my-server \"--key=***\"'" },
	{ "echo|it's; rm x|~a|{a,b}|[a]", "echo 'it'\\''s; rm x' '~a' '{a,b}' '[a]'" },
	{ "my-server|--token=", "my-server --token=" },
};

START_TEST(a_command_is_one_line_without_secrets)
{
	char text[512], *words[32], *rest = text;
	struct buf line;
	size_t count = 0;

	strcpy(text, lines[_i].command);
	while ((words[count] = strsep(&rest, "|")) != NULL)
		count++;
	buf_init(&line);
	command_append(&line, words);
	buf_append(&line, (struct span){ "", 1 });
	ck_assert_str_eq(line.data, lines[_i].line);
	buf_free(&line);
}
END_TEST

Suite *
command_suite(void)
{
	Suite *suite = suite_create("command");
	TCase *tests = tcase_create("lines");

	tcase_add_loop_test(tests, a_command_is_one_line_without_secrets, 0, sizeof(lines) / sizeof(lines[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
