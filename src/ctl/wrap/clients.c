#include "ctl/clients.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "shell/words.h"

enum { MINUTE = 60 * 1000 };

/* Directories of users of Visual Studio Code and of editors made from it. */
static const char *const users[] = { "^/Code/User", "^/Code - Insiders/User", "^/VSCodium/User", "^/Cursor/User",
	"^/Windsurf/User", "~/Library/Application Support/Code/User", "~/Library/Application Support/Cursor/User" };

/* THE TABLE of the clients. Facts: vendors' documentation and sources, November 2026. */
const struct client clients[] = {
	{ "claude-desktop", "Claude Desktop",
	    { "^/Claude/claude_desktop_config.json",
		"~/Library/Application Support/Claude/claude_desktop_config.json" },
	    .servers = { "mcpServers" } },
	{ "claude-code", "Claude Code", { "$CLAUDE_CONFIG_DIR/.claude.json", "~/.claude.json", "./.mcp.json" },
	    .servers = { "mcpServers", "projects/*/mcpServers" }, .alias = "claude", .timeouts = { "timeout" },
	    .unit = 1, .least = 1000, .in_use = "claude", .in_use_file = "*.claude.json" },
	{ "cursor", "Cursor", { "~/.cursor/mcp.json", "./.cursor/mcp.json" }, .servers = { "mcpServers" } },
	{ "vscode", "Visual Studio Code", { "%/mcp.json", "%/profiles/*/mcp.json", "./.vscode/mcp.json" },
	    .servers = { "servers" }, .alias = "code" },
	{ "copilot", "Copilot CLI", { "~/.copilot/mcp-config.json" }, .servers = { "mcpServers" },
	    .timeouts = { "timeout" }, .unit = 1 },
	{ "windsurf", "Windsurf", { "~/.codeium/windsurf/mcp_config.json", "^/devin/mcp_config.json" },
	    .servers = { "mcpServers" } },
	{ "zed", "Zed", { "^/zed/settings.json", "./.zed/settings.json" },
	    .servers = { "context_servers", "agent_servers" }, .timeouts = { "timeout" },
	    .everywhere = "context_server_timeout", .unit = 1000, .built_in = MINUTE },
	{ "gemini", "Gemini CLI", { "~/.gemini/settings.json", "./.gemini/settings.json" }, .servers = { "mcpServers" },
	    .timeouts = { "timeout" }, .unit = 1 },
	{ "qwen", "Qwen Code", { "~/.qwen/settings.json", "./.qwen/settings.json" }, .servers = { "mcpServers" },
	    .timeouts = { "timeout" }, .unit = 1 },
	{ "codex", "Codex CLI", { "$CODEX_HOME/config.toml", "~/.codex/config.toml", "./.codex/config.toml" },
	    .servers = { "mcp_servers" }, .syntax = CLIENT_TOML, .timeouts = { "tool_timeout_sec" }, .unit = 1000,
	    .built_in = MINUTE },
	{ "opencode", "opencode",
	    { "^/opencode/opencode.json", "^/opencode/opencode.jsonc", "./opencode.json", "./opencode.jsonc" },
	    .servers = { "mcp", "mcp/servers" }, .timeouts = { "timeout/request", "timeout" }, .unit = 1 },
	{ "cline", "Cline", { "%/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json" },
	    .servers = { "mcpServers" }, .timeouts = { "timeout" }, .unit = 1000 },
	{ "roo", "Roo Code",
	    { "%/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", "./.roo/mcp.json" },
	    .servers = { "mcpServers" }, .timeouts = { "timeout" }, .unit = 1000 },
	{ "lm-studio", "LM Studio", { "~/.lmstudio/mcp.json" }, .servers = { "mcpServers" }, .alias = "lmstudio" },
	{ "goose", "goose", { "^/goose/config.yaml" }, .syntax = CLIENT_YAML },
	{ 0 },
};

/* Files that no row has. */
static const struct client any_json = { "file", "file", { NULL },
	.servers = { "mcpServers", "servers", "context_servers", "agent_servers", "mcp", "mcp/servers",
	    "projects/*/mcpServers" } };
static const struct client any_toml = { "file", "file", { NULL }, .servers = { "mcp_servers", "mcpServers" },
	.syntax = CLIENT_TOML };
static const struct client any_yaml = { "file", "file", { NULL }, .syntax = CLIENT_YAML };

const struct client *
client_named(const char *id)
{
	for (const struct client *client = clients; client->id != NULL; client++)
		if (strcmp(client->id, id) == 0 || (client->alias != NULL && strcmp(client->alias, id) == 0))
			return client;
	return NULL;
}

const char *
client_home(void)
{
	const char *home = home_directory();
	struct stat status;

	if (home == NULL || stat(home, &status) == -1 || status.st_uid != geteuid())
		home = home_of_account();
	return home != NULL ? home : "";
}

/* Bytes that mean themselves in a pattern. */
static void
append_quoted(struct buf *pattern, const char *text)
{
	for (; *text != '\0'; text++) {
		if (strchr("*?[]\\", *text) != NULL)
			buf_append(pattern, SPAN("\\"));
		buf_append(pattern, (struct span){ text, 1 });
	}
}

/* Where the first part of a file of the table leads, and *below that; NULL: nowhere here. */
static const char *
base_of(const char *file, struct span *below)
{
	const char *configurations = getenv("XDG_CONFIG_HOME");
	char name[64];

	if (file[0] == '.')
		return ".";
	if (file[0] == '$') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(file, "/") - 1, file + 1);
		return getenv(name);
	}
	if (file[0] == '^' && configurations != NULL && configurations[0] == '/')
		return configurations;
	*below = file[0] == '^' ? SPAN("/.config") : SPAN_NONE;
	return client_home();
}

static void
add_file(struct client_files *files, const struct client *client, const char *path, bool project)
{
	char *copy;

	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->list[i].path, path) == 0)
			return;
	copy = mem_new(strlen(path) + 1);
	memcpy(copy, path, strlen(path) + 1);
	files->list = mem_resize(files->list, files->count + 1, sizeof(*files->list));
	files->list[files->count++] = (struct client_file){ client, copy, project };
}

static void
find_file(struct client_files *files, const struct client *client, const char *file)
{
	struct span below = SPAN_NONE;
	const char *base = base_of(file, &below);
	struct buf pattern;
	char whole[256];
	glob_t found;

	for (size_t i = 0; file[0] == '%' && i < sizeof(users) / sizeof(users[0]); i++) {
		snprintf(whole, sizeof(whole), "%s%s", users[i], file + 1);
		find_file(files, client, whole);
	}
	if (file[0] == '%' || base == NULL || base[0] == '\0')
		return;
	buf_init(&pattern);
	append_quoted(&pattern, base);
	buf_append(&pattern, below);
	buf_append(&pattern, span_of(file + strcspn(file, "/")));
	buf_append(&pattern, (struct span){ "", 1 });
	if (glob(pattern.data, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_file(files, client, found.gl_pathv[i], file[0] == '.');
		globfree(&found);
	}
	buf_free(&pattern);
}

void
clients_find(struct client_files *files, const struct client *client)
{
	for (const struct client *row = clients; row->id != NULL; row++)
		for (size_t i = 0; (client == NULL || client == row) && i < CLIENT_FILES && row->files[i] != NULL; i++)
			find_file(files, row, row->files[i]);
}

void
client_files_free(struct client_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->list[i].path);
	free(files->list);
	*files = (struct client_files){ 0 };
}

static bool
ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static bool
is_same_file(const char *a, const char *b)
{
	struct stat first, second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	    first.st_ino == second.st_ino;
}

void
clients_add_named(struct client_files *files, const char *path)
{
	const struct client *client = NULL, *row;
	struct client_files found = { 0 };
	bool project = false;

	clients_find(&found, NULL);
	for (size_t i = 0; i < found.count; i++) {
		const struct client_file *file = &found.list[i];

		if (client == NULL && is_same_file(file->path, path))
			client = file->client;
		/* Also without "./". */
		project |= file->project && (strcmp(file->path, path) == 0 || strcmp(file->path + 2, path) == 0);
	}
	client_files_free(&found);
	/* A file of another project. */
	for (row = clients; row->id != NULL && client == NULL; row++)
		for (size_t i = 0; i < CLIENT_FILES && row->files[i] != NULL; i++)
			if (row->files[i][0] == '.' && ends_with(path, row->files[i] + 1))
				client = row;
	if (client == NULL && (ends_with(path, ".yaml") || ends_with(path, ".yml")))
		client = &any_yaml;
	else if (client == NULL)
		client = ends_with(path, ".toml") ? &any_toml : &any_json;
	add_file(files, client, path, project);
}

int
client_read(const struct client *client, struct doc *doc, struct span text)
{
	if (client->syntax != CLIENT_YAML)
		return doc_read(doc, text, client->syntax == CLIENT_TOML ? DOC_TOML : DOC_JSONC);
	*doc = (struct doc){ .fault = "YAML is not edited" };
	return -1;
}

/* "servers" in "mcp" is a server of this name for opencode's first version, and has all servers for its second one. */
static bool
is_group(const struct doc *doc, const struct doc_node *node)
{
	return node->kind == DOC_OBJECT && span_equal(doc_name(doc, node), SPAN("servers")) &&
	    doc_member(doc, node, SPAN("command")) == NULL && doc_member(doc, node, SPAN("url")) == NULL;
}

/* path: the rest of the whole one, from node on. */
static void
add_servers(const struct doc *doc, struct doc_node *node, const char *path, const char *whole,
    struct client_servers *servers)
{
	size_t len = strcspn(path, "/");
	const char *rest = path + len + (path[len] == '/');

	if (node == NULL || node->kind != DOC_OBJECT)
		return;
	if (len > 0 && path[0] != '*') {
		add_servers(doc, doc_member(doc, node, (struct span){ path, len }), rest, whole, servers);
		return;
	}
	if (len == 0 && strcmp(whole, "mcp/servers") == 0 && !is_group(doc, node))
		return;
	for (node = node->first; node != NULL; node = node->next) {
		if (len > 0) {
			add_servers(doc, node, rest, whole, servers);
		} else if (strcmp(whole, "mcp") != 0 || !is_group(doc, node)) {
			servers->list = mem_resize(servers->list, servers->count + 1, sizeof(struct doc_node *));
			servers->list[servers->count++] = node;
		}
	}
}

void
client_servers(const struct client *client, const struct doc *doc, struct client_servers *servers)
{
	for (size_t i = 0; i < CLIENT_PATHS && client->servers[i] != NULL; i++)
		add_servers(doc, doc->root, client->servers[i], client->servers[i], servers);
}

/* The number at a path, in ms; MSEC_NEVER: there is none that counts. */
static msec_t
read_limit(const struct client *client, const struct doc *doc, const struct doc_node *node)
{
	char digits[32], *end;
	double number;

	if (node == NULL || node->kind != DOC_OTHER)
		return MSEC_NEVER;
	snprintf(digits, sizeof(digits), "%.*s", (int)(node->end - node->start), doc->text.ptr + node->start);
	number = strtod(digits, &end) * (double)client->unit;
	return *end == '\0' && number > 0 && number >= (double)client->least && number < 1e15 ? (msec_t)number :
												MSEC_NEVER;
}

msec_t
client_timeout(const struct client *client, const struct doc *doc, const struct doc_node *server)
{
	msec_t limit = MSEC_NEVER;

	if (client->unit == 0 || span_equal(doc_name(doc, server->parent), SPAN("agent_servers")))
		return MSEC_NEVER;
	for (size_t i = 0; i < CLIENT_TIMEOUTS && client->timeouts[i] != NULL && limit == MSEC_NEVER; i++)
		limit = read_limit(client, doc, doc_at(doc, server, client->timeouts[i]));
	if (limit == MSEC_NEVER && client->everywhere != NULL)
		limit = read_limit(client, doc, doc_at(doc, doc->root, client->everywhere));
	return limit == MSEC_NEVER && client->built_in > 0 ? client->built_in : limit;
}
