/* What canceld's log says of each message and of each request's end, against what happened. */
#include <string.h>

#include "oracle_inside.h"

/* Whether nobody waits for it any more, for another reason than its requester's cancel. */
static bool
is_over(const struct oracle *oracle, const struct ask *ask)
{
	return ask->expired != 0 || ask->decided != 0 || ask->lost != 0 || ask->ended ||
	    ask->touched || ask->crossed ||
	    (ask->by == CLIENT ? oracle->draining || oracle->client_left : oracle->server_died);
}

static bool
is_late(const struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	return sent->kind == KIND_RESPONSE && (ask->cancelled != 0 || is_over(oracle, ask));
}

static bool
is_stray(const struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	return sent->kind == KIND_JUNK ||
	    (sent->kind == KIND_RESPONSE &&
		(ask->replied != sent->heard || oracle_may_be_forgotten(oracle, ask) ||
		    ask->life != oracle->life));
}

static bool
is_of_nothing(const struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	if (sent->kind == KIND_CANCEL)
		return !oracle_lives(oracle, ask) || ask->cancelled != sent->heard;
	return sent->kind == KIND_JUNK || sent->kind == KIND_TURN_CANCEL;
}

static bool
is_repeated(const struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	/* An older one of that id may still be known. */
	for (const struct ask *other = oracle->asks;
	     sent->kind == KIND_CANCEL && other < oracle->asks + oracle->ask_count; other++)
		if (other->by == ask->by && strcmp(other->id, ask->id) == 0 &&
		    ((other->cancelled != 0 && other->cancelled < sent->heard) ||
			is_over(oracle, other)))
			return true;
	return sent->kind == KIND_JUNK || sent->kind == KIND_TURN_CANCEL;
}

static bool
is_forbidden(const struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	/* An older one of that id may still be known. */
	for (const struct ask *other = oracle->asks;
	     sent->kind == KIND_CANCEL && other < oracle->asks + oracle->ask_count; other++)
		if (other->by == ask->by && strcmp(other->id, ask->id) == 0 &&
		    other->deed != NULL && (other->task || other->deed->traits & FINAL))
			return true;
	return sent->kind == KIND_JUNK;
}

static bool
is_late_progress(const struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	(void)oracle;
	(void)ask;
	return !sent->due;
}

static bool
is_malformed(const struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	(void)oracle;
	(void)ask;
	return sent->bad;
}

/* What a dropped message must be, for canceld to say this of it. */
static const struct {
	const char *word;
	bool (*is)(const struct oracle *oracle, const struct sent *sent, const struct ask *ask);
} drops[] = {
	{ "LATE", is_late },
	{ "STRAY", is_stray },
	{ "UNKNOWN_CANCEL", is_of_nothing },
	{ "REPEATED_CANCEL", is_repeated },
	{ "FORBIDDEN_CANCEL", is_forbidden },
	{ "LATE_PROGRESS", is_late_progress },
	{ "MALFORMED", is_malformed },
};

static void
check_word(struct oracle *oracle, const struct sent *sent, const char *word)
{
	const struct ask *ask = sent->ask < 0 ? NULL : &oracle->asks[sent->ask];

	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++)
		if (strcmp(word, drops[i].word) == 0 && !drops[i].is(oracle, sent, ask))
			oracle_blame(oracle, "5: message %d is dropped as %s, and is not",
			    (int)(sent - oracle->sent), word);
}

/*
 * The manual, FORGOTTEN: after ten minutes canceld does not know that a request has ended. A late
 * answer then answers the next request with that id, late if that one was given up as well.
 */
static void
answer_namesake(struct oracle *oracle, struct sent *sent, bool late)
{
	const struct ask *ended = &oracle->asks[sent->ask];

	if (!oracle_may_be_forgotten(oracle, ended))
		return;
	for (int i = oracle->ask_count - 1; i > sent->ask; i--) {
		const struct ask *ask = &oracle->asks[i];

		if (ask->by != ended->by || oracle_lives(oracle, ask) == late ||
		    ask->replied != 0 || !jsontext_same_id(ask->id, ended->id))
			continue;
		sent->ask = i;
		oracle_heard_response(oracle, sent, &oracle->asks[i]);
		return;
	}
}

void
oracle_told(struct oracle *oracle, bool dropped, const char *word)
{
	struct sent *sent = &oracle->sent[oracle->listening < 0 ? 0 : oracle->listening];

	/* Text without a line's end stands before the message. */
	if (oracle->listening < 0 || sent->first >= 0 || strcmp(word, "NOISE") == 0 ||
	    strcmp(word, "CANCEL_ACKNOWLEDGED") == 0 || strcmp(word, "TRUNCATED") == 0 ||
	    strcmp(word, "BLANK") == 0)
		return;
	sent->told++;
	sent->told_dropped |= dropped;
	if (dropped)
		check_word(oracle, sent, word);
	if (sent->kind == KIND_RESPONSE &&
	    (strcmp(word, "RELAYED") == 0 || strcmp(word, "LATE") == 0))
		answer_namesake(oracle, sent, dropped);
	/* it was not forgotten, so its server is there, and has perhaps opened the session */
	if (sent->kind == KIND_RESPONSE && sent->from == SERVER && !sent->bad &&
	    strcmp(word, "LATE") == 0) {
		oracle->served = true;
		if (oracle->asks[sent->ask].deed->traits & HANDSHAKE)
			oracle_opened(oracle);
	}
	oracle_look(oracle);
}

void
oracle_told_all(struct oracle *oracle)
{
	const struct sent *sent = &oracle->sent[oracle->hearing];

	if (sent->first >= 0 || sent->kind == KIND_JUNK || sent->kind == KIND_ACKNOWLEDGED ||
	    sent->bad || sent->salvaged || (sent->ask >= 0 && oracle->asks[sent->ask].too_long) ||
	    oracle->server_died || oracle->client_left || oracle->away || sent->told == 1)
		return;
	oracle_blame(oracle, "5: what became of message %d is told %d times",
	    (int)(sent - oracle->sent), sent->told);
}

void
oracle_says_unsent(struct oracle *oracle, const char *id)
{
	for (const struct ask *ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && ask->begun && oracle_lives(oracle, ask) &&
		    ask->cancelled == 0 && strcmp(ask->id, id) == 0)
			oracle_blame(oracle, "5: the stream %s is said never to have been sent",
			    id);
}

/* Whether a message of the server's is too long, which may have been the answer to any request. */
static bool
has_discarded(const struct oracle *oracle)
{
	for (const struct sent *sent = oracle->sent; sent < oracle->sent + oracle->sent_count;
	     sent++)
		if (sent->from == SERVER && sent->begun != 0 && sent->len > oracle->max_message)
			return true;
	return false;
}

/* Whether this may have become of the request, by the word for it in the totals. */
static bool
may_end(const struct oracle *oracle, const struct ask *ask, const char *word)
{
	bool due = !ask->waits && ask->replied == 0 &&
	    (oracle->now - ask->active >= ask->idle || oracle->now - ask->since >= ask->cap);

	if (strcmp(word, "failed") == 0 && has_discarded(oracle))
		return true;
	if (strcmp(word, "answered") == 0 || strcmp(word, "failed") == 0)
		return ask->replied != 0 || ask->reply_begun != 0 || ask->deed->traits & DISCOVERY;
	if (strcmp(word, "timed_out") == 0)
		return due || ask->expired != 0;
	if (strcmp(word, "cancelled") == 0)
		return ask->cancelled != 0;
	if (strcmp(word, "by_person") == 0)
		return ask->person;
	if (strcmp(word, "left") == 0)
		return oracle->draining || oracle->client_left;
	if (strcmp(word, "lost") == 0)
		return ask->lost != 0 || oracle->server_died || oracle->losing ||
		    oracle_is_unopened(oracle, ask->session);
	if (strcmp(word, "refused") == 0)
		return ask->wire[0] == '\0' && !(oracle->legacy && ask->deed->traits & DISCOVERY);
	if (strcmp(word, "streams") == 0)
		return ask->deed->traits & STREAM;
	return ask->untracked;
}

void
oracle_ends(struct oracle *oracle, const char *id, const char *word)
{
	struct ask *ask = oracle->asks;

	while (ask < oracle->asks + oracle->ask_count &&
	    !(ask->by == CLIENT && !ask->end_told && oracle->sent[ask->sent].begun != 0 &&
		ask->target == NO_TARGET && strcmp(ask->id, id) == 0))
		ask++;
	if (ask == oracle->asks + oracle->ask_count) {
		oracle_blame(oracle, "5: %s is said to have ended, and no such request has", id);
		return;
	}
	ask->end_told = true;
	if ((!ask->ours || ask->untracked) && !may_end(oracle, ask, word))
		oracle_blame(oracle, "5: %s is said to be %s, and is not", id, word);
}
