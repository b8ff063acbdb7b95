#ifndef CTL_DIALOGUE_H
#define CTL_DIALOGUE_H

/*
 * What a client says in each protocol, where the protocols differ: pure, it only builds JSON. Sources: MCP 2025-11-25
 * and 2026-07-28 (lifecycle, cancellation, progress, ping), ACP 1 (initialization, prompt turn), LSP 3.17.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum dialogue_kind { DIALOGUE_MCP, DIALOGUE_ACP, DIALOGUE_LSP };

enum dialogue_era {
	ERA_INITIALIZE,
	ERA_DISCOVER
}; /* MCP until 2025-11-25, and after; the others have only the first */

struct dialogue {
	enum dialogue_kind kind;
	enum dialogue_era era;
};

/* "mcp", "acp" or "lsp". false: none of them. */
bool dialogue_named(const char *name, enum dialogue_kind *kind);
const char *dialogue_name(enum dialogue_kind kind);

/* The protocol that a server with this command most likely speaks: MCP, unless a word tells. command: ended by NULL. */
enum dialogue_kind dialogue_guess(char *const command[]);

/* The request that opens a session, and the notification that follows its answer, or NULL. */
const char *dialogue_opening(struct dialogue dialogue);
json_t *dialogue_opening_params(struct dialogue dialogue);
const char *dialogue_opened(struct dialogue dialogue);

/* A request that every server answers, if only with the error that it does not know it. */
const char *dialogue_ping(struct dialogue dialogue);

/* The method of --call NAME: tools/call in MCP, else the name itself. */
const char *dialogue_call_method(struct dialogue dialogue, const char *name);

/*
 * Its params, with the request for progress under this id. arguments: borrowed, an object; session: the id of an ACP
 * session, or NULL.
 */
json_t *dialogue_call_params(struct dialogue dialogue, const char *name, const json_t *arguments, const char *session,
    int64_t id);

/* Completes the params of any request of this era. */
json_t *dialogue_params(struct dialogue dialogue, json_t *params);

/* The cancel of that request: a whole notification. */
json_t *dialogue_cancel(struct dialogue dialogue, const char *method, const char *session, int64_t id);

/* Whether a notification reports progress on the request. */
bool dialogue_is_progress(struct dialogue dialogue, const json_t *message, int64_t id);

/* Whether a cancelled request is owed an answer, and whether this one says that it was cancelled. */
bool dialogue_owes_answer(struct dialogue dialogue);
bool dialogue_says_cancelled(const json_t *answer);

/* The answer of a client without any capability to a request of the server's. */
json_t *dialogue_answer(const json_t *request);

#endif
