/* cancelctl wrap and unwrap, on files of clients in a home directory of their own. */
#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "needs.h"
#include "shell.h"

#define CLAUDE "$HOME/.config/Claude/claude_desktop_config.json"
#define CURSOR "$HOME/.cursor/mcp.json"
#define CODEX "$HOME/.codex/config.toml"
#define SERVERS \
	"{\"mcpServers\":{\"one\":{\"command\":\"npx\",\"args\":[\"-y\",\"one\"]},\"two\":{\"command\":\"two\"}}}"

#define IN_PROJECT "cd \"$HOME/project\""

/* In the script, in the home's directory `project`, cancelctl is $CANCELCTL. */
static void
expect(const char *script, int status, const char *said)
{
	shell_expect(IN_PROJECT, script, status, said);
}

/* No client, no file. */
static void
set_up(void)
{
	static const char *const others[] = { "XDG_CONFIG_HOME", "CODEX_HOME",
		"CLAUDE_CONFIG_DIR" };
	char home[256];

	snprintf(home, sizeof(home), "%s/wraps-XXXXXX", getenv("E2E_DIRECTORY"));
	ck_assert_ptr_nonnull(mkdtemp(home));
	ck_assert_int_eq(setenv("HOME", home, 1), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		unsetenv(others[i]);
	strcat(home, "/project");
	ck_assert_int_eq(mkdir(home, 0700), 0);
}

static void
set_up_clients(void)
{
	set_up();
	expect(
	    "mkdir -p $HOME/.config/Claude $HOME/.cursor $HOME/.codex; echo '" SERVERS "' >" CLAUDE
	    "; printf '// c\\r\\n%s' '" SERVERS "' >" CURSOR
	    "; printf '# c\\n[mcp_servers.one]\\ncommand = \"npx\"\\ntool_timeout_sec = 60\\n' >" CODEX
	    "; cp -r $HOME $HOME.before",
	    0, "");
}

#define UNCHANGED "diff -r -x .local $HOME.before $HOME"

SUITE("wraps", .before = set_up_clients, .seconds = 20);

TEST(all_is_wrapped_and_comes_back)
{
	expect("$CANCELCTL wrap --all -- -t 30s", 0, "one: wrapped");
	expect(UNCHANGED, 1, "");
	expect(
	    "grep -c -e '\"--wrapped\\(=a\\)*\", \"--name\", \"[a-z]*\", \"-t\", \"30s\", \"--\"' " CLAUDE
	    " " CURSOR " " CODEX,
	    0, "mcp.json:1");
	/* The path is that of the program beside this one. */
	expect("grep -F \"\\\"$CANCELD\\\"\" " CLAUDE, 0, "--wrapped");
	expect("$CANCELCTL wrap --list", 0, "wrapped      one: npx -y one (--name one -t 30s)\n");
	expect("$CANCELCTL wrap --list -j", 0,
	    "\"command\":\"npx -y one\",\"options\":\"--name one -t 30s\"}");
	expect("$CANCELCTL wrap --all", 0, "one: already wrapped");
	expect("$CANCELCTL wrap --all -- -r", 0, "one: wrapped anew");
	expect("$CANCELCTL wrap --list", 0, "wrapped      two: two");
	expect("$CANCELCTL wrap | grep 'To put'", 1, "");
	expect("$CANCELCTL unwrap --all", 0, "two: unwrapped");
	expect(UNCHANGED, 0, "");
	expect("$CANCELCTL unwrap --all", 0, "two: not wrapped");
	/* Backups have the old contents, for nobody else. */
	expect("cd $HOME/.local/state/canceld/backups && ls -l | grep -c '^-rw-------'", 0, "9");
	expect("cd $HOME/.local/state/canceld/backups && cmp " CODEX " *0*codex* | head -n 1", 0,
	    "");
}

TEST(one_client_and_one_server)
{
	expect("$CANCELCTL wrap cursor two", 0, "two: wrapped");
	expect("grep -c 'command\":\"npx\"' " CURSOR, 0, "1");
	expect("cmp " CLAUDE " $HOME.before/.config/Claude/*", 0, "");
	expect("$CANCELCTL unwrap cursor one two", 0, "one: not wrapped");
	expect(UNCHANGED, 0, "");
	/* A file by its name, wherever it is. */
	expect("cp " CLAUDE " other.json; $CANCELCTL wrap other.json", 0, "file: other.json");
	expect("$CANCELCTL unwrap ./other.json && cmp other.json " CLAUDE, 0, "unwrapped");
	/* That of a project may be shared. */
	expect("cp " CLAUDE " .mcp.json; $CANCELCTL wrap claude-code one", 0,
	    "whoever else uses this file");
	expect("$CANCELCTL unwrap claude && cmp .mcp.json " CLAUDE, 0, "unwrapped");
	expect(
	    "cd; ln -s .cursor/mcp.json link; $CANCELCTL wrap ./link && [ -h link ] && grep -c -e --wrapped " CURSOR,
	    0, "1");
}

TEST(a_server_of_a_project_is_shown_and_named)
{
	static const char claude[] =
	    "echo '{\"mcpServers\":{\"one\":{\"command\":\"u\"}},\"projects\":{\"/a\":{\"mcpServers\":"
	    "{\"one\":{\"command\":\"a1\"},\"two\":{\"command\":\"a2\"}}},\"/b\":{\"mcpServers\":{"
	    "\"one\":{\"command\":\"b1\"}}}}}' >$HOME/.claude.json";

	expect(claude, 0, "");
	expect("$CANCELCTL wrap --list", 0,
	    "  one: u\n  not wrapped  /a:one: a1\n  not wrapped  /a:two: a2\n");
	expect("$CANCELCTL wrap claude /a:one && $CANCELCTL wrap --list", 0,
	    "  not wrapped  one: u\n  wrapped      /a:one: a1 (--name one)\n"
	    "  not wrapped  /a:two: a2\n");
	expect("$CANCELCTL wrap claude /a", 0,
	    "/a:one: already wrapped\n  /a:two: wrapped\n  backup");
	expect("$CANCELCTL unwrap -j claude one | grep -c unwrapped", 0, "1\n");
	expect("$CANCELCTL wrap -j --list", 0,
	    "\"group\":\"/b\",\"server\":\"one\",\"state\":\"not wrapped\"");
	expect("$CANCELCTL wrap claude /b:two", 1, "no server '/b:two' there");
	expect("$CANCELCTL wrap claude oen", 1, "no server 'oen' there: it could be one; see");
	/* An agent and a context server of Zed. */
	expect(
	    "mkdir .zed; echo '{\"context_servers\":{\"x\":{\"command\":\"c\"}},\"agent_servers\":{\"x\":{\"command\":"
	    "\"c\"}}}' >.zed/settings.json; $CANCELCTL wrap zed agent_servers:x",
	    0, "  agent_servers:x: wrapped\n  backup");
	/* At home nothing is there twice, or someone else's. */
	expect("cd; $CANCELCTL wrap --list | grep -c cursor", 0, "1\n");
	expect("cd; ! $CANCELCTL wrap .cursor/mcp.json | grep -i project", 0, "");
}

TEST(language_servers_are_asked_for)
{
	expect(
	    "rm -r $HOME/.c* $HOME/.codex; echo '{\"mcp\":{\"a\":{\"command\":\"a\"}},\"lsp\":{\"a\":{\"command\":\"b\"},"
	    "\"c\":{\"disabled\":true}}}' >crush.json; echo '[language-server.l]\ncommand=\"l\"' >languages.toml; "
	    "cp crush.json before",
	    0, "");
	expect("$CANCELCTL wrap --list", 0, "  not wrapped  a: a\n  not wrapped  lsp:a: b\n");
	expect("$CANCELCTL wrap --all", 0, "  a: wrapped\n  backup");
	expect("$CANCELCTL wrap crush lsp:a -- -t 5s", 0, "  lsp:a: wrapped\n");
	expect("$CANCELCTL wrap --list", 0, "  wrapped      lsp:a: b (-D lsp --name a -t 5s)\n");
	expect("$CANCELCTL unwrap --lsp crush", 0, "  lsp:a: unwrapped\n  backup");
	expect("$CANCELCTL wrap --lsp -a; $CANCELCTL wrap --lsp -a", 0,
	    "  lsp:a: already wrapped\n");
	expect("$CANCELCTL unwrap --all && cmp crush.json before", 0,
	    "  a: unwrapped\n  lsp:a: unwrapped\n");
	expect("$CANCELCTL wrap ./languages.toml", 0, "  no servers, but 1 for --lsp\n");
	expect("echo '" SERVERS "' >.mcp.json; $CANCELCTL wrap --lsp claude", 0,
	    "  no language servers\n");
	expect("$CANCELCTL wrap --lsp ./languages.toml l && cat languages.toml", 0,
	    "\", \"-D\", \"lsp\", \"--name\", \"l\", \"--\", \"l\"]");
	expect("$CANCELCTL unwrap ./languages.toml l", 1, "no server 'l' there without --lsp; see");
}

TEST(a_name_alone_means_language_servers_only_with_lsp)
{
	expect(
	    "echo '{\"mcp\":{\"lsp\":{\"command\":\"a\"},\"b\":{\"command\":\"b\"},\"o\":{\"command\":\"o\"}},"
	    "\"lsp\":{\"b\":{\"command\":\"c\"},\"d\":{\"command\":\"d\"}}}' >crush.json",
	    0, "");
	expect("$CANCELCTL wrap -n crush lsp | grep -c would", 0, "1\n");
	expect("$CANCELCTL wrap -n crush lsp", 0, "  lsp: would be wrapped\n");
	expect("$CANCELCTL wrap -n crush b | grep -c would", 0, "1\n");
	expect("$CANCELCTL wrap -n crush b", 0, "  b: would be wrapped\n");
	expect("$CANCELCTL wrap -n --lsp crush b | grep -c would", 0, "1\n");
	expect("$CANCELCTL wrap -n --lsp crush b", 0, "  lsp:b: would be wrapped\n");
	expect("$CANCELCTL wrap -n --lsp crush lsp | grep -c lsp:.:.would", 0, "2\n");
	expect("$CANCELCTL wrap -n crush b lsp:b | grep -c would", 0, "2\n");
	expect("$CANCELCTL wrap -n --lsp crush o", 1, "no server 'o' there with --lsp; see");
	expect("$CANCELCTL wrap -n crush d", 1, "no server 'd' there without --lsp; see");
}

/* Hooks and the like have commands too. */
TEST(a_plugin_has_language_servers_in_one_member)
{
	expect(
	    "mkdir .claude-plugin; echo '{\"hooks\":{\"command\":\"x.sh\"},\"userConfig\":{\"command\":\"zz\"}}' "
	    ">.claude-plugin/plugin.json; $CANCELCTL wrap --lsp claude-plugin",
	    0, "plugin.json\n  no language servers\n");
	expect(
	    "echo '{\"g\":{\"command\":\"gopls\",\"extensionToLanguage\":{\".go\":\"go\"}}}' >.lsp.json; "
	    "$CANCELCTL wrap --lsp claude-plugin",
	    0, "lsp.json\n  lsp:g: wrapped\n");
}

TEST(a_dry_run_changes_nothing)
{
	expect("$CANCELCTL wrap -n --all -- -t 30s", 0,
	    "two: would be wrapped\n    - two\n    + /");
	expect("$CANCELCTL wrap -n cursor one -- -t 30s", 0,
	    "/canceld --wrapped --name one -t 30s -- npx -y one\n");
	expect("$CANCELCTL wrap -na", 0, "/canceld --wrapped --name one -- npx -y one\n");
	expect("$CANCELCTL wrap -naj", 0, "\"result\":\"wrapped\",\"dry_run\":true");
	expect(UNCHANGED, 0, "");
	expect("[ -e $HOME/.local ]", 1, "");
	expect("$CANCELCTL wrap codex && $CANCELCTL unwrap --dry-run codex", 0, "    + npx\n");
	expect("grep -c -e --wrapped " CODEX, 0, "1");
}

TEST(a_dry_run_shows_no_secret)
{
	expect(
	    "printf '{\"mcpServers\":{\"one\":{\"command\":\"npx\",\"env\":{\"PLAIN\":\"hush\"},\"headers\":"
	    "{\"X-Any\":\"hush\"},\"args\":[\"--token=hush\",\"one\",\"hush\"]}}}' >" CURSOR
	    "; $CANCELCTL wrap -n cursor; $CANCELCTL wrap -nj cursor; $CANCELCTL wrap --list",
	    0, "    - npx --token=* one *\n");
	ck_assert_ptr_null(strstr(shell_output, "hush"));
	expect(
	    "$CANCELCTL wrap cursor -- --answer 'a=\"hush\"' '--answer=b=\"hush\"' -r; $CANCELCTL wrap --list; "
	    "$CANCELCTL wrap --list -j; $CANCELCTL wrap -n cursor -- -k; $CANCELCTL unwrap -n cursor; "
	    "$CANCELCTL unwrap -nj cursor",
	    0, "(--name one --answer a=* --answer=b=* -r)\n");
	ck_assert_ptr_null(strstr(shell_output, "hush"));
}

/* A person's own name comes last, and counts; what cancelctl would take for a path is none. */
TEST(a_server_has_the_name_that_people_know)
{
	expect(
	    "echo '{\"mcpServers\":{\"mine\":{\"command\":\"node\",\"args\":[\"/srv/index.js\"]},"
	    "\"a/b\":{\"command\":\"x\"},\"--\":{\"command\":\"y\"}}}' >.mcp.json; cp .mcp.json plain; "
	    "$CANCELCTL wrap -n ./.mcp.json",
	    0, "/canceld --wrapped --name mine -- node index.js\n");
	expect("$CANCELCTL wrap -n ./.mcp.json", 0, "/canceld --wrapped=a -- x\n");
	expect("$CANCELCTL wrap -n ./.mcp.json", 0, "/canceld --wrapped=a -- y\n");
	expect("$CANCELCTL wrap ./.mcp.json; $CANCELCTL wrap ./.mcp.json", 0,
	    "  mine: already wrapped\n");
	expect("$CANCELCTL unwrap ./.mcp.json; cmp .mcp.json plain", 0, "");
	expect("$CANCELCTL wrap ./.mcp.json mine -- --name other; "
	       "$CANCELD --name mine --name other -- true 2>&1 </dev/null; $CANCELCTL wrap --list",
	    0, "(--name mine --name other)\n");
}

TEST(json_is_one_object_a_line)
{
	char *rest = shell_output, *line;
	int lines = 0;

	expect(
	    "$CANCELCTL wrap --list --json; $CANCELCTL wrap --json --all; $CANCELCTL wrap --list --json; "
	    "$CANCELCTL unwrap --json cursor",
	    0, "\"result\":\"unwrapped\"");
	for (; (line = strtok_r(rest, "\n", &rest)) != NULL; lines++) {
		json_t *object = json_loads(line, 0, NULL);

		ck_assert_msg(json_is_object(object), "%s", line);
		ck_assert_ptr_nonnull(json_object_get(object, "server"));
		ck_assert_ptr_nonnull(json_object_get(object, "file"));
		json_decref(object);
	}
	ck_assert_int_eq(lines, 5 + 5 + 5 + 2);
}

TEST(a_client_that_gives_up_first_is_told)
{
	expect("$CANCELCTL wrap codex", 0,
	    "gives up after 1m00s, no later than canceld's deadline for tools/call (30m00s)");
	expect("$CANCELCTL wrap codex -- -t 90s", 0,
	    "no later than canceld's deadline for tools/call (1m30s)");
	expect("$CANCELCTL wrap codex -- -t tools/call=none", 0, "(none)");
	expect("$CANCELCTL wrap codex -- -t 59s | grep gives", 1, "");
	expect(
	    "mkdir -p $HOME/.config/canceld; echo '{\"timeout\":\"20s\"}' >$HOME/.config/canceld/config.json",
	    0, "");
	expect("$CANCELCTL wrap codex -- | grep gives", 1, "");
	/* A section of the file is for servers by their command too. */
	expect(
	    "echo '{\"timeout\":\"20s\",\"servers\":{\"*\":{\"timeout\":\"90s\"}}}' >$HOME/.config/canceld/config.json",
	    0, "");
	expect("$CANCELCTL wrap codex --", 0, "(1m30s)");
	expect("$CANCELCTL wrap --json codex", 0, "\"client_timeout_ms\":60000");
	/* An option that canceld refuses says nothing of a deadline. */
	expect("sed -i 's/--wrapped=a/&\", \"--frob/' " CODEX
	       "; ! $CANCELCTL wrap codex | grep gives",
	    0, "");
}

TEST(the_list_says_what_to_type)
{
	expect("$CANCELCTL wrap", 0, "cancelctl wrap CLIENT, or cancelctl wrap --all");
	expect("$CANCELCTL wrap", 0, "not wrapped  one: npx -y one");
	expect(UNCHANGED, 0, "");
	expect(
	    "echo '{\"mcpServers\":{\"\\u001b[2J\\u009b\\u202e\":{\"command\":\"x\",\"args\":[\"--token=abc\",\"\\u001b]\"]}}}' >" CURSOR
	    "; $CANCELCTL wrap --list; $CANCELCTL wrap --list -j; $CANCELCTL wrap -n cursor; ! $CANCELCTL wrap -nj cursor | "
	    "grep -v u009B",
	    0, "\\x1b[2J\\xc2\\x9b\\xe2\\x80\\xae: x --token=* *");
	ck_assert_ptr_nonnull(strstr(shell_output, "[2J\\u009B\\u202E\""));
	ck_assert_uint_eq(strcspn(shell_output, "\033\xc2\xe2"), strlen(shell_output));
}

TEST(the_list_is_cut_to_the_terminal)
{
	shell_expect_terminal(24, "$CANCELCTL wrap --list",
	    "  not wrapped  one: npx\xe2\x80\xa6\r\n");
	ck_assert_ptr_nonnull(strstr(shell_output, "  not wrapped  two: two\r\n"));
	ck_assert_ptr_nonnull(
	    strstr(shell_output, "/.config/Claude/claude_desktop_config.json\r\n"));
}

static const struct {
	const char *script;
	int status;
	const char *said;
} refusals[] = {
	{ "$CANCELCTL wrap cursr", 1, "'cursr' is no client and no file: it could be cursor" },
	{ "$CANCELCTL wrap zed", 1, "Zed has no file here" },
	{ "$CANCELCTL wrap cursor three", 1, "no server 'three' there" },
	{ "$CANCELCTL unwrap --all three", 1, "no server 'three' there" },
	{ "$CANCELCTL wrap cursor -- -t 30", 2, "30s" },
	{ "$CANCELCTL wrap cursor -- --log-payload", 2, "name a file" },
	{ "$CANCELCTL wrap cursor one -- --name", 2, "--name needs a value" },
	{ "$CANCELCTL wrap cursor -- -T", 2, "--max-time needs a value" },
	{ "$CANCELCTL wrap cursor -- npx x", 2, "'npx' is no option of canceld" },
	{ "$CANCELCTL wrap cursor -- -r -- npx", 2, "'npx' is no option of canceld" },
	{ "$CANCELCTL wrap cursor -- --name \"$(printf '\\377')\"", 1,
	    "could not be read again: line 2: not UTF-8" },
	{ "$CANCELCTL wrap --frob", 2, "unknown option '--frob'" },
	{ "$CANCELCTL wrap -xn", 2, "unknown option '-x'" },
	{ "$CANCELCTL wrap --all -t 30s", 2,
	    "stand behind --, as in: cancelctl wrap --all -- -t 30s" },
	{ "$CANCELCTL unwrap cursor -- -r", 2, "unwrap takes no options of canceld" },
	{ "$CANCELCTL unwrap", 2, "which client?" },
	{ "$CANCELCTL wrap -- -t 30s", 2, "which client? cancelctl wrap CLIENT, FILE or --all" },
	{ "$CANCELCTL wrap --list cursor -- -t 30s", 2, "which client?" },
	{ "$CANCELCTL unwrap --list", 2, "wrap --list" },
	{ "mkdir -p bin/canceld; cp $CANCELCTL bin; PATH=/usr/bin:/bin bin/cancelctl wrap cursor; s=$?; rm -r bin; (exit $s)",
	    125, "canceld is neither beside cancelctl nor in PATH: install it again\n" },
	{ "$CANCELCTL wrap ./none.json", 1, "No such file" },
	{ ": >$HOME/.local; $CANCELCTL wrap cursor || { s=$?; rm $HOME/.local; exit $s; }", 125,
	    "backup" },
};

TESTS(what_cannot_be_done_is_refused, 0, COUNT(refusals))
{
	expect(refusals[_i].script, refusals[_i].status, refusals[_i].said);
	expect(UNCHANGED, 0, "");
}

static const struct {
	const char *make, *command;
	int status;
	const char *said;
} left[] = {
	{ "mkdir -p $HOME/.config/goose; echo extensions: >$HOME/.config/goose/config.yaml",
	    "wrap goose -- -r", 1, "args [\"-r\", \"--\", COMMAND, ARGUMENTS...]" },
	{ "mkdir -p $HOME/.config/goose; echo extensions: >$HOME/.config/goose/config.yaml",
	    "unwrap --all", 0, "YAML is not edited" },
	{ "mkdir -p $HOME/.config/goose; echo extensions: >$HOME/.config/goose/config.yaml",
	    "unwrap goose", 1, "YAML is not edited" },
	{ "mkdir -p $HOME/.config/goose; echo extensions: >$HOME/.config/goose/config.yaml",
	    "wrap --all", 0, "args [\"--\", COMMAND, ARGUMENTS...]" },
	{ "mkdir -p $HOME/.config/goose; echo extensions: >$HOME/.config/goose/config.yaml; echo '{' >.mcp.json",
	    "wrap --all", 1, "YAML is not edited" },
	{ "echo '{\"a\":1,\n\"a\":2}' >.mcp.json", "wrap claude", 1,
	    "line 2: the key 'a' is there twice" },
	{ "echo '{' >.mcp.json", "wrap claude", 1, "args [\"--\", COMMAND, ARGUMENTS...]" },
	/* Only language servers are there, or are meant. */
	{ "mkdir -p .helix; echo '[' >.helix/languages.toml", "wrap helix -- -r", 1,
	    "args [\"-D\", \"lsp\", \"-r\", \"--\", COMMAND, ARGUMENTS...]" },
	{ "echo '{' >opencode.json", "wrap --lsp opencode", 1,
	    "args [\"-D\", \"lsp\", \"--\", COMMAND, ARGUMENTS...]" },
	{ "echo '{' >opencode.json", "wrap opencode", 1, "args [\"--\", COMMAND, ARGUMENTS...]" },
	{ "echo '{}' >.mcp.json", "wrap claude", 0, "no servers" },
	{ "echo '{\"mcpServers\":{\"a\":{\"url\":\"https://x\"}}}' >.mcp.json", "wrap claude", 0,
	    "a: left alone: it is a remote server" },
	{ "echo '{\"mcpServers\":{\"a\":{\"url\":\"https://x\"}}}' >.mcp.json", "wrap claude a", 1,
	    "a: left alone: it is a remote server (line 1 of the file)\n" },
	{ "echo '{\"mcpServers\":{\"a\":{\"command\":\"canceld\",\"args\":[\"--wrapped\",/*c*/\"--\",\"x\"]}}}' >.mcp.json",
	    "unwrap claude", 1, "a: left alone: a comment stands between" },
	{ "echo '{\"mcpServers\":{\"a\":{\"command\":\"canceld\",\"args\":[\"--wrapped\",\"-r\",\"x\"]}}}' >.mcp.json",
	    "unwrap claude", 1, "a: left alone: its words do not end with --" },
	{ "echo '" SERVERS "' >.mcp.json; chmod 444 .mcp.json", "wrap claude", 1,
	    "it is read-only; if it may be changed, run chmod u+w " },
	{ "echo '" SERVERS "' >.mcp.json; chmod 444 .mcp.json", "wrap -n claude", 1,
	    "it is read-only" },
	{ "echo '" SERVERS "' >.mcp.json; chmod 444 .mcp.json", "wrap --list", 0,
	    "not wrapped  one: npx -y one" },
	{ "echo '" SERVERS "' >../outside; ln -s ../outside .mcp.json", "wrap claude", 1,
	    "leads out of the project" },
	{ "echo '" SERVERS "' >../outside; ln -s ../outside .mcp.json", "wrap .mcp.json", 1,
	    "leads out of the project" },
	{ "echo '" SERVERS "' >../outside; ln -s ../outside .mcp.json", "wrap ./.mcp.json one", 1,
	    "leads out" },
	{ "echo '" SERVERS "' >../outside; ln -s ../outside .mcp.json", "wrap $PWD/.mcp.json", 1,
	    "leads out" },
	{ "echo '" SERVERS "' >$HOME/.claude.json; ln -s $HOME/.claude.json .mcp.json",
	    "wrap .mcp.json", 1, "leads out" },
	{ "echo '" SERVERS "' >$HOME/.claude.json; ln -s $HOME/.claude.json .mcp.json",
	    "wrap $PWD/.mcp.json", 1, "leads out" },
	{ "mkdir $HOME/.cursor; echo '" SERVERS
	  "' >$HOME/.cursor/mcp.json; ln -s $HOME/.cursor .cursor",
	    "wrap ./.cursor/mcp.json", 1, "leads out" },
	{ "mkdir .vscode; echo '{\"servers\":{\"d\":{\"command\":\"node\",\"args\":[],\"dev\":{\"debug\":{}}}}}' "
	  ">.vscode/mcp.json",
	    "wrap vscode", 0, "d: left alone: VS Code debugs it (dev.debug) only if" },
	{ "mkdir .vscode; echo '{\"servers\":{\"d\":{\"command\":\"node\",\"args\":[],\"dev\":{\"debug\":{}}}}}' "
	  ">.vscode/mcp.json",
	    "unwrap vscode", 0, "d: not wrapped" },
};

/* Zed expands the ~ of a command, and not of an argument, which the command becomes. */
TEST(a_command_in_the_home_starts)
{
	expect(
	    "mkdir $HOME/bin; printf '#!/bin/sh\\nexit 7\\n' >$HOME/bin/agent; chmod +x $HOME/bin/agent",
	    0, "");
	expect("$CANCELD '~/bin/agent' </dev/null", 7, "agent: ");
	expect("unset HOME; $CANCELD --no-control --no-history '~/none' </dev/null", 127,
	    "start /");
}

/* What does not belong into a file of TOML, behind a server that could be wrapped. */
static const char *const invalid[] = { "a = 1__2", "a = 012", "a = 0xZZ", "a = tru", "# \\001",
	"[mcp_servers.one]", "a = 1979-02-29", "[mcp_servers]\\none.args = []", "a = \"\\177\"" };

SUITE("wraps", .before = set_up, .seconds = 20);

TESTS(invalid_toml_is_left_alone, 0, COUNT(invalid))
{
	char make[256];

	snprintf(make, sizeof(make),
	    "mkdir $HOME/.codex; printf '[mcp_servers.one]\\ncommand = \"x\"\\n%s\\n' >" CODEX
	    "; cp " CODEX " was",
	    invalid[_i]);
	expect(make, 0, "");
	expect(
	    "for c in 'wrap codex' 'wrap -n codex' 'wrap -j codex' 'wrap --all -- -r' 'wrap " CODEX
	    " one' 'unwrap codex' 'unwrap --all' 'wrap --list'; do "
	    "$CANCELCTL $c >said; [ $? = 1 ] && grep 'left alone\\|no server' said && cmp was " CODEX
	    " || exit 9; done",
	    0, "left alone: line ");
}

TESTS(what_is_not_edited_is_left_alone, 0, COUNT(left))
{
	char script[512];

	expect(left[_i].make, 0, "");
	expect("rm -rf $HOME.before; cp -r $HOME $HOME.before", 0, "");
	snprintf(script, sizeof(script), "$CANCELCTL %s", left[_i].command);
	expect(script, left[_i].status, left[_i].said);
	expect(UNCHANGED, 0, "");
}

TEST(a_file_in_use_is_left_alone)
{
	int hold[2];
	char name[96];
	pid_t pid;

	NEEDS(SYSTEM_LISTS);
	ck_assert_int_eq(pipe(hold), 0);
	expect(
	    "echo '{\"mcpServers\":{\"one\":{\"command\":\"npx\",\"args\":[\"a b\"],\"env\":{\"KEY\":\"secret\"}},"
	    "\"a; b\":{\"command\":\"x\",\"env\":{\"$K\":\"\"}}}}' "
	    ">$HOME/.claude.json",
	    0, "");
	pid = fork();
	if (pid == 0) {
		dup2(hold[0], STDIN_FILENO);
		close(hold[1]);
		execl("/bin/sh", "claude", "-c", "read x; exit 0", NULL);
		_exit(127);
	}
	/* It is seen once it has its new name. */
	snprintf(name, sizeof(name), "tr '\\0' ' ' </proc/%d/cmdline | grep '^claude '", (int)pid);
	for (long end = milliseconds() + HARNESS_LIMIT; shell_run(IN_PROJECT, name) != 0;)
		ck_assert_int_lt(milliseconds(), end);
	expect("$CANCELCTL wrap claude", 1, "the client is running");
	ck_assert_ptr_null(strstr(shell_output, "secret"));
	expect("ln -s $HOME/.claude.json link; $CANCELCTL wrap ./link", 1, "the client is running");
	expect("grep -c wrapped $HOME/.claude.json", 1, "0");
	close(hold[1]);
	close(hold[0]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	expect("$CANCELCTL wrap claude", 0, "one: wrapped");
}

SUITE("wraps", .before = set_up_clients, .seconds = 20);

TEST(help_names_each_client)
{
	expect("$CANCELCTL wrap --help", 0, "opencode");
	expect("$CANCELCTL unwrap -h", 0, "usage: cancelctl unwrap");
	expect("$CANCELCTL help", 0, "unwrap CLIENT|FILE|--all [SERVER...]");
}

SUITE("wraps", .before = set_up, .seconds = 20);

TEST(without_clients_there_is_nothing_to_wrap)
{
	expect("$CANCELCTL wrap", 1, "no configuration of a client is here");
	expect("$CANCELCTL wrap --all", 1, "no configuration of a client is here");
}

/* Both programs in a folder. */
#define PUT(folder) "mkdir -p " folder "; cp $CANCELCTL $CANCELD " folder
#define CELLAR "brew/Cellar/canceld/"
#define MODULES "/lib/node_modules/canceld"
#define NATIVE MODULES "/node_modules/@canceld/linux-x64/bin"
#define ASDF ".asdf/installs/nodejs/20.1.0"
#define NODE ".nvm/versions/node/v20.1.0"

/*
 * What npm makes of the package in a prefix: the commands are links to a script, which starts the
 * program.
 */
#define NPM(prefix) \
	PUT(prefix NATIVE) \
	"; mkdir -p " prefix "/bin " prefix MODULES "/bin; for i in canceld cancelctl; do " \
	"echo \"#!/bin/sh\nexec $HOME/" prefix NATIVE "/$i \\\"\\$@\\\"\" >" prefix MODULES \
	"/bin/$i.js; " \
	"chmod +x " prefix MODULES "/bin/$i.js; ln -s .." MODULES "/bin/$i.js " prefix \
	"/bin/$i; done"

/* In the home directory. */
static const struct {
	const char *make, *path, *folder; /* PATH; the folder of the canceld that is written */
	const char *upgrade; /* after it the server starts; NULL: its path goes, which was told */
} layouts[] = {
	{ PUT(CELLAR
	      "1.0/bin") "; ln -s Cellar/canceld/1.0 brew/opt; mkdir brew/bin; ln -s ../opt/bin/canceld "
			 "../opt/bin/cancelctl brew/bin",
	    "$PWD/brew/bin", "brew/bin",
	    PUT(CELLAR "1.1/bin") "; rm -r " CELLAR "1.0; ln -sfn Cellar/canceld/1.1 brew/opt" },
	/* What comes first in PATH goes; a name with a number in it is no version. */
	{ PUT(CELLAR "1.0/bin") "; mkdir py3.11; ln -s $PWD/" CELLAR "1.0/bin/* py3.11",
	    "$PWD/" CELLAR "1.0/bin:$PWD/py3.11", "py3.11",
	    PUT(CELLAR "1.1/bin") "; rm -r " CELLAR "1.0; ln -sf $PWD/" CELLAR "1.1/bin/* py3.11" },
	/* Relative folders are not those of the client. */
	{ PUT(CELLAR "HEAD-1a2b/bin") "; mkdir bin; ln -s $PWD/" CELLAR "HEAD-1a2b/bin/* bin",
	    ":.:bin:./bin:$PWD/" CELLAR "HEAD-1a2b/bin", CELLAR "HEAD-1a2b/bin", NULL },
	{ NPM("npm"), "$PWD/npm/bin", "npm" NATIVE, "rm -r npm; " NPM("npm") },
	{ NPM(ASDF), "$PWD/" ASDF "/bin", ASDF NATIVE, NULL },
	{ NPM("n/v20"), "$PWD/n/v20/bin", "n/v20" NATIVE, NULL },
	{ PUT(NODE "/bin") "; mkdir fnm_multishells; ln -s ../" NODE " fnm_multishells/12_34",
	    "$PWD/fnm_multishells/12_34/bin", NODE "/bin", NULL },
	{ PUT("dlx-a/bin") "; ln -s dlx-a/bin bin", "$PWD/dlx-a/bin:$PWD/bin", "dlx-a/bin",
	    "cp dlx-a/bin/canceld dlx-a/bin/new; mv dlx-a/bin/new dlx-a/bin/canceld" },
};

#define WILL_GO "an upgrade may remove"

/* The server exits with status 7; its file is one line. */
#define MAKE_FILE \
	"echo '{\"mcpServers\":{\"one\":{\"command\":\"sh\",\"args\":[\"-c\",\"exit 7\"]}}}' >project/.mcp.json; "
#define START \
	"; eval \"$(sed 's/.*\"command\":\\(.*\\),\"args\":.\\(.*\\)\\].*/\\1 \\2/; s/, */ /g' project/.mcp.json)\""

TESTS(the_path_lasts, 0, COUNT(layouts))
{
	bool lasts = layouts[_i].upgrade != NULL;
	char script[4096];

	snprintf(script, sizeof(script),
	    "cd; %s; " MAKE_FILE "(PATH=\"%s:$PATH\"; cancelctl wrap ~/project/.mcp.json);"
	    "grep -q \"\\\"$PWD/%s/canceld\\\"\" project/.mcp.json || exit 9" START,
	    layouts[_i].make, layouts[_i].path, layouts[_i].folder);
	expect(script, 7, lasts ? "" : WILL_GO);
	ck_assert_msg((strstr(shell_output, WILL_GO) == NULL) == lasts, "%s", shell_output);
	snprintf(script, sizeof(script), "cd; %s" START,
	    lasts ? layouts[_i].upgrade : "mkdir old; mv .asdf .nvm brew n old");
	expect(script, lasts ? 7 : 127, "");
	expect("$CANCELCTL wrap --list; $CANCELCTL wrap --list -j", 0,
	    lasts ? "" : "\"why\":\"its canceld is gone\"");
	ck_assert(
	    (strstr(shell_output, "note: its canceld is gone, wrap it again: /") == NULL) == lasts);
	/* It is mended. */
	expect("$CANCELCTL wrap claude && $CANCELCTL wrap --list | grep -c note", 1,
	    "one: wrapped anew");
	expect("cd" START, 7, "");
}

static const char *const caches[] = { ".npm/_npx/0a1b/node_modules/@canceld/linux-x64/bin",
	".cache/pnpm/dlx/0a1b/1/node_modules/.pnpm/@canceld+linux-x64@1.0/node_modules/@canceld/linux-x64/bin",
	"xfs-0a1b/dlx-12/node_modules/@canceld/linux-x64/bin",
	"bunx-0-canceld@latest/node_modules/.bin" };

TESTS(a_cache_is_not_written_down, 0, COUNT(caches))
{
	char make[512];

	snprintf(make, sizeof(make), "cd; D=$HOME/%s; " PUT("$D") "; ln -s $D cache; " MAKE_FILE,
	    caches[_i]);
	expect(make, 0, "");
	expect(
	    "cp .mcp.json before; $HOME/cache/cancelctl wrap -n claude; PATH=$HOME/cache:$PATH; cancelctl wrap claude; "
	    "mkdir lone; cp $CANCELCTL lone; lone/cancelctl wrap claude",
	    1, "npm install -g canceld");
	ck_assert_ptr_null(strstr(shell_output, "one"));
	expect("cmp .mcp.json before && ~/cache/cancelctl wrap --list && $CANCELCTL wrap claude && "
	       "~/cache/cancelctl unwrap claude && cmp .mcp.json before",
	    0, "one: unwrapped");
}

/* What a person has put there is told too, and wrap does not touch it. */
TEST(a_canceld_that_is_gone_is_told)
{
	expect(
	    "echo '{\"mcpServers\":{\"a\":{\"command\":\"/none/canceld\",\"args\":[\"x\"]},\"b\":{\"command\":"
	    "\"canceld\",\"args\":[\"--wrapped\",\"--\",\"x\"]}}}' >.mcp.json; $CANCELCTL wrap --list",
	    0, "note: its program is gone: /none/canceld\n");
	expect("$CANCELCTL wrap --list | grep -c note", 0, "1\n");
	expect(
	    "sed -i 's|/none/canceld|/none/npx|; s|\"x\"|\"canceld\",\"x\"|' .mcp.json; $CANCELCTL wrap --list",
	    0, "note: its program is gone: /none/npx\n");
}

/* canceld has nothing to do with its mark. */
TEST(the_mark_is_ignored)
{
	struct run *run = run_options("--wrapped --wrapped=as", "sh:exit 3");

	run_expect_exit(run, 3);
	run_end(run);
}
