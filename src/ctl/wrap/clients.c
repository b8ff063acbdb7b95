#include "ctl/clients.h"

#include <fnmatch.h>
#include <glob.h>

#include "core/compose.h"
#include "ctl/ctl.h"
#include "shell/system.h"
#include "shell/words.h"

enum {
	MINUTE = 60 * 1000,
	WORDS = 4096,          /* bytes of a command that are read */
	VARIABLES = 256 << 10, /* bytes of an environment that are read */
};

/* What the first letter of a file of the table stands for. */
static const struct {
	char letter;
	const char *places;
} beginnings[] = {
	{ '@', "^:~/Library/Application Support" },
	{ '%', "@/Code/User:@/Code - Insiders/User:@/VSCodium/User:@/Cursor/User:@/Windsurf/User" },
};

/* THE TABLE of the clients. Facts: vendors' documentation and sources, November 2026. */
const struct client clients[] = {
	{ "claude-desktop", "Claude Desktop", .files = "@/Claude/claude_desktop_config.json" },
	{ "claude-code", "Claude Code",
	    "$CLAUDE_CONFIG_DIR/.claude.json:~/.claude.json:./.mcp.json",
	    "mcpServers:projects/*/mcpServers:servers", .alias = "claude", .unit = 1, .least = 1000,
	    .in_use = "claude", .in_use_file = "*.claude.json" },
	/* code.claude.com/docs/en/plugins-reference */
	{ "claude-plugin", "Claude Code plugin", "./.claude-plugin/plugin.json:./.lsp.json",
	    .languages = "lspServers:/" },
	{ "cursor", "Cursor", .files = "~/.cursor/mcp.json:./.cursor/mcp.json" },
	/* Of workspaces: github.com/microsoft/vscode/issues/247277 */
	{ "vscode", "Visual Studio Code",
	    "%/mcp.json:%/profiles/*/mcp.json:./.vscode/mcp.json:./*.code-workspace",
	    "servers:settings/mcp/servers", .alias = "code" },
	/*
	 * learn.microsoft.com/visualstudio/ide/mcp-servers; a .mcp.json of the project is the row
	 * of Claude Code
	 */
	{ "visual-studio", "Visual Studio", "~/.mcp.json:./.vs/mcp.json",
	    .servers = "mcpServers:servers" },
	{ "copilot", "Copilot CLI", .files = "~/.copilot/mcp-config.json", .unit = 1 },
	{ "windsurf", "Windsurf",
	    .files = "~/.codeium/windsurf/mcp_config.json:^/devin/mcp_config.json" },
	/* Language servers: zed.dev/docs/configuring-languages */
	{ "zed", "Zed", "^/zed/settings.json:./.zed/settings.json", "context_servers:agent_servers",
	    "lsp", .everywhere = "context_server_timeout", .unit = 1000, .built_in = MINUTE },
	/* Extensions: github.com/google-gemini/gemini-cli, docs/extensions */
	{ "gemini", "Gemini CLI",
	    .files =
		"~/.gemini/settings.json:./.gemini/settings.json:~/.gemini/extensions/*/gemini-extension.json:"
		"./.gemini/extensions/*/gemini-extension.json",
	    .unit = 1, .built_in = 10 * MINUTE },
	{ "qwen", "Qwen Code", .files = "~/.qwen/settings.json:./.qwen/settings.json", .unit = 1,
	    .built_in = 10 * MINUTE },
	/* antigravity.google/docs/mcp, and since its CLI the second file */
	{ "antigravity", "Antigravity",
	    .files = "~/.gemini/antigravity/mcp_config.json:~/.gemini/config/mcp_config.json" },
	{ "codex", "Codex CLI", "$CODEX_HOME/config.toml:~/.codex/config.toml:./.codex/config.toml",
	    "mcp_servers", .grammar = DOC_TOML, .timeouts = "tool_timeout_sec", .unit = 1000,
	    .built_in = MINUTE },
	/* Language servers: opencode.ai/docs/lsp */
	{ "opencode", "opencode",
	    "^/opencode/opencode.json:^/opencode/opencode.jsonc:./opencode.json:./opencode.jsonc",
	    "mcp", "lsp", "timeout/request:timeout", .unit = 1 },
	/* github.com/charmbracelet/crush, internal/config/config.go */
	{ "crush", "Crush", "^/crush/crush.json:./crush.json:./.crush.json", "mcp",
	    .languages = "lsp" },
	/* kiro.dev/docs/mcp/configuration */
	{ "kiro", "Kiro", .files = "~/.kiro/settings/mcp.json:./.kiro/settings/mcp.json" },
	/* docs.aws.amazon.com/amazonq/latest/qdeveloper-ug: qdev-mcp, mcp-ide */
	{ "amazon-q", "Amazon Q Developer",
	    .files =
		"~/.aws/amazonq/mcp.json:~/.aws/amazonq/default.json:~/.aws/amazonq/agents/default.json:"
		"~/.aws/amazonq/cli-agents/*.json:./.amazonq/mcp.json:./.amazonq/default.json:"
		"./.amazonq/cli-agents/*.json" },
	/* junie.jetbrains.com/docs/junie-cli-mcp-configuration.html */
	{ "junie", "Junie", .files = "~/.junie/mcp/mcp.json:./.junie/mcp/mcp.json" },
	/*
	 * docs.openhands.dev/openhands/usage/cli/ide/jetbrains;
	 * jetbrains.com/help/air/mcp-servers.html
	 */
	{ "jetbrains", "JetBrains", "~/.jetbrains/acp.json:./.ai/mcp/mcp.json:./.air/mcp.json",
	    .servers = "mcpServers:agent_servers" },
	{ "cline", "Cline",
	    .files = "%/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
	    .unit = 1000 },
	{ "roo", "Roo Code",
	    .files =
		"%/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json:./.roo/mcp.json",
	    .unit = 1000 },
	/* kilo.ai/docs/automate/mcp: using-in-kilo-code (mcp), using-in-cli (mcpServers) */
	{ "kilo", "Kilo Code",
	    "%/globalStorage/kilocode.kilo-code/settings/mcp_settings.json:./.kilocode/mcp.json:"
	    "~/.kilocode/cli/global/settings/mcp_settings.json:^/kilo/kilo.json:^/kilo/kilo.jsonc:./kilo.json:./kilo.jsonc:"
	    "./.kilo/kilo.json:./.kilo/kilo.jsonc",
	    .servers = "mcpServers:mcp" },
	/* github.com/pathintegral-institute/mcpm.sh/issues/92; volcengine.com/docs/86677/2137601 */
	{ "trae", "Trae", .files = "@/Trae/User/mcp.json:./.trae/mcp.json" },
	/* docs.factory.ai/factory-cli/configuration/mcp */
	{ "factory", "Factory Droid", .files = "~/.factory/mcp.json:./.factory/mcp.json",
	    .alias = "droid" },
	/* ampcode.com/manual */
	{ "amp", "Amp",
	    "^/amp/settings.json:^/amp/settings.jsonc:./.amp/settings.json:./.amp/settings.jsonc",
	    .servers = "amp.mcpServers" },
	/* docs.augmentcode.com/cli/integrations */
	{ "augment", "Augment", .files = "~/.augment/settings.json" },
	/* docs.warp.dev/agents/capabilities/mcp */
	{ "warp", "Warp", .files = "~/.warp/.mcp.json:./.warp/.mcp.json" },
	{ "lm-studio", "LM Studio", .files = "~/.lmstudio/mcp.json", .alias = "lmstudio" },
	/* docs.helix-editor.com/languages.html */
	{ "helix", "Helix", "^/helix/languages.toml:./.helix/languages.toml", "", "language-server",
	    .grammar = DOC_TOML },
	{ "goose", "goose", .files = "^/goose/config.yaml", .grammar = DOC_YAML },
	/* docs.continue.dev/customize/deep-dives/mcp */
	{ "continue", "Continue",
	    .files =
		"~/.continue/config.yaml:./.continue/config.yaml:./.continue/mcpServers/*.yaml",
	    .grammar = DOC_YAML },
	{ 0 },
};

/* Files that no row has, by their ends. */
static const struct client others[] = {
	{ "file", "file", "*.toml", "mcp_servers:mcpServers", "language-server",
	    .grammar = DOC_TOML },
	{ "file", "file", "*.yaml", .grammar = DOC_YAML },
	{ "file", "file", "*.yml", .grammar = DOC_YAML },
	{ "file", "file", "*",
	    "mcpServers:servers:context_servers:agent_servers:mcp:projects/*/mcpServers:amp.mcpServers",
	    .languages = "lsp:lspServers" },
};

/* Takes the next part from a list, which may be NULL. Empty: there is none. */
static struct span
next_part(const char **list)
{
	struct span part = { *list, *list != NULL ? strcspn(*list, ":") : 0 };

	if (part.len > 0)
		*list += part.len + (part.ptr[part.len] == ':');
	return part;
}

const struct client *
client_named(const char *id)
{
	for (const struct client *client = clients; client->id != NULL; client++)
		if (text_is(client->id, id) || span_is(span_of(id), client->alias))
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

/* Where the beginning of a file of the table, up to its first slash, leads; NULL: nowhere here. */
static const char *
base_of(struct span beginning)
{
	const char *configurations = getenv("XDG_CONFIG_HOME");
	static char below[PATH_MAX];

	switch (beginning.ptr[0]) {
	case '.':
		return ".";
	case '$':
		print_into(below, "%.*s", (int)beginning.len - 1, beginning.ptr + 1);
		return getenv(below);
	case '^':
		if (configurations != NULL && configurations[0] == '/')
			return configurations;
		print_into(below, "%s/.config", client_home());
		return below;
	default:
		return client_home();
	}
}

static bool
is_same_file(const char *a, const char *b)
{
	struct stat first, second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	    first.st_ino == second.st_ino;
}

/* Whether the current directory can be a project: the home directory is none. */
static bool
is_project_here(void)
{
	return !is_same_file(".", client_home());
}

/* Where servers are in a file of the client's. */
static const char *
paths_of(const struct client *client)
{
	return client->servers != NULL ? client->servers : "mcpServers";
}

/* Whether both clients look in the same place for servers first. */
static bool
are_alike(const struct client *a, const struct client *b)
{
	return span_equal(span_until(span_of(paths_of(a)), ":"),
	    span_until(span_of(paths_of(b)), ":"));
}

/*
 * Adds a file. A file has one entry in the list, however many names it has and however many clients
 * read the same servers in it. A file of the user's is never listed as the project's, even if the
 * project has a link to it.
 */
static void
add_file(struct client_files *files, const struct client *client, const char *path, bool project)
{
	struct client_file *file = files->list;
	size_t left = files->count;

	for (; left > 0 && !(is_same_file(file->path, path) && are_alike(file->client, client));
	     left--)
		file++;
	if (left > 0) {
		if (project || !file->project)
			return;
		free(file->path);
	} else {
		mem_room(files->list, files->count + 1);
		file = &files->list[files->count++];
		*file = (struct client_file){ .path = NULL };
	}
	file->client = client;
	file->path = doc_copy(span_of(path));
	file->project = project;
}

/* Adds the files that exist for one pattern of the table. */
static void
find_file(struct client_files *files, const struct client *client, struct span file)
{
	size_t len = strcspn(file.ptr, "/");
	const char *places = NULL, *base;
	BUF_AUTO pattern = { 0 };
	struct span place;
	glob_t found;

	each_of (beginning, beginnings)
		if (file.ptr[0] == beginning->letter)
			places = beginning->places;
	if (places != NULL) {
		while ((place = next_part(&places)).len > 0) {
			buf_set(&pattern, place);
			compose_text(&pattern, "%b", span_from(file, 1));
			find_file(files, client, buf_span(&pattern));
		}
	} else if ((base = base_of(span_head(file, len))) != NULL && base[0] != '\0') {
		for (; *base != '\0'; base++)
			compose_text(&pattern, strchr("*?[]\\", *base) != NULL ? "\\%b" : "%b",
			    span_at(base, 1));
		compose_text(&pattern, "%b%b", span_from(file, len), span_at("", 1));
		if (glob(pattern.data, 0, NULL, &found) == 0) {
			for (size_t i = 0; i < found.gl_pathc; i++)
				add_file(files, client, found.gl_pathv[i],
				    file.ptr[0] == '.' && is_project_here());
			globfree(&found);
		}
	}
}

void
clients_find(struct client_files *files, const struct client *client)
{
	for (const struct client *row = clients; row->id != NULL; row++) {
		const char *list = client == NULL || client == row ? row->files : NULL;
		struct span file;

		while ((file = next_part(&list)).len > 0)
			find_file(files, row, file);
	}
}

void
client_files_free(struct client_files *files)
{
	each_listed (file, files) {
		free(file->path);
		client_servers_free(&file->servers);
	}
	free(files->list);
	*files = (struct client_files){ 0 };
}

static bool
is_link(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/*
 * The client whose project files are called like this one; NULL: none. *project is set if it is the
 * file of the project here, or a link to that.
 */
static const struct client *
client_of_project(const char *path, bool *project)
{
	const char *within = path + (text_begins(path, "./") ? 2 : 0);
	const struct client *client = NULL;
	char name[PATH_MAX], anywhere[PATH_MAX];
	struct span file;
	bool named;

	for (const struct client *row = clients; row->id != NULL; row++)
		for (const char *list = row->files; (file = next_part(&list)).len > 0;) {
			print_into(name, "%.*s", (int)file.len, file.ptr);
			print_into(anywhere, "*%s", name + 1);
			named = fnmatch(name + 2, within, FNM_PATHNAME) == 0;
			if (name[0] != '.' || (!named && fnmatch(anywhere, path, 0) != 0))
				continue;
			client = row;
			*project |= is_project_here() &&
			    (named || (is_link(path) && is_same_file(path, name)));
		}
	return client;
}

void
clients_add_named(struct client_files *files, const char *path)
{
	const struct client *row = others, *client;
	struct client_files found = { 0 };
	bool project = false;

	while (fnmatch(row->files, path, 0) != 0)
		row++;
	client = client_of_project(path, &project);
	clients_find(&found, NULL);
	for (size_t i = found.count; i > 0; i--)
		if (is_same_file(found.list[i - 1].path, path)) {
			client = found.list[i - 1].client;
			project |= found.list[i - 1].project;
		}
	client_files_free(&found);
	add_file(files, client != NULL ? client : row, path, project);
}

int
clients_look_up(struct client_files *files, const char *where)
{
	const struct client *client = where != NULL ? client_named(where) : NULL;
	struct nearest nearest = { .typed = span_of(where) };

	if (where == NULL || client != NULL)
		clients_find(files, client);
	else if (strchr(where, '/') != NULL || access(where, F_OK) == 0)
		clients_add_named(files, where);
	if (files->count > 0)
		return CTL_YES;
	if (where == NULL)
		return ctl_no("no configuration of a client is here; see cancelctl wrap --help");
	if (client != NULL)
		return ctl_no("%s has no file here; see cancelctl wrap --list", client->name);
	for (client = clients; client->id != NULL; client++)
		nearest_offer(&nearest, client->id);
	return ctl_no("'%.200s' is no client and no file%s; see cancelctl wrap --list", where,
	    nearest.told);
}

bool
client_is_language(const struct doc_node *server)
{
	const struct doc_node *table = server->parent;
	struct span key = table->key.name;

	return table->parent == NULL || span_is_any(key, "lsp lspServers language-server");
}

/*
 * Whether the node is opencode's "servers" in "mcp": since its second version all servers are in
 * there; in the first one it may be a server that is called so.
 */
static bool
is_group(const struct doc_node *node)
{
	return node->kind == DOC_OBJECT && span_is(node->key.name, "servers") &&
	    span_is(node->parent->key.name, "mcp") && doc_at(node, "command") == NULL &&
	    doc_at(node, "url") == NULL;
}

/* An entry without a command has settings for a language server of the client's own. */
static bool
has_command(const struct doc_node *node)
{
	const struct doc_node *command = doc_at(node, "command");

	if (command == NULL)
		command = doc_at(node, "binary/path");
	return command != NULL && (command->kind == DOC_STRING || command->kind == DOC_ARRAY);
}

/*
 * If the whole file is the table of language servers ("/"), only an entry with extensionToLanguage
 * is one: plugin.json has commands of other kinds too.
 */
static bool
is_language_server(const struct doc_node *node)
{
	return has_command(node) &&
	    (node->parent->parent != NULL || doc_at(node, "extensionToLanguage") != NULL);
}

/* Adds the servers at a path of keys below the node. */
static void
add_servers(struct client_servers *servers, struct doc_node *node, struct span path)
{
	struct span key = span_until(path, "/"),
		    rest = span_from(path, key.len + (key.len < path.len));

	if (node == NULL || node->kind != DOC_OBJECT)
		return;
	if (key.len > 0 && key.ptr[0] != '*') {
		add_servers(servers, doc_member(node, key), rest);
		return;
	}
	for (node = node->first; node != NULL; node = node->next) {
		if (key.len > 0 || is_group(node)) {
			add_servers(servers, node, rest);
		} else if (!client_is_language(node) || is_language_server(node)) {
			mem_room(servers->list, servers->count + 1);
			servers->list[servers->count++] = node;
		}
	}
}

int
client_read(const struct client *client, struct span text, struct client_servers *servers)
{
	const char *paths = paths_of(client);
	struct span path;

	*servers = (struct client_servers){ 0 };
	if (doc_read(&servers->doc, text, client->grammar) == -1)
		return -1;
	while ((path = next_part(&paths)).len > 0)
		add_servers(servers, servers->doc.root, path);
	for (paths = client->languages; (path = next_part(&paths)).len > 0;)
		add_servers(servers, servers->doc.root, path);
	return 0;
}

void
client_servers_free(struct client_servers *servers)
{
	doc_free(&servers->doc);
	free(servers->list);
	*servers = (struct client_servers){ 0 };
}

struct span
client_group(const struct doc_node *server)
{
	const struct doc_node *table = server->parent, *outer = table->parent;

	if (outer != NULL && outer->parent != NULL && span_is(outer->parent->key.name, "projects"))
		return outer->key.name;
	if (client_is_language(server))
		return SPAN("lsp");
	return span_is(table->key.name, "agent_servers") ? table->key.name : SPAN_NONE;
}

char *
client_title(const struct doc_node *server)
{
	struct span group = client_group(server);
	struct buf title = { 0 };

	compose_text(&title, group.len > 0 ? "%b:%b" : "%b%b", group, server->key.name);
	buf_append(&title, span_at("", 1));
	return title.data;
}

bool
client_names(const char *word, const struct doc_node *server)
{
	struct span typed = span_of(word), group = client_group(server), name = server->key.name;

	if (span_equal(typed, name))
		return true;
	return group.len > 0 && strncmp(word, group.ptr, group.len) == 0 &&
	    (typed.len == group.len ||
		(word[group.len] == ':' && span_equal(span_from(typed, group.len + 1), name)));
}

/* The limit in ms; MSEC_NEVER: the node has no number, or the client ignores it. */
static msec_t
read_limit(const struct client *client, const struct doc_node *node)
{
	char digits[32], *end;
	double number;

	if (node == NULL || node->kind != DOC_OTHER)
		return MSEC_NEVER;
	print_into(digits, "%.*s", (int)node->text.len, node->text.ptr);
	number = strtod(digits, &end) * (double)client->unit;
	return *end == '\0' && number > 0 && number >= (double)client->least && number < 1e15 ?
	    (msec_t)number :
	    MSEC_NEVER;
}

msec_t
client_timeout(const struct client *client, const struct doc *doc, const struct doc_node *server)
{
	const char *paths = client->timeouts != NULL ? client->timeouts : "timeout";
	msec_t limit = MSEC_NEVER;
	struct span path;

	if (client->unit == 0 || client_is_language(server) ||
	    span_is(server->parent->key.name, "agent_servers"))
		return MSEC_NEVER;
	while (limit == MSEC_NEVER && (path = next_part(&paths)).len > 0)
		limit = read_limit(client, doc_path(server, path));
	if (limit == MSEC_NEVER && client->everywhere != NULL)
		limit = read_limit(client, doc_at(doc->root, client->everywhere));
	return limit == MSEC_NEVER && client->built_in > 0 ? client->built_in : limit;
}

static bool
is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return text_is(slash != NULL ? slash + 1 : path, name);
}

struct wanted {
	const char *name, *home;
};

/* Whether a process is the program itself, or node with its script. */
static bool
has_name(pid_t process, const char *name)
{
	char words[WORDS + 1] = "";

	system_words(process, SYSTEM_ARGUMENTS, words, WORDS);
	return is_named(words, name) ||
	    ((is_named(words, "node") || is_named(words, "bun")) &&
		is_named(words + strlen(words) + 1, name));
}

/* Whether the process's HOME is this directory, under whatever name, or is unknown. */
static bool
has_home(pid_t process, const char *home)
{
	static char variables[VARIABLES + 1];
	const char *variable = variables;

	system_words(process, SYSTEM_ENVIRONMENT, variables, VARIABLES);
	while (*variable != '\0' && !text_begins(variable, "HOME="))
		variable += strlen(variable) + 1;
	variable += *variable != '\0' ? strlen("HOME=") : 0;
	return *variable == '\0' || text_is(variable, home) || is_same_file(variable, home);
}

static bool
is_wanted(pid_t process, const void *context)
{
	const struct wanted *wanted = context;

	return has_name(process, wanted->name) && has_home(process, wanted->home);
}

bool
client_running(const char *name, const char *home)
{
	return system_find(is_wanted, &(struct wanted){ name, home });
}
