#include "scenario/mutants.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "scenario/mutate.h"
#include "scenario/play.h"

#ifdef DECISIONS_MUTABLE

enum { SECONDS_MAX = 2 /* of processor time; a tenth is enough */ };

struct candidate { /* a scenario that may find a mutant */
	const struct scenario *scenario;
	size_t size;
};

struct mutants {
	struct candidate *candidates; /* the short ones first: most mutants are found by them */
	size_t candidate_count;
	size_t found, excused, survived;
	size_t *progress; /* shared with the children: which candidate is played */
};

struct excuse {
	const char *name; /* a pattern of fnmatch(3) */
	const char *reason;
};

#define NO_DEADLINE "it has no deadline"
#define NO_CLOCK "it has no deadline, and requests of the client stop no clock"
#define NO_LIMIT "what waits for a person has no deadline either"
#define OWN_RESULT "it is answered with a result of its own, never with an error"

#define NO_SETTING "its sessions have no setting that could be undone"
#define OWN_KIND "it is kept as what comes first of the two"
#define NOT_THE_CLIENTS "the server asks it, and nothing of that is kept"

/* What cannot be told apart from outside, each with its reason. */
static const struct excuse excuses[] = {
	{ "none/*: also *", "there is no request that a step could be for" },
	{ "none/*: no *", "there is no request that a step could be for" },
	{ "none/*: then *", "there is no request that could go on" },
	{ "none/cancel-owed: another word*", "what does not exist is owed no answer" },
	{ "none/cancel-acknowledged: another word*", "it is looked for among what has ended" },
	{ "none/deadline*: another word*", "what does not exist has no deadline" },
	{ "none/requester-gone: another word*", "it is asked of existing requests only" },
	{ "none/terminated: another word*", "it is asked of existing requests only" },
	{ "waiting/cancel: also pass", "a cancel that is handed on has passed" },
	{ "waiting/cancel-owed: also pass", "a cancel that is handed on has passed" },
	{ "abandoned/cancel-acknowledged: *", "a tombstone is cancelled: nothing has to be decided" },
	{ "abandoned/*-gone: another word*", "it is silent" },
	{ "abandoned/terminated: another word*", "it is silent" },
	{ "mcp: another framing", "its handshake is told by the version" },
	{ "acp: another framing", "its handshake is told by the version" },
	{ "lsp: another version", "what has a header is taken for LSP in the end" },
	{ "none: another framing", "it has no handshake" },
	{ "none: another version", "it has no handshake" },
	{ "none: another closed_code", "it has no handshake" },
	{ "none: another name", "it is what one asks for, and is not said" },
	{ "none: another declared_cancel", "it has no cancel, so no peer has another one" },
	{ "none: also CANCELS_META", "it has no cancel" },
	{ "none: also REASONS", "it has no cancel" },
	{ "none: also CANCELS_START", "it has no cancel" },
	{ "none: also DROPS_UNKNOWN_TOKENS", "it knows no progress" },
	{ "none: also SESSIONS", "it knows no progress" },
	{ "bsp: also DROPS_UNKNOWN_TOKENS", "it knows no progress" },
	{ "bsp: also SESSIONS", "it knows no progress" },
	{ "bsp: * also TURN", "its requests have no token, so belong to no session" },
	{ "*initialize also CODE", "start-up has a deadline of its own" },
	{ "mcp: server/discover also CODE", "start-up has a deadline of its own" },
	{ "mcp: subscriptions/listen also CODE", NO_DEADLINE },
	{ "mcp: tasks/result also CODE", NO_DEADLINE },
	{ "mcp: elicitation/create also CODE", NO_DEADLINE },
	{ "mcp: sampling/createMessage also CODE", NO_DEADLINE },
	{ "acp: authenticate also CODE", NO_DEADLINE },
	{ "acp: auth/login also CODE", NO_DEADLINE },
	{ "acp: session/prompt also CODE", NO_DEADLINE },
	{ "acp: session/request_permission also CODE", NO_DEADLINE },
	{ "acp: elicitation/create also CODE", NO_DEADLINE },
	{ "acp: terminal/wait_for_exit also CODE", NO_DEADLINE },
	{ "lsp: workspace/diagnostic also CODE", NO_DEADLINE },
	{ "lsp: window/showMessageRequest also CODE", NO_DEADLINE },
	{ "bsp: buildTarget/run also CODE", NO_DEADLINE },
	{ "bsp: buildTarget/test also CODE", NO_DEADLINE },
	{ "bsp: debugSession/start also CODE", NO_DEADLINE },
	{ "mcp: subscriptions/listen also PERSON", NO_CLOCK },
	{ "mcp: tasks/result also PERSON", NO_CLOCK },
	{ "acp: session/prompt also PERSON", NO_CLOCK },
	{ "lsp: workspace/diagnostic also PERSON", NO_CLOCK },
	{ "bsp: buildTarget/run also PERSON", NO_CLOCK },
	{ "bsp: buildTarget/test also PERSON", NO_CLOCK },
	{ "bsp: debugSession/start also PERSON", NO_CLOCK },
	{ "acp: auth* also EXEMPT", NO_LIMIT },
	{ "mcp: elicitation/create also EXEMPT", NO_LIMIT },
	{ "mcp: sampling/createMessage also EXEMPT", NO_LIMIT },
	{ "acp: session/request_permission also EXEMPT", NO_LIMIT },
	{ "acp: elicitation/create also EXEMPT", NO_LIMIT },
	{ "acp: terminal/wait_for_exit not EXEMPT", "requests of the agent have no deadline unless they are named" },
	{ "acp: terminal/wait_for_exit has another name",
	    "requests of the agent have no deadline unless they are named" },
	{ "lsp: window/showMessageRequest also EXEMPT", NO_LIMIT },
	{ "acp: session/request_permission also PROBE", OWN_RESULT },
	{ "acp: session/request_permission also TOOL", OWN_RESULT },
	{ "acp: elicitation/create also PROBE", OWN_RESULT },
	{ "acp: elicitation/create also TOOL", OWN_RESULT },
	{ "none/receiver-lost: another word*", "it is silent" },
	{ "queued/receiver-lost: another word*", "it is silent" },
	{ "abandoned/receiver-lost: another word*", "it is silent" },
	{ "acp: * also UNSETTING", NO_SETTING },
	{ "lsp: * also UNSETTING", NO_SETTING },
	{ "bsp: * also UNSETTING", NO_SETTING },
	{ "mcp: initialize also SETTING", OWN_KIND },
	{ "mcp: initialize also UNSETTING", OWN_KIND },
	{ "acp: initialize also SETTING", OWN_KIND },
	{ "lsp: initialize also SETTING", OWN_KIND },
	{ "bsp: build/initialize also SETTING", OWN_KIND },
	{ "mcp: subscriptions/listen also *SETTING", OWN_KIND },
	{ "mcp: logging/setLevel also UNSETTING", OWN_KIND },
	{ "mcp: resources/subscribe also UNSETTING", OWN_KIND },
	{ "mcp: elicitation/create also *SETTING", NOT_THE_CLIENTS },
	{ "acp: session/request_permission also SETTING", NOT_THE_CLIENTS },
	{ "acp: elicitation/create also SETTING", NOT_THE_CLIENTS },
	{ "acp: terminal/wait_for_exit also SETTING", NOT_THE_CLIENTS },
	{ "lsp: window/showMessageRequest also SETTING", NOT_THE_CLIENTS },
	{ NULL, NULL },
};

static bool
holds(const struct scenario *scenario)
{
	struct play_setup setup = { &subject_core, SPLIT_WHOLE, false, NULL };
	struct verdict verdict;

	play(scenario, &setup, &verdict);
	buf_free(&verdict.text);
	return !verdict.failed;
}

/* In a child of its own: a mutant may trip an assertion, or never come to an end. */
static int
play_mutant(const struct mutant *mutant, const struct mutants *mutants)
{
	struct rlimit limit = { SECONDS_MAX, SECONDS_MAX + 1 };
	size_t i;

	mutate_apply(mutant);
	setrlimit(RLIMIT_CPU, &limit);
	for (i = 0; i < mutants->candidate_count; i++) {
		*mutants->progress = i;
		if (!holds(mutants->candidates[i].scenario))
			return 1;
	}
	return 0;
}

/* true: some scenario fails, crashes or does not end. */
static bool
is_found(const struct mutant *mutant, struct mutants *mutants, int *status)
{
	pid_t pid;
	int null;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		if (null >= 0)
			dup2(null, STDERR_FILENO);
		_exit(play_mutant(mutant, mutants));
	}
	if (waitpid(pid, status, 0) != pid)
		abort();
	return !WIFEXITED(*status) || WEXITSTATUS(*status) != 0;
}

static const char *
excuse_of(const struct mutant *mutant)
{
	const struct excuse *excuse;

	for (excuse = excuses; excuse->name != NULL; excuse++)
		if (fnmatch(excuse->name, mutant->name, 0) == 0)
			return excuse->reason;
	return NULL;
}

static void
try_mutant(const struct mutant *mutant, struct mutants *mutants)
{
	const char *excuse = excuse_of(mutant);
	const struct scenario *scenario;
	int status;

	if (!is_found(mutant, mutants, &status)) {
		mutants->excused += excuse != NULL;
		mutants->survived += excuse == NULL;
		printf("%-56s -> %s%s\n", mutant->name,
		    excuse == NULL ? "SURVIVED" : "cannot be seen: ", excuse == NULL ? "" : excuse);
		return;
	}
	scenario = mutants->candidates[*mutants->progress].scenario;
	printf("%-56s -> %s:%u %s%s\n", mutant->name, scenario->file, scenario->number, scenario->title,
	    WIFEXITED(status) ? "" : " (crash)");
	mutants->found++;
	if (excuse != NULL) {
		printf("%-56s    is found, so needs no excuse\n", mutant->name);
		mutants->survived++;
	}
}

static int
compare(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->size != right->size)
		return left->size < right->size ? -1 : 1;
	return left->scenario < right->scenario ? -1 : left->scenario > right->scenario;
}

/* Those that hold without any change. false: some do not. */
static bool
choose_candidates(const struct script *script, struct mutants *mutants)
{
	size_t i, line;

	mutants->candidates = mem_new(script->count * sizeof(*mutants->candidates));
	for (i = 0; i < script->count; i++) {
		const struct scenario *scenario = &script->scenarios[i];
		struct candidate *candidate = &mutants->candidates[mutants->candidate_count];

		if (!holds(scenario)) {
			printf("%s:%u: %s: fails without any change\n", scenario->file, scenario->number,
			    scenario->title);
			continue;
		}
		candidate->scenario = scenario;
		for (line = 0; line < scenario->line_count; line++)
			candidate->size += scenario->lines[line].text.len;
		mutants->candidate_count++;
	}
	qsort(mutants->candidates, mutants->candidate_count, sizeof(*mutants->candidates), compare);
	return mutants->candidate_count == script->count;
}

bool
mutants_run(const struct script *script)
{
	struct mutants mutants = { .found = 0 };
	struct mutant_list list = { NULL, 0 };
	bool sound;
	size_t i;

	mutants.progress =
	    mmap(NULL, sizeof(*mutants.progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mutants.progress == MAP_FAILED)
		abort();
	sound = choose_candidates(script, &mutants);
	mutate_list(&list);
	for (i = 0; i < list.count; i++)
		try_mutant(&list.first[i], &mutants);
	printf("%zu mutants: %zu found, %zu cannot be seen, %zu survived\n", list.count, mutants.found, mutants.excused,
	    mutants.survived);
	free(list.first);
	free(mutants.candidates);
	munmap(mutants.progress, sizeof(*mutants.progress));
	return sound && mutants.survived == 0;
}

#else

bool
mutants_run(const struct script *script)
{
	(void)script;
	printf("built without -DDECISIONS_MUTABLE: make mutants\n");
	return false;
}

#endif
