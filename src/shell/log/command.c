#include <stdio.h>
#include <string.h>

#include "shell/words.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define NAME LOWER UPPER DIGITS "._+-"

enum { FLAG_MOST = 32 }; /* characters of a long flag that is shown */

/* Programs that run others, with or without a version behind the name: node20, python3.12. */
static const char launchers[] =
    "env nohup setsid stdbuf nice ionice timeout sudo exec time npx pnpx bunx npm pnpm yarn bun uvx pipx uv docker podman "
    "nerdctl node nodejs deno tsx ts-node python pypy java ruby perl php dotnet lua sh bash dash zsh ash ksh fish";

/* Their words before the one that counts. */
static const char verbs[] = "exec x dlx run run-script tool container compose";

/* Their options whose value is the next word. */
static const char valued[] =
    "-o -n -cl -p -k -s -C -w -e -l -v -f -a -r -X -W -I -H -h -cp --package --workspace --prefix --registry --cwd "
    "--filter --from --with --with-editable --with-requirements --python --index-url --index --directory --project --spec "
    "--env --env-file --extra --group --volume --publish --name --network --net --mount --workdir --user --entrypoint "
    "--platform --pull --label --memory --add-host --hostname --cpus --gpus --device --restart --ip --dns --shm-size "
    "--tmpfs --cap-add --cap-drop --security-opt --runtime --ipc --pid --file --context --host --require --import --loader "
    "--eval --conditions --config --import-map --tsconfig -classpath --class-path --module-path --add-modules";

/* What says less than the folder around it. */
static const char generic[] =
    "index main server cli app run start bin dist build src lib out target release debug __main__ stdio cjs esm . ..";

static bool
has_word(const char *list, const char *word, size_t len)
{
	for (; *list != '\0'; list += strspn(list, " ")) {
		size_t end = strcspn(list, " ");

		if (end == len && memcmp(list, word, len) == 0)
			return true;
		list += end;
	}
	return false;
}

/* The last part of a path of len bytes. */
static struct span
base_of(const char *path, size_t len)
{
	size_t start;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (start = len; start > 0 && path[start - 1] != '/'; start--)
		;
	return start == len ? (struct span){ path, len } : (struct span){ path + start, len - start };
}

static bool
is_launcher(const char *word)
{
	struct span base = base_of(word, strlen(word));

	if (base.len > 4 && memcmp(base.ptr + base.len - 4, ".exe", 4) == 0)
		base.len -= 4;
	while (base.len > 1 && strchr("0123456789.", base.ptr[base.len - 1]) != NULL)
		base.len--;
	return has_word(launchers, base.ptr, base.len);
}

/* -c, -lc, -euc: behind it stands the line of a shell, which may have secrets. */
static bool
takes_value(const char *option)
{
	return has_word(valued, option, strlen(option)) || (option[1] != '-' && option[strlen(option) - 1] == 'c');
}

/* env KEY=VALUE command, not name==1.0: a value may end with = too. */
static bool
is_setting(const char *word)
{
	const char *sign = strchr(word, '=');

	return sign != NULL && sign[1] != '=';
}

/* The word that tells what the launcher at i runs; 0: none. timeout 10 command. */
static size_t
find_operand(char *const command[], size_t i)
{
	while (command[++i] != NULL) {
		const char *word = command[i];

		if (word[0] == '-' && command[i + 1] != NULL && takes_value(word))
			i++;
		else if (word[0] != '-' && !has_word(verbs, word, strlen(word)) && !is_setting(word) &&
		    strspn(word, "0123456789.smhkgMG") < strlen(word))
			return i;
	}
	return 0;
}

/* The word that names the server: its package, its script, or the program, which is word 0. */
static size_t
find_named(char *const command[])
{
	size_t named = 0, operand;

	while (is_launcher(command[named]) && (operand = find_operand(command, named)) > 0)
		named = operand;
	return named;
}

/*
 * @scope/name@1.0, name[extra]==1.0, registry/name:tag, git+https://host/name.git: the name. A file's extension is cut
 * off; of /srv/weather/dist/index.js the folder says more than the file.
 */
static struct span
name_operand(const char *word)
{
	struct span name = base_of(word, strlen(word)), first;
	size_t at;

	if (name.ptr[0] == '@')
		name = span_from(name, 1);
	for (at = 0; at < name.len && strchr("@:[=<>~!;#?", name.ptr[at]) == NULL; at++)
		;
	name.len = at;
	while (at > 0 && name.ptr[at - 1] != '.')
		at--;
	if (at > 1 && has_word("git py js mjs cjs ts mts rb jar dll php sh exe", name.ptr + at, name.len - at))
		name.len = at - 1;
	first = name;
	while (name.ptr > word && has_word(generic, name.ptr, name.len))
		name = base_of(word, (size_t)(name.ptr - word));
	return name.len == 0 || has_word(generic, name.ptr, name.len) || name.ptr[0] == '/' ? first : name;
}

void
name_of_command(char *const command[], char name[NAME_SIZE])
{
	size_t named = find_named(command);
	struct span shown = named > 0 ? name_operand(command[named]) : base_of(command[0], strlen(command[0]));

	snprintf(name, NAME_SIZE, "%.*s", (int)shown.len, shown.ptr);
}

/* -y, --, --port, --port=8080: how much of the word is a flag without its value; 0: it is none. */
static size_t
flag_length(const char *word)
{
	size_t len;

	if (word[0] == '-' && strspn(word + 1, LOWER UPPER) == 1 && word[2] == '\0')
		return 2;
	if (strncmp(word, "--", 2) != 0)
		return 0;
	len = 2 + strspn(word + 2, LOWER DIGITS "-");
	return len <= 2 + FLAG_MOST && (word[len] == '\0' || word[len] == '=') ? len : 0;
}

/* @scope/name of @scope/name@1.0, index.js of /srv/name/index.js; empty if the word has no name. */
static struct span
name_in(const char *word)
{
	const char *slash = strrchr(word, '/'), *base = slash != NULL ? slash + 1 : word;
	bool scoped = word[0] == '@' && word + 1 + strspn(word + 1, NAME) == slash;
	size_t len = strspn(base, NAME);

	return scoped ? (struct span){ word, (size_t)(base - word) + len } : (struct span){ base, len };
}

void
command_append_word(struct buf *text, char *const command[], size_t i)
{
	const char *word = command[i];
	size_t flag = flag_length(word);
	struct span shown = { word, flag };

	if (i == 0 && word[strspn(word, NAME "@/")] == '\0')
		shown = span_of(word);
	else if (flag == 0 && i > 0 && i == find_named(command))
		shown = name_in(word);
	buf_append(text, shown.len > 0 ? shown : SPAN("*"));
	buf_append(text, flag > 0 && word[flag] == '=' ? SPAN("=*") : SPAN_NONE);
}

void
command_append(struct buf *line, char *const command[])
{
	for (size_t i = 0; command[i] != NULL; i++) {
		buf_append(line, i > 0 ? SPAN(" ") : SPAN_NONE);
		command_append_word(line, command, i);
	}
}
