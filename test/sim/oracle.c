/* The input of the oracle: the peers' messages, what canceld hears of them, and canceld's log. */
#include "oracle_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRACE = 5000, GRACE_TURN = 30000 };         /* the built-in times of the manual */
enum { IDLE = 300000, DAY = 24 * 60 * 60 * 1000 }; /* ... for one that opens an ACP session */
/* ... and the handshake; LSP and BSP have more */
enum { START = 120000, START_SLOW = 600000, START_CAP = 1800000 };

static void *
grow(void *array, int count, size_t size)
{
	if ((count & (count - 1)) == 0)
		array = realloc(array, (count == 0 ? 1 : 2 * (size_t)count) * size);
	if (array == NULL)
		abort();
	memset((char *)array + (size_t)count * size, 0, size);
	return array;
}

void
oracle_init(struct oracle *oracle)
{
	*oracle = (struct oracle){ .last = { -1, -1 },
		.shaken = -1,
		.shown = -1,
		.login = -1,
		.listening = -1 };
	oracle->sent = grow(NULL, 0, sizeof(*oracle->sent));
	oracle->asks = grow(NULL, 0, sizeof(*oracle->asks));
	oracle->beatings = grow(NULL, 0, sizeof(*oracle->beatings));
	for (int by = 0; by < 2; by++)
		oracle->tellings[by] = grow(NULL, 0, sizeof(*oracle->tellings[by]));
	for (int i = 0; i < SESSIONS; i++)
		oracle->sessions[i] = (struct open_session){ -1, -1, false, false, false };
}

void
oracle_free(struct oracle *oracle)
{
	int i;

	for (i = 0; i < oracle->sent_count; i++) {
		free(oracle->sent[i].bytes);
		free(oracle->sent[i].arrives);
	}
	free(oracle->sent);
	free(oracle->asks);
	free(oracle->beatings);
	free(oracle->tellings[CLIENT]);
	free(oracle->tellings[SERVER]);
}

void
oracle_blame(struct oracle *oracle, const char *format, ...)
{
	va_list arguments;

	if (oracle->verdict[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(oracle->verdict, sizeof(oracle->verdict), format, arguments);
	va_end(arguments);
}

int
oracle_say(struct oracle *oracle, int from, enum kind kind, int ask, char *bytes, size_t len,
    const char *arrives)
{
	struct sent *sent;

	oracle->sent = grow(oracle->sent, oracle->sent_count, sizeof(*oracle->sent));
	sent = &oracle->sent[oracle->sent_count];
	sent->from = from;
	sent->kind = kind;
	sent->ask = ask;
	sent->life = oracle->life;
	sent->own = sent->batch = sent->first = -1;
	sent->bytes = bytes;
	sent->len = len;
	sent->arrives_len = strlen(arrives);
	sent->arrives = strdup(arrives);
	if (sent->arrives == NULL)
		abort();
	return oracle->sent_count++;
}

int
oracle_ask(struct oracle *oracle, int by, const struct deed *deed, const char *id)
{
	unsigned traits = deed == NULL ? EXEMPT : deed->traits;
	struct ask *ask;

	oracle->asks = grow(oracle->asks, oracle->ask_count, sizeof(*oracle->asks));
	ask = &oracle->asks[oracle->ask_count];
	ask->by = by;
	ask->deed = deed;
	ask->target = NO_TARGET;
	ask->life = oracle->life;
	ask->idle = oracle->timeout;
	ask->cap = oracle->cap;
	if (traits & EXEMPT) {
		ask->idle = ask->cap = INT64_MAX;
	} else if (traits & (HANDSHAKE | DISCOVERY)) {
		ask->idle = oracle->protocol->slow ? START_SLOW : START;
		ask->cap = START_CAP;
	} else if (traits & OPENS) {
		ask->idle = IDLE;
		ask->cap = DAY;
	}
	ask->ending_at = INT64_MAX;
	snprintf(ask->id, sizeof(ask->id), "%s", id);
	return oracle->ask_count++;
}

bool
oracle_waits(const struct ask *ask)
{
	return !ask->answered && ask->cancelled == 0;
}

bool
oracle_owes(const struct ask *ask)
{
	return !ask->answered && ask->cancelled != 0 && ask->owed;
}

enum spelling
oracle_spelling(const struct oracle *oracle, int side)
{
	return oracle->declared[side] ? SPELLED_LSP : oracle->protocol->spelling;
}

void
oracle_begun(struct oracle *oracle, int number)
{
	struct sent *sent = &oracle->sent[number];

	sent->begun = ++oracle->step;
	for (int i = sent->first; i >= 0 && i < number; i++)
		oracle_begun(oracle, i);
	if (sent->kind == KIND_RESPONSE && oracle->asks[sent->ask].reply_begun == 0)
		oracle->asks[sent->ask].reply_begun = sent->begun;
}

bool
oracle_lives(const struct oracle *oracle, const struct ask *ask)
{
	return oracle->sent[ask->sent].heard != 0 && ask->decided == 0 && ask->replied == 0 &&
	    !ask->ours && ask->lost == 0;
}

int64_t
oracle_grace(const struct oracle *oracle, const struct ask *ask)
{
	if (oracle->grace != INT64_MAX)
		return oracle->grace;
	return ask->deed->traits & TURN ? GRACE_TURN : GRACE;
}

/* Whether the protocol lets the requester cancel it. */
bool
oracle_may_cancel(const struct oracle *oracle, const struct ask *ask)
{
	return !(ask->deed->traits & FINAL) ||
	    (oracle->protocol->owes && oracle->protocol != &protocols[ACP]);
}

static void
note_cancel(struct oracle *oracle, struct ask *ask, bool owed)
{
	if (ask->cancelled != 0 || !oracle_lives(oracle, ask))
		return;
	ask->cancelled = oracle->step;
	ask->owed = owed || (oracle->answer_cancelled && ask->by == CLIENT);
	if (ask->ending_at == INT64_MAX)
		ask->ending_at = oracle->now;
}

static bool
is_turn_of(const struct ask *ask, const char *session)
{
	return ask->by == CLIENT && !ask->ours && ask->deed->traits & TURN &&
	    strcmp(ask->session, session) == 0;
}

/* The server's requests in that session end with the turn, if the client does not answer them. */
static void
cascade(struct oracle *oracle, const char *session, bool sure)
{
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (ask->by != SERVER || strcmp(ask->session, session) != 0 ||
		    !oracle_lives(oracle, ask))
			continue;
		ask->cascaded |= sure && !ask->apart;
		ask->touched = true;
		if (ask->ending_at == INT64_MAX)
			ask->ending_at = oracle->now;
	}
}

/* ACP v2: its turn began with the answer, and no session/cancel has told of it yet. */
static bool
runs_untold(const struct oracle *oracle, const struct ask *turn)
{
	return turn->accepted && !turn->told && turn->life == oracle->life;
}

static void
heard_turn_cancel(struct oracle *oracle, struct sent *sent)
{
	int live = 0, repeated = 0, untold = 0;
	bool work = false;
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (!is_turn_of(ask, sent->session))
			continue;
		untold += runs_untold(oracle, ask);
		work |= runs_untold(oracle, ask) ||
		    (oracle_is_at_work(oracle, ask) && oracle_lives(oracle, ask) &&
			ask->cancelled == 0 && ask->expired == 0 && ask->reply_begun == 0);
		ask->turn_cancelled |= oracle->version > 1 && ask->replied != 0;
		ask->told |= oracle->sent[ask->sent].heard != 0;
		if (!oracle_lives(oracle, ask))
			continue;
		if (ask->cancelled == 0 && ask->expired == 0)
			live++;
		else if (ask->reply_begun == 0 && ask->by_turn)
			repeated++;
		else
			untold++; /* it may have been cancelled by its id alone */
		ask->by_turn |= ask->cancelled == 0 && ask->expired == 0;
		note_cancel(oracle, ask, true);
	}
	cascade(oracle, sent->session, true);
	sent->due = work && sent->ask < 0 && !oracle->no_cancel && !oracle->server_died;
	if (live == 0 && untold == 0 && repeated > 0)
		sent->kind = KIND_JUNK;
	else if (sent->ask >= 0)
		sent->repaired = true;
	oracle->requests += sent->ask >= 0;
}

/* ABP: a client's request to canceld itself. */
static void
heard_acknowledged(struct oracle *oracle, const struct sent *sent)
{
	struct ask *target, *ask = &oracle->asks[sent->ask];

	ask->open = oracle->initialized || oracle->protocol == &protocols[NONE];
	if (ask->target < 0 || !ask->open)
		return;
	target = &oracle->asks[ask->target];
	if (target->deed->traits & FINAL)
		return;
	target->at_once |=
	    target->cancelled == 0 && !oracle->protocol->owes && !oracle->answer_cancelled;
	note_cancel(oracle, target, true);
}

/*
 * Sent in a turn that is already cancelled: it need not be answered either. ACP v2,
 * which the answer to the handshake shows: sent while no turn can run.
 */
static void
join_cascade(const struct oracle *oracle, struct ask *ask)
{
	const struct ask *turn;

	ask->apart = oracle->initialized && oracle->version > 1;
	for (turn = oracle->asks; turn < oracle->asks + oracle->ask_count; turn++)
		if (is_turn_of(turn, ask->session) && oracle->sent[turn->sent].begun != 0 &&
		    ((turn->accepted && turn->life == oracle->life) ||
			(turn->wire[0] != '\0' && oracle_lives(oracle, turn))))
			ask->apart = false;
	for (turn = oracle->asks; turn < oracle->asks + oracle->ask_count; turn++)
		if (is_turn_of(turn, ask->session) && oracle->sent[turn->sent].heard != 0 &&
		    (turn->cancelled != 0 || turn->turn_cancelled || turn->expired != 0 ||
			turn->decided != 0))
			ask->crossed = true;
}

/* Whether the server may still be starting, for all that canceld knows. */
static bool
is_opening(const struct oracle *oracle)
{
	const struct ask *ask;

	if (oracle->initialized && oracle->served)
		return false;
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && ask->deed != NULL &&
		    ask->deed->traits & (HANDSHAKE | DISCOVERY) && oracle_lives(oracle, ask) &&
		    ask->cancelled == 0 && ask->expired == 0)
			return true;
	return oracle->modern && oracle->initialized && !oracle->there &&
	    oracle->now < oracle->open_by;
}

void
oracle_look(struct oracle *oracle)
{
	bool opening = is_opening(oracle);
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count && !opening; ask++)
		if (ask->waits) {
			ask->waits = false;
			ask->since = ask->active = oracle->now;
		}
}

/* A message of the server's: what opens the session is being worked on. */
static void
heard_life(struct oracle *oracle, const struct sent *sent)
{
	bool noise = sent->kind == KIND_JUNK || sent->bad ||
	    (sent->kind == KIND_REQUEST && oracle->asks[sent->ask].too_long) ||
	    (sent->salvaged && oracle->asks[sent->ask].replied != sent->heard);
	struct ask *ask;

	oracle->there = true;
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count && !noise; ask++)
		if (ask->by == CLIENT && ask->deed != NULL &&
		    ask->deed->traits & (HANDSHAKE | DISCOVERY) && oracle_lives(oracle, ask) &&
		    ask->cancelled == 0)
			ask->active = oracle->now;
}

static void
heard_request(struct oracle *oracle, const struct sent *sent, struct ask *ask)
{
	if (ask->too_long)
		return;
	ask->asked = ask->active = ask->since = oracle->now;
	ask->given[0] = ask->idle;
	ask->given[1] = ask->cap;
	oracle_limit(oracle, ask);
	oracle_beat_put_off(oracle, ask);
	oracle->requests += ask->by == CLIENT;
	if (ask->untracked) {
		oracle->untracked[ask->by] = true;
		return;
	}
	ask->ends_task = ask->of_task > 0 &&
	    (oracle->asks[ask->of_task - 1].task_state == TASK_RUNS ||
		oracle->asks[ask->of_task - 1].task_state == TASK_UNSURE);
	if (ask->by == CLIENT)
		oracle_wants_place(oracle, ask);
	if (ask->by == SERVER && oracle->answered != NULL &&
	    strcmp(ask->deed->method, oracle->answered) == 0) {
		bool later = oracle->answered_after > 0 || oracle_is_singled_out(oracle, ask);

		ask->ours = (!later || oracle->draining || oracle->client_left) &&
		    oracle->deaf_at == 0 && !oracle->shut;
		ask->ours_late = later && !ask->ours;
	}
	if (ask->by != CLIENT) {
		oracle_ignore_pause(oracle, true);
		if (!ask->ours)
			join_cascade(oracle, ask);
		return;
	}
	if (ask->deed->traits & HANDSHAKE)
		oracle->declared[CLIENT] = oracle->declares[CLIENT];
	else if (!(ask->deed->traits & DISCOVERY) && oracle->protocol == &protocols[MCP] &&
	    !oracle->handshake) {
		oracle->shown = oracle->initialized ? oracle->shown : ask->sent;
		oracle->initialized = true;
	}
	ask->waits = !(ask->deed->traits & (HANDSHAKE | DISCOVERY)) && is_opening(oracle);
	ask->at_work = oracle->initialized && oracle->served;
	(void)sent;
}

/* ACP v2. A turn that was lost with its server is not the next one's to end. */
static void
end_turns(struct oracle *oracle, const char *session)
{
	for (struct ask *ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (is_turn_of(ask, session) && ask->life == oracle->life)
			ask->accepted = false;
}

void
oracle_opened(struct oracle *oracle)
{
	oracle->start_answered = oracle->initialized = true;
	oracle->declared[SERVER] = oracle->declares[SERVER];
}

/* The answer makes a request a task, or ends the one whose result it is. */
static void
end_task_of(struct oracle *oracle, const struct sent *sent, struct ask *ask)
{
	bool sure = !sent->bad && !sent->salvaged && sent->batch < 0,
	     awaited = ask->decided == 0 && ask->cancelled == 0 && !oracle->client_left;
	struct ask *task = ask->ends_task ? &oracle->asks[ask->of_task - 1] : NULL;

	if (ask->task && sent->grants && awaited)
		ask->task_state = sure ? TASK_RUNS : TASK_UNSURE;
	if (task != NULL && task->task_state != TASK_ENDED)
		task->task_state = sure && awaited ? TASK_ENDED : TASK_UNSURE;
}

void
oracle_heard_response(struct oracle *oracle, struct sent *sent, struct ask *ask)
{
	/* The answer to what was forgotten opens no session, and shows no server. */
	bool known = ask->by == CLIENT && !oracle_may_be_forgotten(oracle, ask),
	     starts = known && ask->deed->traits & HANDSHAKE;

	sent->vain = oracle_may_be_forgotten(oracle, ask);
	if (ask->untracked) {
		ask->replied = sent->heard;
		sent->due = !sent->bad;
		return;
	}
	oracle->start_answered |= starts;
	if (ask->by == CLIENT)
		oracle->responded_at = oracle->now;
	if (ask->by == CLIENT && !sent->bad && !sent->salvaged && ask->replied == 0)
		oracle->answered_at = oracle->now;
	/*
	 * A response that is malformed, or shares its line with text, counts only while one is
	 * awaited. What is too long is an answer.
	 */
	if ((sent->salvaged || (sent->bad && !sent->too_long)) &&
	    ((ask->cancelled != 0 && !ask->owed) || ask->decided != 0))
		return;
	/* also with an answer behind the end of its stream */
	oracle->served |= known && !sent->bad && (ask->replied == 0 || ask->ended);
	if (ask->replied != 0)
		return;
	ask->declined = sent->declines && is_ours_late(oracle, ask) && oracle_lives(oracle, ask);
	ask->replied = sent->heard;
	ask->in_batch = sent->batch >= 0 && ask->decided == 0 && (ask->cancelled == 0 || ask->owed);
	ask->confirms = sent->confirms;
	ask->accepted = ask->deed->traits & TURN && oracle->initialized && oracle->version > 1 &&
	    sent->grants && strstr(sent->arrives, "\"stopReason\"") == NULL;
	ask->made_task = ask->task && sent->grants &&
	    (ask->cancelled != 0 || ask->decided != 0 || oracle->client_left);
	end_task_of(oracle, sent, ask);
	if (sent->grants && ask->deed->traits & CLOSES)
		end_turns(oracle, ask->session);
	if (sent->grants && ask->decided == 0)
		oracle_granted(oracle, ask, sent->session);
	if (starts && !sent->bad)
		oracle_opened(oracle);
}

static void
heard_progress(struct oracle *oracle, struct sent *sent, struct ask *ask)
{
	if (!oracle_lives(oracle, ask) || ask->expired != 0 || sent->from == ask->by) {
		sent->due = ask->task_state == TASK_RUNS && ask->token[0] != '\0';
		sent->vain = ask->task_state == TASK_UNSURE;
		oracle_beat_heard_late(oracle, ask);
		return;
	}
	ask->active = oracle->now;
	oracle_beat_heard_progress(oracle, sent, ask);
	sent->due = ask->cancelled == 0 && ask->token[0] != '\0';
}

enum belonging { BELONGS_ELSEWHERE, MAY_BELONG, BELONGS_TO_ENDED };

/*
 * ACP v1: whether an update of a turn's belongs to one that canceld has ended: it has ended the
 * session's last prompt, which its agent has not answered, and no other one is open. It may, if it
 * is not known what was written or refused.
 */
static enum belonging
belongs(const struct oracle *oracle, const char *session)
{
	const struct ask *ask, *last = NULL;
	bool unsure = oracle->deaf_at > 0 || oracle->client_left, ended = false;

	if (oracle->initialized && oracle->version > 1)
		return BELONGS_ELSEWHERE;
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (!is_turn_of(ask, session) || oracle->sent[ask->sent].begun == 0)
			continue;
		if (oracle_lives(oracle, ask))
			return BELONGS_ELSEWHERE;
		unsure |= ask->wire[0] == '\0';
		ended |= ask->decided != 0;
		last = ask;
	}
	if (!ended || unsure || last->decided == 0 || last->replied != 0 || last->lost != 0 ||
	    oracle->now - last->decided_at >= LINGER)
		return ended && (unsure || last->decided != 0) ? MAY_BELONG : BELONGS_ELSEWHERE;
	return BELONGS_TO_ENDED;
}

static void
heard_update(struct oracle *oracle, struct sent *sent)
{
	enum belonging belonging =
	    sent->of_turn ? belongs(oracle, sent->session) : BELONGS_ELSEWHERE;
	struct ask *ask;

	/*
	 * While a session is opened again, what its agent says of a turn is history; so it is if it
	 * was refused.
	 */
	if (sent->of_turn &&
	    (oracle_is_opening(oracle, sent->session) ||
		oracle_is_unopened(oracle, sent->session))) {
		sent->kind = KIND_JUNK;
		return;
	}
	if (sent->mode > 0 && oracle_mode_changes(oracle, sent->session, sent->mode)) {
		sent->kind = KIND_JUNK;
		return;
	}
	/* Nor is it behind the answer, until canceld knows that no history follows. */
	sent->due = belonging == BELONGS_ELSEWHERE && (sent->idle || !oracle->replaying);
	if (belonging == BELONGS_TO_ENDED)
		sent->kind = KIND_JUNK;
	if (sent->idle)
		end_turns(oracle, sent->session);
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (ask->by != sent->from && strcmp(ask->session, sent->session) == 0 &&
		    oracle_lives(oracle, ask) && ask->expired == 0)
			ask->active = oracle->now;
		if (belonging != BELONGS_ELSEWHERE && ask->decided != 0 &&
		    is_turn_of(ask, sent->session))
			ask->gone_on_at = oracle->now;
	}
}

static void
heard_cancel(struct oracle *oracle, struct sent *sent, struct ask *ask)
{
	oracle_heard_vain_cancel(oracle, sent, ask);
	if (sent->from != ask->by && ask->replied == 0) {
		ask->replied = sent->heard;
		ask->ended = true;
	} else if (sent->from == ask->by && oracle_may_cancel(oracle, ask))
		note_cancel(oracle, ask, oracle->protocol->owes || sent->spelling != SPELLED_MCP);
}

void
oracle_heard(struct oracle *oracle, int number)
{
	struct sent *sent = &oracle->sent[number];
	struct ask *ask = sent->ask < 0 ? NULL : &oracle->asks[sent->ask];

	sent->heard = oracle->last_heard = ++oracle->step;
	sent->ahead =
	    sent->kind == KIND_RESPONSE && (oracle->replaying || oracle->probing || oracle->stuck);
	sent->urgent = sent->kind == KIND_RESPONSE && oracle->replaying;
	oracle->hearing = number;
	if (sent->first >= 0)
		oracle_heard_batch(oracle, sent);
	switch (sent->kind) {
	case KIND_REQUEST:
		heard_request(oracle, sent, ask);
		break;
	case KIND_RESPONSE:
		oracle_heard_response(oracle, sent, ask);
		break;
	case KIND_CANCEL:
		heard_cancel(oracle, sent, ask);
		break;
	case KIND_TURN_CANCEL:
		heard_turn_cancel(oracle, sent);
		break;
	case KIND_ACKNOWLEDGED:
		heard_acknowledged(oracle, sent);
		break;
	case KIND_PROGRESS:
		oracle_ignore_heard(oracle, ask);
		heard_progress(oracle, sent, ask);
		break;
	case KIND_UPDATE:
		heard_update(oracle, sent);
		break;
	case KIND_STREAM:
		oracle_heard_stream(oracle, sent, ask);
		break;
	case KIND_NOTICE:
		sent->due = true;
		if (sent->begins)
			oracle_heard_beginning(oracle, sent, ask);
		if (sent->ends)
			ask->task_state = TASK_ENDED;
		break;
	case KIND_BATCH:
		break;
	case KIND_JUNK:
		oracle_own_answered(oracle, sent);
		oracle->junk_lines += sent->complain;
		break;
	}
	if (sent->from == SERVER)
		heard_life(oracle, sent);
	oracle_look(oracle);
}

/* The newest request of that id that canceld knows and has not answered. */
static struct ask *
find_undecided(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask, *newest = NULL;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (ask->by != by || ask->decided != 0 || ask->ours ||
		    (by == SERVER && ask->lost != 0) || oracle->sent[ask->sent].begun == 0 ||
		    strcmp(ask->id, id) != 0)
			continue;
		newest = ask;
	}
	return newest;
}

static void
expired(struct oracle *oracle, struct ask *ask)
{
	if (ask->waits ||
	    (oracle->now - ask->active < ask->idle && oracle->now - ask->since < ask->cap))
		oracle_blame(oracle, "1: %s is cancelled after %lld ms", ask->id,
		    (long long)(oracle->now - ask->active));
	if (!oracle->protocol->waits &&
	    !(ask->by == SERVER && (oracle->shut || oracle->deaf_at > 0)))
		oracle_blame(oracle, "1: %s expired and was not answered", ask->id);
	if (is_ours_late(oracle, ask))
		oracle_blame(oracle, "1: %s expires, and canceld has an answer to it", ask->id);
	ask->expired = ++oracle->step;
	if (ask->ending_at == INT64_MAX || ask->apart)
		ask->ending_at = oracle->now;
}

/*
 * The server works on it, canceld can read what it writes, and its time has passed without a pause
 * since; nor has a person just shortened it. What opens the session, and a stream, live by more
 * than is known here.
 */
static bool
has_idled(const struct oracle *oracle, const struct ask *ask)
{
	const int64_t pauses[] = { oracle->paused_at, oracle->stalled_at, oracle->unread,
		oracle->slept, ask->arrived_at };
	int64_t since = ask->active > ask->perhaps ? ask->active : ask->perhaps;

	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++)
		since = pauses[i] > since ? pauses[i] : since;
	return !(ask->deed->traits & (HANDSHAKE | DISCOVERY | STREAM)) && ask->idle != INT64_MAX &&
	    ask->wire[0] != '\0' && !oracle->paused && !oracle->stalled &&
	    oracle->now - since > ask->idle && oracle->now > ask->changed_at;
}

/* Nothing extends the cap, nor stops it. */
void
oracle_look_for_late(struct oracle *oracle)
{
	for (const struct ask *ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && ask->deed != NULL && !ask->ours && !ask->untracked &&
		    !ask->too_long && oracle->sent[ask->sent].heard != 0 && ask->at_work &&
		    ((ask->cap != INT64_MAX && oracle->now - ask->since > ask->cap &&
			 oracle->now > ask->changed_at) ||
			has_idled(oracle, ask)) &&
		    ask->reply_begun == 0 && ask->replied == 0 && ask->decided == 0 &&
		    ask->cancelled == 0 && ask->expired == 0 && ask->lost == 0 && !ask->ended &&
		    !oracle->client_left && !oracle->server_died)
			oracle_blame(oracle,
			    "1: %s is not given up after %lld ms, of them %lld without a word",
			    ask->id, (long long)(oracle->now - ask->since),
			    (long long)(oracle->now - ask->active));
}

/* --answer: only what the client does not know, or has not answered in time; and then at once. */
static void
check_for_client(struct oracle *oracle, const struct ask *ask)
{
	int64_t since = ask->active > oracle->slept ? ask->active : oracle->slept;

	if (!is_ours_late(oracle, ask))
		oracle_blame(oracle, "1: %s is answered for the client, who is not asked", ask->id);
	if (ask->cancelled != 0)
		oracle_blame(oracle, "1: %s is answered for the client, and was cancelled",
		    ask->id);
	if (ask->declined || oracle->draining || oracle->client_left)
		return;
	if ((oracle->now - ask->active < ask->idle && oracle->now - ask->since < ask->cap) ||
	    (oracle->now - since > ask->idle && oracle->now > ask->changed_at))
		oracle_blame(oracle, "1: %s is answered for the client after %lld ms", ask->id,
		    (long long)(oracle->now - ask->active));
}

/* An answer that is being thrown away, and is known as one by its first bytes, is one. */
static void
answer_discarded(struct oracle *oracle, int from, const char *id)
{
	struct sent *sent;

	for (sent = oracle->sent; sent < oracle->sent + oracle->sent_count; sent++) {
		struct ask *ask = sent->ask < 0 ? NULL : &oracle->asks[sent->ask];

		if (sent->kind == KIND_RESPONSE && sent->too_long && sent->begun != 0 &&
		    sent->heard == 0 && ask->by != from && ask->replied == 0 &&
		    strcmp(ask->id, id) == 0)
			ask->replied = ++oracle->step;
	}
}

void
oracle_discards(struct oracle *oracle, int from, const char *id)
{
	struct ask *ask;

	answer_discarded(oracle, from, id);

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == from && ask->too_long && ask->discarded == 0 &&
		    oracle->sent[ask->sent].begun != 0 && strcmp(ask->id, id) == 0) {
			ask->discarded = ++oracle->step;
			oracle->requests += from == CLIENT;
		}
}

void
oracle_repeats(struct oracle *oracle, const char *id)
{
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		ask->repeated |= ask->by == CLIENT && oracle->sent[ask->sent].again &&
		    oracle_lives(oracle, ask) && strcmp(ask->id, id) == 0;
}

void
oracle_decided(struct oracle *oracle, int by, const char *id, enum decided decision)
{
	struct ask *ask = find_undecided(oracle, by, id);

	if (ask == NULL)
		return;
	if (decision == DECIDED_FOR_CLIENT) {
		check_for_client(oracle, ask);
		ask->our_answer = true;
	}
	if (oracle->deaf_at > 0 && by == CLIENT)
		oracle_check_deaf(oracle, ask);
	if (decision == DECIDED_EXPIRED) {
		expired(oracle, ask);
		return;
	}
	ask->by_person |= decision == DECIDED_BY_PERSON;
	if (decision == DECIDED_LEFT) {
		ask->expired = ++oracle->step;
		if (ask->ending_at == INT64_MAX)
			ask->ending_at = oracle->now;
		return;
	}
	/* A server/discover may be answered that was not sent. */
	if (oracle->losing && ask->lost == 0 &&
	    (decision == DECIDED_LOST || !(ask->deed->traits & DISCOVERY)) && oracle->may_fly-- > 0)
		ask->flying = true;
	ask->unread &= !ask->flying;
	if ((oracle->losing || decision == DECIDED_LOST) && ask->lost == 0)
		ask->lost = oracle->step;
	ask->unsent |= decision == DECIDED_UNSENT || decision == DECIDED_REFUSED;
	ask->dismissed = oracle->dismissed && (decision == DECIDED_LOST || oracle->server_died);
	ask->was_waiting = ask->waiting;
	ask->waiting &= !ask->unsent;
	if (decision == DECIDED_UNSENT && !ask->owed &&
	    !(ask->by == SERVER && oracle->protocol->owes))
		return;
	ask->held = ask->waiting || oracle_is_held(oracle, ask);
	ask->withdrawn |= by == CLIENT &&
	    (ask->waiting ||
		(ask->wire[0] == '\0' && !oracle->half && ask->released == 0 && !ask->repeated));
	ask->waiting = false;
	ask->version = oracle->initialized ? oracle->version : 0;
	ask->decided_at = oracle->now;
	ask->decided = ++oracle->step;
	ask->waited = ask->waits;
	ask->early = oracle->handshake && !oracle->start_answered;
	oracle_look(oracle);
}

/*
 * Another running turn of the session, which a session/cancel would hit too; -1: none. sure: no
 * answer has begun.
 */
static int
other_turn(const struct oracle *oracle, int turn, bool sure)
{
	int i;

	/*
	 * What was not sent is hit by none; when the client leaves, its requests are given up in
	 * their order.
	 */
	for (i = oracle->client_left && sure ? turn : 0; i < oracle->ask_count; i++) {
		const struct ask *other = &oracle->asks[i];

		if (!(sure && oracle->client_left) &&
		    is_turn_of(other, oracle->asks[turn].session) && runs_untold(oracle, other))
			return i;
		if (i != turn && is_turn_of(other, oracle->asks[turn].session) &&
		    oracle_lives(oracle, other) &&
		    !(sure && (other->reply_begun != 0 || other->wire[0] == '\0')) &&
		    other->cancelled == 0 && other->expired == 0)
			return i;
	}
	return -1;
}

/* When nobody waited for the turn any more; 0: someone does. */
static uint64_t
given_up(const struct oracle *oracle, const struct ask *turn)
{
	if (turn->cancelled != 0)
		return turn->cancelled;
	if (turn->expired != 0)
		return turn->expired;
	return turn->decided != 0 ? turn->decided : oracle->left;
}

/* canceld sends session/cancel of its own: for a turn of which no earlier one has told. */
static void
check_news(struct oracle *oracle, const char *session)
{
	bool news = false;
	struct ask *turn;

	for (turn = oracle->asks; turn < oracle->asks + oracle->ask_count; turn++) {
		if (!is_turn_of(turn, session) || oracle->sent[turn->sent].begun == 0)
			continue;
		news |= runs_untold(oracle, turn) ||
		    (turn->lost == 0 && given_up(oracle, turn) > turn->turn_told);
		turn->turn_told = oracle->step;
		turn->told |= turn->wire[0] != '\0';
	}
	if (!news)
		oracle_blame(oracle, "2: a session/cancel of %s tells nothing new", session);
}

/*
 * Of what was sent: it ended for its requester before its receiver, which still runs and had not
 * answered, heard so.
 */
static bool
waits_for_cancel(const struct oracle *oracle, const struct ask *ask)
{
	bool left = oracle->client_left && ask->by == CLIENT;

	if (ask->decided != 0 && ask->replied != 0 && ask->replied < ask->decided)
		return false;
	return (left || ask->cancelled != 0 || ask->expired != 0 || ask->decided != 0) &&
	    ask->cancels == 0 && ask->turn_cancels == 0 && !ask->unsent && !ask->refused &&
	    !ask->answered_by_peer && ask->lost == 0;
}

/*
 * How well a cancel fits that is told now: least one that is not due, then one that was answered
 * before it was written.
 */
static int
fit_of(const struct oracle *oracle, const struct ask *ask)
{
	bool written = ask->wire[0] != '\0' || ask->decided == 0 || ask->decided_at == oracle->now;

	return waits_for_cancel(oracle, ask) ? 1 + written : 0;
}

/* Of two that fit alike it is the newer one; but a turn is cancelled with its session. */
static bool
fits_better(const struct oracle *oracle, int newer, int older, const char *session)
{
	const struct ask *ask = &oracle->asks[newer], *other = &oracle->asks[older];
	int fit = fit_of(oracle, ask), before = fit_of(oracle, other);

	if (fit == before && before > 0 && session[0] == '\0' && ask->deed->traits & TURN &&
	    !(other->deed->traits & TURN))
		return false;
	return fit >= before;
}

void
oracle_tells(struct oracle *oracle, int by, const char *id, const char *session, bool translated)
{
	const struct sent *sent = &oracle->sent[oracle->hearing];
	struct telling *telling;
	int i, other;

	oracle->tellings[by] =
	    grow(oracle->tellings[by], oracle->telling_count[by], sizeof(*telling));
	telling = &oracle->tellings[by][oracle->telling_count[by]++];
	telling->step = ++oracle->step;
	telling->spelling = oracle_spelling(oracle, by == CLIENT ? SERVER : CLIENT);
	snprintf(telling->reason, sizeof(telling->reason), "%s",
	    translated && sent->reason[0] != '\0' ? sent->reason :
		by == CLIENT ? "\"The client no longer waits for the answer\"" :
			       "\"The server no longer waits for the answer\"");
	telling->ask = -1;
	telling->by_id = true;
	snprintf(telling->session, sizeof(telling->session), "%s", session);
	for (i = 0; i < oracle->ask_count; i++)
		if (oracle->asks[i].by == by && !oracle->asks[i].ours &&
		    strcmp(oracle->asks[i].id, id) == 0 &&
		    oracle->sent[oracle->asks[i].sent].begun != 0 &&
		    (session[0] == '\0' || is_turn_of(&oracle->asks[i], session)) &&
		    (telling->ask < 0 || fits_better(oracle, i, telling->ask, session)))
			telling->ask = i;
	if (translated && sent->kind == KIND_CANCEL)
		telling->ask = sent->ask;
	if (by == CLIENT)
		oracle_ignore_told(oracle, telling->ask, session);
	if (session[0] != '\0') {
		other = telling->ask < 0 ? -1 : other_turn(oracle, telling->ask, true);
		if (other >= 0)
			oracle_blame(oracle, "2: a session/cancel of %s, in which %s runs", session,
			    oracle->asks[other].id);
		check_news(oracle, session);
		cascade(oracle, session, true);
	} else if (telling->ask >= 0 && !translated &&
	    oracle->asks[telling->ask].deed->traits & TURN) {
		telling->by_id = other_turn(oracle, telling->ask, false) >= 0;
	}
}
