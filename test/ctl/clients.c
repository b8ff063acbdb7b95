#include "ctl/clients.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"

static char home[64]; /* with characters that glob(3) knows */

/* A command of the shell with a path in it. */
static void
run_shell(const char *before, const char *path, const char *after)
{
	char command[512];

	snprintf(command, sizeof(command), "%s'%s'%s", before, path, after);
	ck_assert_int_eq(system(command), 0);
}

static void
set_up(void)
{
	snprintf(home, sizeof(home), "%.40s/[c]l*ients-XXXXXX", getenv("TMPDIR"));
	ck_assert_ptr_nonnull(mkdtemp(home));
	setenv("HOME", home, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("CODEX_HOME");
	unsetenv("CLAUDE_CONFIG_DIR");
	ck_assert_int_eq(chdir(home), 0);
	ck_assert_int_eq(mkdir("project", 0777), 0);
	ck_assert_int_eq(chdir("project"), 0);
}

static void
tear_down(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(folder_remove(home), 0);
}

static const struct {
	const char *file, *client;
	bool project;
} places[] = {
	{ "../.config/Claude/claude_desktop_config.json", "claude-desktop", false },
	{ "../Library/Application Support/Claude/claude_desktop_config.json", "claude-desktop",
	    false },
	{ "../.claude.json", "claude-code", false },
	{ "./.mcp.json", "claude-code", true },
	{ "../.cursor/mcp.json", "cursor", false },
	{ "./.cursor/mcp.json", "cursor", true },
	{ "../.config/Code/User/mcp.json", "vscode", false },
	{ "../.config/Code - Insiders/User/profiles/-1a2b/mcp.json", "vscode", false },
	{ "./.vscode/mcp.json", "vscode", true },
	{ "../.copilot/mcp-config.json", "copilot", false },
	{ "../.codeium/windsurf/mcp_config.json", "windsurf", false },
	{ "../.config/zed/settings.json", "zed", false },
	{ "./.zed/settings.json", "zed", true },
	{ "../.gemini/settings.json", "gemini", false },
	{ "../.qwen/settings.json", "qwen", false },
	{ "./.qwen/settings.json", "qwen", true },
	{ "../.codex/config.toml", "codex", false },
	{ "./.codex/config.toml", "codex", true },
	{ "../.config/opencode/opencode.json", "opencode", false },
	{ "./opencode.jsonc", "opencode", true },
	{ "../.config/VSCodium/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
	    "cline", false },
	{ "../.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
	    "roo", false },
	{ "./.roo/mcp.json", "roo", true },
	{ "../.lmstudio/mcp.json", "lm-studio", false },
	{ "../.config/goose/config.yaml", "goose", false },
	{ "./.claude-plugin/plugin.json", "claude-plugin", true },
	{ "./.lsp.json", "claude-plugin", true },
	{ "./a b.code-workspace", "vscode", true },
	{ "../.mcp.json", "visual-studio", false },
	{ "./.gemini/extensions/weather/gemini-extension.json", "gemini", true },
	{ "../.gemini/extensions/weather/gemini-extension.json", "gemini", false },
	{ "../.gemini/antigravity/mcp_config.json", "antigravity", false },
	{ "../.config/crush/crush.json", "crush", false },
	{ "./.crush.json", "crush", true },
	{ "../.kiro/settings/mcp.json", "kiro", false },
	{ "./.kiro/settings/mcp.json", "kiro", true },
	{ "../.aws/amazonq/cli-agents/builder.json", "amazon-q", false },
	{ "./.amazonq/default.json", "amazon-q", true },
	{ "./.junie/mcp/mcp.json", "junie", true },
	{ "../.jetbrains/acp.json", "jetbrains", false },
	{ "./.ai/mcp/mcp.json", "jetbrains", true },
	{ "../.config/Code/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json",
	    "kilo", false },
	{ "./.kilocode/mcp.json", "kilo", true },
	{ "./.kilo/kilo.jsonc", "kilo", true },
	{ "../.config/Trae/User/mcp.json", "trae", false },
	{ "../Library/Application Support/Trae/User/mcp.json", "trae", false },
	{ "./.trae/mcp.json", "trae", true },
	{ "./.factory/mcp.json", "factory", true },
	{ "../.config/amp/settings.json", "amp", false },
	{ "./.amp/settings.jsonc", "amp", true },
	{ "../.augment/settings.json", "augment", false },
	{ "./.warp/.mcp.json", "warp", true },
	{ "../.config/helix/languages.toml", "helix", false },
	{ "./.helix/languages.toml", "helix", true },
	{ "./.continue/mcpServers/one.yaml", "continue", true },
};

/* The client that a file is said to belong to. */
static const struct client *
client_of_file(const char *path)
{
	struct client_files files = { 0 };
	const struct client *client;

	clients_add_named(&files, path);
	ck_assert_uint_eq(files.count, 1);
	client = files.list[0].client;
	client_files_free(&files);
	return client;
}

SUITE("clients", .alone = true, .before = set_up, .after = tear_down);

TESTS(each_file_is_found, 0, COUNT(places))
{
	struct client_files files = { 0 };

	ck_assert_int_eq(folder_put(places[_i].file, "{}\n"), 0);
	clients_find(&files, NULL);
	ck_assert_uint_eq(files.count, 1);
	ck_assert_str_eq(files.list[0].client->id, places[_i].client);
	ck_assert_int_eq(files.list[0].project, places[_i].project);
	ck_assert_int_eq(access(files.list[0].path, R_OK), 0);
	ck_assert_ptr_eq(client_of_file(places[_i].file), client_named(places[_i].client));
	client_files_free(&files);
	clients_find(&files, client_named("cursor"));
	ck_assert_uint_eq(files.count, strcmp(places[_i].client, "cursor") == 0);
	client_files_free(&files);
}

TEST(variables_move_files)
{
	struct client_files files = { 0 };
	char path[128];

	run_shell("mkdir -p ", home, "/x/zed");
	run_shell("echo '{}' >", home, "/x/zed/settings.json");
	run_shell(": >", home, "/x/config.toml");
	clients_find(&files, NULL);
	ck_assert_uint_eq(files.count, 0);
	snprintf(path, sizeof(path), "%s/x", home);
	setenv("XDG_CONFIG_HOME", path, 1);
	setenv("CODEX_HOME", path, 1);
	clients_find(&files, NULL);
	ck_assert_uint_eq(files.count, 2);
	client_files_free(&files);
}

/* In the home directory, through another name of a directory, and through a link in a project. */
TEST(a_file_is_found_once_as_the_users)
{
	struct client_files files = { 0 };

	run_shell("mkdir ", home, "/.cursor");
	run_shell("echo '{}' >", home, "/.cursor/mcp.json; ln -s ../.cursor/mcp.json .mcp.json");
	run_shell("ln -s . ", home, "/same; mkdir ../.codex; : >../.codex/config.toml");
	setenv("CODEX_HOME", "../same/.codex/", 1);
	for (int i = 0; i < 2; i++) {
		clients_find(&files, NULL);
		ck_assert_uint_eq(files.count, 2);
		ck_assert_str_eq(files.list[0].client->id, "cursor");
		ck_assert(!files.list[0].project && !files.list[1].project);
		client_files_free(&files);
		ck_assert_int_eq(chdir(home), 0);
	}
}

TEST(unknown_files_are_known_by_their_ends)
{
	ck_assert_str_eq(client_of_file("/some/where/.vscode/mcp.json")->id, "vscode");
	ck_assert_int_eq(client_of_file("x.json")->grammar, DOC_JSONC);
	ck_assert_int_eq(client_of_file("x.toml")->grammar, DOC_TOML);
	ck_assert_int_eq(client_of_file("x.yml")->grammar, DOC_YAML);
	ck_assert_ptr_eq(client_named("claude"), client_named("claude-code"));
	ck_assert_ptr_null(client_named("clau"));
	ck_assert_str_eq(client_of_file("/some/where/.gemini/extensions/x/gemini-extension.json")
			     ->id,
	    "gemini");
}

TEST(home_is_that_of_the_user_if_the_variable_is_none)
{
	ck_assert_str_eq(client_home(), home);
	setenv("HOME", "relative", 1);
	ck_assert_str_ne(client_home(), "relative");
	unsetenv("HOME");
	ck_assert_int_eq(client_home()[0], '/');
	if (geteuid() == 0) {
		setenv("HOME", home, 1);
		ck_assert_int_eq(chown(home, 12, (gid_t)-1), 0);
		ck_assert_str_ne(client_home(), home);
	}
}

static const struct {
	const char *client, *text;
	msec_t limit;
} limits[] = {
	{ "claude-code", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"timeout\":30000}}}", 30000 },
	{ "claude-code", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"timeout\":999}}}",
	    MSEC_NEVER },
	{ "claude-code", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"timeout\":\"30000\"}}}",
	    MSEC_NEVER },
	{ "gemini", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"timeout\":1500.5}}}", 1500 },
	{ "gemini", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"timeout\":-1}}}", 600000 },
	{ "gemini", "{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}", 600000 },
	{ "qwen", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"timeout\":7}}}", 7 },
	{ "cline", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"timeout\":60}}}", 60000 },
	{ "codex", "[mcp_servers.a]\ncommand='x'\ntool_timeout_sec=60.5", 60500 },
	{ "codex", "[mcp_servers.a]\ncommand='x'", 60000 },
	{ "copilot", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"timeout\":7}}}", 7 },
	{ "opencode", "{\"mcp\":{\"a\":{\"command\":[\"x\"],\"timeout\":5000}}}", 5000 },
	{ "opencode",
	    "{\"mcp\":{\"servers\":{\"a\":{\"command\":[\"x\"],\"timeout\":{\"request\":5000}}}}}",
	    5000 },
	{ "zed", "{\"context_servers\":{\"a\":{\"command\":\"x\"}}}", 60000 },
	{ "zed", "{\"context_servers\":{\"a\":{\"command\":\"x\",\"timeout\":90}}}", 90000 },
	{ "zed", "{\"context_server_timeout\":120,\"context_servers\":{\"a\":{\"command\":\"x\"}}}",
	    120000 },
	{ "zed", "{\"lsp\":{\"a\":{\"command\":\"x\",\"timeout\":90}}}", MSEC_NEVER },
	{ "zed", "{\"agent_servers\":{\"a\":{\"command\":\"x\"}}}", MSEC_NEVER },
	{ "cursor", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"timeout\":60}}}", MSEC_NEVER },
};

SUITE("clients", .alone = true);

TESTS(limits_of_clients_are_known, 0, COUNT(limits))
{
	const struct client *client = client_named(limits[_i].client);
	struct client_servers servers;

	ck_assert_int_eq(client_read(client, span_of(limits[_i].text), &servers), 0);
	ck_assert_uint_eq(servers.count, 1);
	ck_assert_int_eq(client_timeout(client, &servers.doc, servers.list[0]), limits[_i].limit);
	client_servers_free(&servers);
}
