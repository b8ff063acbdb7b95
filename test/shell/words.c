#include "shell/words.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Splits a command at its vertical bars, within text. */
static void
split(const char *command, char text[512], char *words[32])
{
	char *rest = text;
	size_t count = 0;

	strcpy(text, command);
	while ((words[count] = strsep(&rest, "|")) != NULL)
		count++;
}

static const struct {
	const char *command, *name;
} names[] = {
	{ "my-server", "my-server" },
	{ "/usr/local/bin/my-server|--stdio", "my-server" },
	{ "npx -y a --token a/sk-1", "npx" },
	{ "/opt/server.sh", "server.sh" },
	{ "/", "*" },
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
	{ "docker|run|-i|--rm|--mount|type=bind,src=/a,dst=/b|mcp/filesystem:1.0|/b",
	    "filesystem" },
	{ "docker|run|registry.org/a/fetch@sha256:00ff", "fetch" },
	{ "docker|exec|-i|box|server", "box" },
	{ "java|-jar|/srv/a-1.0.jar", "a-1.0" },
	{ "java|-cp|x.jar|org.example.Server", "org.example.Server" },
	{ "sh|-c|read line; exit 1", "sh" },
	{ "sh|/srv/start/notes.sh", "notes" },
	{ "sh", "sh" },
	{ "sh|-xeuc|login me secret", "sh" },
	{ "npx|--registry|https://host/token|a-server", "a-server" },
	{ "env|A=1|B=2|uvx|mcp-server-git", "mcp-server-git" },
	{ "env|KEY=ab/secret==|my-server", "my-server" },
	{ "timeout|10|my-server", "my-server" },
	{ "sudo|nice|-n|5|my-server", "my-server" },
	{ "env", "env" },
	/*
	 * What may be a value is no name, nor is a part of an address that may be of a password or
	 * a query.
	 */
	{ "python|-I|a.py|sk-1", "a" },
	{ "sudo|-n|my-server|sk-1", "my-server" },
	{ "npx|--header|sk-1|a-server", "npx" },
	{ "npx|-z|sk-1", "npx" },
	{ "node|-e|1|sk-1", "node" },
	{ "sh|-c|a|sk-1", "sh" },
	{ "npx|Bearer a/sk-1", "npx" },
	{ "npx|{\"apiKey\":\"sk-1\"}", "npx" },
	{ "npx|https://me:a/b@host", "npx" },
	{ "npx|https://me:a#b/c@host", "npx" },
	{ "npx|https://host/?key=a/b", "npx" },
	{ "npx|me:1/b@host", "npx" },
	{ "uvx|git+https://sk-1@host/server.git", "server" },
	{ "npx|@scope/server", "server" },
	{ "npx|-y|https://host/pkg.tgz?sha=abc|sk-1", "pkg.tgz" },
	{ "npx|-y|https://host/pkg.tgz?path=a/b|sk-1", "npx" },
	{ "npx|-y|git+https://host/p.git#semver=1|sk-1", "p" },
	{ "deno|run|--allow-net=host|https://host/s.ts?v=1|sk-1", "s" },
	{ "docker|run|-i|--rm|image@sha256=x|sk-1", "image" },
	{ "docker|run|KEY=x|image|sk-1", "image" },
	{ "uvx|tool>=1.0|sk-1", "tool" },
	{ "uvx|tool~=1.0|sk-1", "tool" },
	{ "uvx|tool<=2|sk-1", "tool" },
	{ "uvx|tool!=2|sk-1", "tool" },
	{ "npx|-y|pkg@>=1.2.0|sk-1", "pkg" },
	{ "npx|-y|KEY=sk-1|a", "KEY" },
	{ "node|/srv/a=b/server.js|sk-1", "node" },
	{ "python3|./v=1/x.py|sk-1", "python3" },
	{ "env|1KEY=x|sk-1", "1KEY" },
	{ "env|-u|A|KEY_2=x=y|my-server|sk-1", "my-server" },
	{ "env|KEY-2=x|sk-1", "KEY-2" },
	{ "npx|key=a@host", "npx" },
	{ "node|-", "node" },
	{ "npx|ghp_0123456789012345678901234567890123456789", "npx" },
	{ "node|/usr/lib/node_modules/@scope/a-server/dist/index.js", "a-server" },
	{ "0123456789012345678901234567890123456789012345678901234567890123456789",
	    "012345678901234567890123456789012345678901234567890123456789012" },
};

SUITE("words");

TESTS(a_command_has_a_name, 0, COUNT(names))
{
	char text[512], *words[32], name[NAME_SIZE];

	split(names[_i].command, text, words);
	name_of_command(words, name);
	ck_assert_msg(strcmp(name, names[_i].name) == 0, "%s: %s, not %s", names[_i].command, name,
	    names[_i].name);
}

static const struct {
	const char *command, *line;
} lines[] = {
	{ "my-server", "my-server" },
	{ "/bin/sh|-c|exit 0", "/bin/sh -c *" },
	{ "a||*", "a * *" },
	{ "npx -y a --token a/sk-1", "npx*" },
	{ "me:pw@host", "me*" },
	{ "/opt/x/bin/server", "/opt/x/bin/server" },
	{ "env|API_KEY=sk-1|my-server", "env * my-server" },
	{ "env|API_KEY=ab/sk-1==|my-server", "env * my-server" },
	{ "docker|run|-i|--rm|-e|TOKEN=ghp_1|-eTOKEN=ghp_1|ghcr.io/github/mcp:1.0|stdio",
	    "docker * -i --rm -e * * mcp *" },
	{ "my-server|--api-key|sk-1|--api-key=sk-1|--|-v|-vv|-1|-",
	    "my-server --api-key * --api-key=* -- -v * * *" },
	{ "my-server|--pass|-secret|--Secret|--se_cret", "my-server --pass * * *" },
	{ "my-server|--01234567890123456789012345678901|--012345678901234567890123456789012",
	    "my-server --01234567890123456789012345678901 *" },
	{ "npx|-y|@scope/a-server@1.2|/home/me", "npx -y @scope/a-server *" },
	{ "npx|-y|@scope/x/a-server", "npx -y a-server" },
	{ "npx|mcp-remote|https://me:pw@host/?key=1|--header|Authorization: Bearer abc",
	    "npx mcp-remote * --header *" },
	{ "uvx|--from|git+https://token@github.com/a/b|b-server", "uvx --from * b-server" },
	{ "uvx|git+https://token@github.com/a/b.git@v1", "uvx b.git" },
	{ "uvx|markitdown[all]", "uvx markitdown" },
	{ "uv|run|--directory|/srv/a|weather.py", "uv * --directory * weather.py" },
	{ "node|/srv/weather/dist/index.js|--config|{\"apiKey\":1}", "node index.js --config *" },
	{ "python3|-m|pkg.sub|sk-1", "python3 -m pkg.sub *" },
	{ "npx|-z|sk-1|https://me:a/b@host", "npx -z * *" },
	{ "a|b\033[2J|sk-ant-1|ghp_1", "a * * *" },
	{ "{a|=b|-", "* * *" },
};

TESTS(only_what_is_harmless_is_shown, 0, COUNT(lines))
{
	char text[512], *words[32];
	struct buf line;

	split(lines[_i].command, text, words);
	line = (struct buf){ 0 };
	command_append(&line, words);
	buf_append(&line, (struct span){ "", 1 });
	ck_assert_str_eq(line.data, lines[_i].line);
	buf_free(&line);
}

static const struct {
	const char *command, *hint;
} containers[] = {
	{ "docker|run|-i|image", "run it with --init and --rm; docker ps shows it" },
	{ "/usr/bin/podman|container|run|image",
	    "run it with --init and --rm; podman ps shows it" },
	{ "docker|run|-i|--memory|1g|--rm|image", "run it with --init; docker ps shows it" },
	{ "docker|run|--init|image", "run it with --rm; docker ps shows it" },
	{ "docker|run|--init=true|--rm=true|image", "docker ps shows it" },
	{ "docker|-D|--context|run|-H=x|-l|debug|run|--init|--rm|image", "docker ps shows it" },
	{ "sudo|-u|me|-n|env|A=docker|docker|run|--init|--rm|image", "docker ps shows it" },
	{ "sudo|-g|docker|--|docker|run|--init|--rm|image", "docker ps shows it" },
	{ "docker|mcp|gateway|run", NULL },
	{ "docker|exec|-i|c|uv|run|server", NULL },
	{ "docker|compose|run|--rm|server", NULL },
	{ "docker|container|exec|run|run", NULL },
	{ "docker|--context|run|exec|c|x", NULL },
	{ "docker|container", NULL },
	{ "docker", NULL },
	{ "sudo|-u|docker|x|run", NULL },
	{ "sudo|-u", NULL },
	{ "uv|run|docker|run|x", NULL },
	{ "my-docker|run|x", NULL },
};

TESTS(a_command_line_of_a_container_is_known, 0, COUNT(containers))
{
	char text[512], *words[32];
	struct buf hint;

	split(containers[_i].command, text, words);
	hint = (struct buf){ 0 };
	ck_assert_int_eq(command_runs_container(words, &hint), containers[_i].hint != NULL);
	buf_append(&hint, (struct span){ "", 1 });
	ck_assert_str_eq(hint.data, containers[_i].hint != NULL ? containers[_i].hint : "");
	buf_free(&hint);
}

TEST(the_account_has_a_home)
{
	const struct passwd *account = getpwuid(geteuid());

	if (account == NULL)
		return; /* a container with a bare user id */
	ck_assert_str_eq(home_of_account(), account->pw_dir);
	setenv("HOME", "/home/someone", 1);
	ck_assert_str_eq(home_directory(), "/home/someone");
	unsetenv("HOME");
	ck_assert_str_eq(home_directory(), account->pw_dir);
	setenv("HOME", "", 1);
	ck_assert_str_eq(home_directory(), account->pw_dir);
	setenv("HOME", "relative", 1);
	ck_assert_str_eq(home_directory(), account->pw_dir);
}

TEST(a_tilde_is_expanded)
{
	char path[16];

	setenv("HOME", "/home/me", 1);
	ck_assert(home_expand("~/a", path, sizeof(path)));
	ck_assert_str_eq(path, "/home/me/a");
	ck_assert(home_expand("~a", path, sizeof(path)));
	ck_assert_str_eq(path, "~a");
	ck_assert(home_expand("~/123456", path, sizeof(path)));
	ck_assert(!home_expand("~/1234567", path, sizeof(path)));
}

/* The folder has a program whose interpreter is missing. */
TEST(a_program_that_cannot_be_started_is_explained)
{
	static const struct {
		const char *program;
		int error;
		const char *reason;
	} failures[] = {
		{ "there", ENOENT, "No such file or directory" },
		{ "absent", ENOENT, "it is not in PATH: give the absolute path (PATH is " },
		{ "there", EACCES, "Permission denied" },
		{ "./absent", EACCES, "Permission denied" },
		{ "/", EACCES, "Is a directory" },
		{ "./absent", ENOENT, "No such file or directory" },
		{ "npx -y server", ENOENT, COMMAND_IS_LINE },
	};
	char folder[64], path[128];

	snprintf(folder, sizeof(folder), "%s/words-XXXXXX", getenv("TMPDIR"));
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/there", folder);
	close(open(path, O_WRONLY | O_CREAT, 0700));
	setenv("PATH", folder, 1);
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		struct buf text = { 0 };

		command_explain(&text, failures[i].program, failures[i].error);
		ck_assert_msg(memmem(text.data, text.len, failures[i].reason,
				  strlen(failures[i].reason)) == text.data,
		    "%s: %.*s", failures[i].program, (int)text.len, text.data);
		buf_free(&text);
	}
	unlink(path);
	rmdir(folder);
}
