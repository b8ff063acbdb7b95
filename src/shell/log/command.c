#include <ctype.h>

#include "core/compose.h"
#include "shell/words.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define NAME LOWER UPPER DIGITS "._+-"

#define BEHIND_PROGRAM " \t\r\n:=?#{\"'" /* where a whole command is one word */

/* characters shown of a long flag, and of a name; keys are longer */
enum { FLAG_MOST = 32, NAME_MOST = 39 };

/*
 * Programs that run others: their one-letter options without a value ('=': KEY=VALUE may stand
 * there too), and those whose value is the next word.
 */
static const struct launcher {
	const char *programs, *bare, *valued;
} launchers[] = {
	{ "nice ionice timeout stdbuf", "", "ceiknos" },
	{ "env sudo", "Hinw=", "CDgpu" },
	{ "nohup setsid exec time java ruby perl php dotnet lua", "Hinw", "uI" },
	{ "npx pnpx bunx npm pnpm yarn bun", "yq", "pC" },
	{ "uvx uv pipx", "mqU", "pw" },
	{ "docker podman nerdctl", "DditT=", "Hacefhlmpuvw" },
	{ "node nodejs tsx ts-node", "", "rC" },
	{ "deno python python3 python3.11 python3.12 python3.13 python3.14 pypy3", "ABEIOPSmqsu",
	    "X" },
	{ "sh bash dash zsh ash ksh fish", "eilux", "oO" },
};

/* Words of launchers, without a value, that stand before the word that is looked for. */
static const char passed[] =
    "-- exec x dlx run run-script tool container compose --yes --quiet --silent --offline --prefer-offline --bun --rm "
    "--init --interactive --tty --read-only --allow-all --allow-env --allow-net --allow-read --no-install -jar";

/* Their options whose value is the next word. */
static const char valued[] =
    "-cp -classpath --package --workspace --prefix --registry --cwd --filter --from --with --with-editable --python "
    "--index-url --directory --project --env --env-file --extra --volume --publish --name --network --net --mount "
    "--workdir --user --entrypoint --platform --pull --label --require --import --loader --config --tsconfig --context "
    "--host --log-level";

/* Names that say less than the folder around them. */
static const char generic[] =
    "index main server cli app run start bin dist build src lib out target release debug __main__ stdio cjs esm . .. /";

static const char extensions[] = "git py js mjs cjs ts mts rb jar dll php sh exe";

/* The last part of a path. */
static struct span
base_of(struct span path)
{
	return span_from(path, span_through(path, '/'));
}

/* NULL: the program runs no other. */
static const struct launcher *
launcher_of(const char *program)
{
	each_of (launcher, launchers)
		if (span_is_any(base_of(span_of(program)), launcher->programs))
			return launcher;
	return NULL;
}

/*
 * Whether the word can be a package, a script or an image. It cannot if its end might be a
 * password's or a query's.
 */
static bool
is_operand(const char *word)
{
	const char *scheme = strstr(word, "://"), *rest = scheme != NULL ? scheme + 3 : word;
	const char *end = rest + strspn(rest, NAME "/@"), *base = base_of(span_of(word)).ptr;

	return word[0] != '-' && base <= end && strspn(base, NAME) <= NAME_MOST &&
	    strchr(":[=<>~!^*;#?", *end) != NULL && strchr(end, '@') == NULL;
}

/* Whether the word is --option=value or KEY=VALUE, so that the next word is not its value. */
static bool
is_assignment(const struct launcher *launcher, const char *word)
{
	size_t key = strspn(word, LOWER UPPER "_");

	key += key > 0 ? strspn(word + key, LOWER UPPER DIGITS "_") : 0;
	return word[0] == '-' ? strchr(word, '=') != NULL :
				key > 0 && word[key] == '=' && strchr(launcher->bare, '=') != NULL;
}

static bool
takes_value(const struct launcher *launcher, const char *word)
{
	return span_is_any(span_of(word), valued) ||
	    (word[0] == '-' && word[1] != '\0' && word[2] == '\0' &&
		strchr(launcher->valued, word[1]) != NULL);
}

/*
 * The index of the word that names the server: its package, its script, or the program (0).
 * Options, verbs, numbers and assignments may stand before what a launcher runs. Behind any other
 * word nothing is named: what follows may be an option's value or a part of a shell's line, and so
 * a secret.
 */
static size_t
find_named(char *const command[])
{
	const struct launcher *launcher = launcher_of(command[0]);
	size_t named = 0;

	for (size_t i = 1; launcher != NULL && command[i] != NULL; i++) {
		const char *word = command[i];
		bool letters = word[0] == '-' && word[1] != '\0';

		if (takes_value(launcher, word)) {
			i += command[i + 1] != NULL;
		} else if (!span_is_any(span_of(word), passed) && !is_assignment(launcher, word) &&
		    word[strspn(word, DIGITS ".smhkgMG")] != '\0' &&
		    !(letters && word[1 + strspn(word + 1, launcher->bare)] == '\0')) {
			if (!is_operand(word))
				break;
			named = i;
			launcher = launcher_of(word);
		}
	}
	return named;
}

/*
 * @scope/name@1.0, name[extra]==1.0, registry/name:tag, git+https://host/name.git: the name. A
 * file's extension is cut off; of /srv/weather/dist/index.js the folder says more than the file.
 */
static struct span
name_operand(const char *word)
{
	struct span path = span_of(word), part, first = SPAN_NONE;
	size_t dot;

	do {
		part = base_of(path);
		path.len = (size_t)(part.ptr - word) - (part.ptr > word);
		part.len = strcspn(part.ptr, "/@:[=<>~!;#?");
		dot = span_through(part, '.');
		if (dot > 1 && span_is_any(span_from(part, dot), extensions))
			part.len = dot - 1;
		first = first.len > 0 ? first : part;
	} while (path.len > 0 && strstr(word, "://") == NULL && span_is_any(part, generic));
	return part.len == 0 || span_is_any(part, generic) ? first : part;
}

void
name_of_command(char *const command[], char name[NAME_SIZE])
{
	size_t named = find_named(command);
	struct span program = span_until(span_of(command[0]), BEHIND_PROGRAM);
	struct span shown = named > 0 ? name_operand(command[named]) : base_of(program);

	snprintf(name, NAME_SIZE, "%.*s", shown.len > 0 ? (int)shown.len : 1,
	    shown.len > 0 ? shown.ptr : "*");
}

/* -y, --, --port, --port=8080: how much of the word is a flag without its value; 0: it is none. */
static size_t
flag_length(const char *word)
{
	size_t len = text_begins(word, "--") ? 2 + strspn(word + 2, LOWER DIGITS "-") : 0;

	if (word[0] == '-' && isalpha((unsigned char)word[1]) && word[2] == '\0')
		return 2;
	return len <= 2 + FLAG_MOST && (word[len] == '\0' || word[len] == '=') ? len : 0;
}

/* @scope/name of @scope/name@1.0, index.js of /srv/name/index.js; empty if the word has no name. */
static struct span
name_in(const char *word)
{
	const char *base = base_of(span_of(word)).ptr;
	bool scoped = word[0] == '@' && word + 1 + strspn(word + 1, NAME) + 1 == base;

	return span_at(scoped ? word : base,
	    (scoped ? (size_t)(base - word) : 0) + strspn(base, NAME));
}

bool
command_is_line(const char *program)
{
	return program[strcspn(program, "/\\ ")] == ' ' ||
	    (strstr(program, " -") != NULL && access(program, X_OK) != 0);
}

/*
 * The first word behind a program that is neither an option, nor an option's value, nor an
 * assignment.
 */
static char *const *
behind_options(char *const *word)
{
	const struct launcher *launcher = launcher_of(*word++);

	while (*word != NULL && (**word == '-' || is_assignment(launcher, *word)))
		word += 1 + (takes_value(launcher, *word) && word[1] != NULL);
	return word;
}

bool
command_runs_container(char *const command[], struct buf *hint)
{
	static const char *const missing[] = { "", "run it with --init; ", "run it with --rm; ",
		"run it with --init and --rm; " };
	char *const *word = command;
	struct span program;
	bool init = false, removed = false;

	while (span_is_any(base_of(span_of(*word)), "env sudo"))
		word = behind_options(word);
	program = base_of(span_of(*word));
	if (!span_is_any(program, "docker podman"))
		return false;
	word = behind_options(word);
	word += span_is(span_of(*word), "container");
	if (!span_is(span_of(*word), "run"))
		return false;
	for (; *word != NULL; word++) {
		init |= span_is_any(span_of(*word), "--init --init=true");
		removed |= span_is_any(span_of(*word), "--rm --rm=true");
	}
	compose_text(hint, "%s%b ps shows it", missing[!init + 2 * !removed], program);
	return true;
}

static bool
is_in_path(const char *program, const char *path)
{
	char name[PATH_MAX];

	for (size_t len; *path != '\0'; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		print_into(name, "%.*s/%s", (int)len, path, program);
		if (access(name, F_OK) == 0)
			return true;
	}
	return false;
}

void
command_explain(struct buf *text, const char *program, int error)
{
	const char *path = strchr(program, '/') == NULL ? getenv("PATH") : NULL;
	struct stat status;

	if (error == EACCES && path == NULL && stat(program, &status) == 0 &&
	    S_ISDIR(status.st_mode))
		error = EISDIR;
	if (error == ENOENT && command_is_line(program))
		compose_text(text, COMMAND_IS_LINE);
	else if (error == ENOENT && path != NULL && !is_in_path(program, path))
		compose_text(text, "it is not in PATH: give the absolute path (PATH is %s)", path);
	else
		compose_text(text, "%s", strerror(error));
}

void
command_append_word(struct buf *text, char *const command[], size_t i)
{
	const char *word = command[i];
	size_t flag = i == 0 ? strcspn(word, BEHIND_PROGRAM) : flag_length(word);
	struct span shown = { word, flag };

	if (flag == 0 && i > 0 && i == find_named(command))
		shown = name_in(word);
	compose_text(text, i > 0 && word[flag] == '=' && flag > 0 ? "%b=*" : "%b", shown);
	compose_text(text, shown.len == 0 || (i == 0 && word[flag] != '\0') ? "*" : "");
}

void
command_append(struct buf *line, char *const command[])
{
	for (size_t i = 0; command[i] != NULL; i++) {
		compose_text(line, i > 0 ? " " : "");
		command_append_word(line, command, i);
	}
}
