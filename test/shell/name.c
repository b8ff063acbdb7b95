#include "shell/name.h"

#include <check.h>
#include <string.h>

Suite *name_suite(void);

/* Words are separated by a vertical bar. */
static const struct {
	const char *command, *name;
} names[] = {
	{ "my-server", "my-server" },
	{ "/usr/local/bin/my-server|--stdio", "my-server" },
	{ "./bin/my server", "my server" },
	{ "/opt/server.sh", "server.sh" },
	{ "/opt/dir/", "dir" },
	{ "/", "/" },
	{ "npx|-y|@modelcontextprotocol/server-everything", "server-everything" },
	{ "npx|-y|@modelcontextprotocol/server-everything@2025.9.1|stdio", "server-everything" },
	{ "npx|-y|server-filesystem@latest|/home/u", "server-filesystem" },
	{ "npx|-y|-p|@scope/tools|tool-server", "tool-server" },
	{ "npx|--package=@scope/tools|tool-server", "tool-server" },
	{ "npx|tsx|src/weather.ts", "weather" },
	{ "npx", "npx" },
	{ "npx|-y", "npx" },
	{ "bunx|@scope/a", "a" },
	{ "npm|exec|-y|--|@scope/a@1", "a" },
	{ "pnpm|dlx|a-server", "a-server" },
	{ "bun|run|/srv/weather/index.ts", "weather" },
	{ "uvx|mcp-server-git", "mcp-server-git" },
	{ "uvx|mcp-server-git==1.2|--repository|.", "mcp-server-git" },
	{ "uvx|--from|git+https://github.com/a/b|b-server", "b-server" },
	{ "uvx|git+https://github.com/a/b.git@v1", "b" },
	{ "uvx|markitdown[all]", "markitdown" },
	{ "uv|run|--directory|/srv/weather|weather.py", "weather" },
	{ "uv|tool|run|mcp-server-time", "mcp-server-time" },
	{ "uv|run|--with|mcp|-m|mcp_server_time", "mcp_server_time" },
	{ "uv|run|python|-m|mcp_server_time", "mcp_server_time" },
	{ "pipx|run|mcp-server-fetch", "mcp-server-fetch" },
	{ "node|/x/weather/index.js", "weather" },
	{ "node|/x/y/index.js", "y" },
	{ "node|/x/weather/dist/src/index.js|--flag", "weather" },
	{ "node|--import|tsx|/x/weather.mjs", "weather" },
	{ "node|index.js", "index" },
	{ "node|/index.js", "index" },
	{ "node", "node" },
	{ "/usr/bin/node|--max-old-space-size=4096|a.b.js", "a.b" },
	{ "deno|run|-A|/srv/forecast/main.ts", "forecast" },
	{ "python|-m|pkg", "pkg" },
	{ "python3.12|-u|-X|utf8|-m|pkg.sub|--port", "pkg.sub" },
	{ "python|-u|/srv/time/server.py", "time" },
	{ "python|-c|print()", "python" },
	{ "docker|run|-i|--rm|-e|TOKEN|ghcr.io/github/github-mcp-server", "github-mcp-server" },
	{ "docker|run|-i|--rm|--mount|type=bind,src=/a,dst=/b|mcp/filesystem:1.0|/b", "filesystem" },
	{ "docker|run|localhost:5000/a/fetch@sha256:00ff", "fetch" },
	{ "docker|exec|-i|box|server", "box" },
	{ "java|-jar|/srv/a-1.0.jar", "a-1.0" },
	{ "java|-cp|x.jar|org.example.Server", "org.example" },
	{ "sh|-c|exec npx -y @scope/a-server --x", "a-server" },
	{ "bash|-lc|cd /srv && KEY=1 node weather/index.js", "weather" },
	{ "sh|-c|my-server \"$@\"|sh", "my-server" },
	{ "sh|-c|", "sh" },
	{ "sh|-c|read line; exit 1", "sh" },
	{ "sh|-c|if [ -e x ]; then exec /opt/my-server; fi", "my-server" },
	{ "sh|-c|echo a >&2; my-server", "my-server" },
	{ "sh|-c|exec my-server 2>&1", "my-server" },
	{ "sh|-c|exec 3>&1 4> log my-server", "my-server" },
	{ "sh|-c|exec <&-; sleep 1", "sh" },
	{ "sh|-c|2>/dev/null exec my-server", "my-server" },
	{ "sh|-c|TOKEN='a b;c' my-server", "my-server" },
	{ "sh|-c|TOKEN=\"secret\" exec npx a-server", "a-server" },
	{ "sh|-c|'/opt/my server' --x", "my server" },
	{ "sh|/srv/start/notes.sh", "notes" },
	{ "sh", "sh" },
	{ "env|A=1|B=2|uvx|mcp-server-git", "mcp-server-git" },
	{ "timeout|10|my-server", "my-server" },
	{ "sudo|-u|me|nice|-n|5|my-server", "my-server" },
	{ "env", "env" },
	{ "sh|-c|sh -c my-server", "my-server" },
	{ "0123456789012345678901234567890123456789012345678901234567890123456789",
	    "012345678901234567890123456789012345678901234567890123456789012" },
};

START_TEST(a_command_has_a_name)
{
	char line[512], *words[32], *rest = line, name[NAME_SIZE];
	size_t count = 0;

	strcpy(line, names[_i].command);
	while ((words[count] = strsep(&rest, "|")) != NULL)
		count++;
	name_of_command(words, name);
	ck_assert_msg(strcmp(name, names[_i].name) == 0, "%s: %s, not %s", names[_i].command, name, names[_i].name);
}
END_TEST

Suite *
name_suite(void)
{
	Suite *suite = suite_create("name");
	TCase *tests = tcase_create("commands");

	tcase_add_loop_test(tests, a_command_has_a_name, 0, sizeof(names) / sizeof(names[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
