#include <stdio.h>
#include <string.h>

#include "shell/words.h"

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

/* Whether the next word is this option's value. -c, -lc, -euc: the line of a shell, which may have secrets. */
static bool
takes_value(const char *option)
{
	size_t letters = strspn(option + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return has_word(valued, option, strlen(option)) ||
	    (letters > 0 && option[letters] == 'c' && option[letters + 1] == '\0');
}

/* env KEY=VALUE command, not name==1.0: a value may end with = too. */
static bool
is_setting(const char *word)
{
	const char *sign = strchr(word, '=');

	return sign != NULL && sign[1] != '=';
}

/* The word that tells what the launcher runs; NULL: none. timeout 10 command. */
static char *const *
find_operand(char *const words[])
{
	while (*++words != NULL) {
		const char *word = *words;

		if (word[0] == '-' && words[1] != NULL && takes_value(word))
			words++;
		else if (word[0] != '-' && !has_word(verbs, word, strlen(word)) &&
		    strspn(word, "0123456789.smhkgMG") < strlen(word) && !is_setting(word))
			return words;
	}
	return NULL;
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
	char *const *words = command, *const * operand;
	struct span shown = base_of(command[0], strlen(command[0]));

	while (is_launcher(*words) && (operand = find_operand(words)) != NULL) {
		words = operand;
		shown = name_operand(*words);
	}
	snprintf(name, NAME_SIZE, "%.*s", (int)shown.len, shown.ptr);
}
