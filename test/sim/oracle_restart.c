/* Restarts: what passes from one server to the next, and canceld's own requests to either. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_inside.h"

enum { REPLAY = 60000, STUCK = 60000 }; /* as in the manual */

static const char *const lists[LISTS] = { "notifications/tools/list_changed",
	"notifications/prompts/list_changed", "notifications/resources/list_changed" };

bool
oracle_may_restart(const struct oracle *oracle, bool stateless)
{
	if (!oracle->protocol->replayable && !stateless &&
	    (oracle->reopens == NULL || oracle->unopened))
		return false;
	if (oracle->initialized || oracle->protocol != &protocols[NONE])
		return oracle->initialized;
	return oracle->requests > 0;
}

bool
oracle_ended_on_probe(const struct oracle *oracle, bool surely)
{
	const struct sent *sent;
	const struct ask *ask;
	bool probed = false;

	for (sent = oracle->sent; sent < oracle->sent + oracle->sent_count; sent++)
		if (surely && sent->from == SERVER && sent->kind == KIND_RESPONSE &&
		    sent->heard != 0)
			return false;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (ask->by != CLIENT)
			continue;
		if ((ask->answered_by_peer && !ask->ended) || oracle->life > 0)
			return false;
		probed |= ask->deed != NULL && ask->deed->traits & DISCOVERY &&
		    ask->wire[0] != '\0' && oracle_lives(oracle, ask) && ask->cancelled == 0 &&
		    ask->expired == 0;
	}
	return probed;
}

bool
oracle_is_asked(const struct oracle *oracle)
{
	const struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && oracle_lives(oracle, ask) && !ask->unsent)
			return true;
	return false;
}

bool
oracle_is_at_work(const struct oracle *oracle, const struct ask *ask)
{
	return ask->wire[0] != '\0' && ask->life == oracle->life && ask->lost == 0;
}

bool
oracle_is_nobodys(const struct oracle *oracle, const char *id)
{
	const struct ask *ask;
	int i;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && ask->lost == 0 &&
		    (jsontext_same_text(ask->id, id) || jsontext_same_id(ask->id, id) ||
			jsontext_same_id(ask->wire, id)))
			return false;
	for (i = 0; i < oracle->own_count; i++)
		if (jsontext_same_id(oracle->owns[i].wire, id))
			return false;
	return true;
}

/* Whether it has no end of its own, so that canceld sends it to the next server. */
static bool
goes_on(const struct oracle *oracle, const struct ask *ask)
{
	return ask->deed != NULL && ask->deed->traits & STREAM && oracle_lives(oracle, ask) &&
	    ask->cancelled == 0 && !ask->unrecorded;
}

enum { RECORDED = 1 << 20 }; /* bytes that canceld keeps for the next server */

void
oracle_unrecorded(struct oracle *oracle, const char *id)
{
	size_t bytes = 0;
	int i;

	for (i = 0; i < oracle->sent_count; i++)
		bytes += oracle->sent[i].from == CLIENT && oracle->sent[i].begun != 0 ?
		    oracle->sent[i].len :
		    0;
	if (bytes <= RECORDED)
		oracle_blame(oracle, "7: %s is not kept for another server, and there is room", id);
	for (i = 0; i < oracle->ask_count; i++)
		if (oracle->asks[i].by == CLIENT && !oracle->asks[i].ours &&
		    strcmp(oracle->asks[i].id, id) == 0)
			oracle->asks[i].unrecorded = true;
}

static void
ask_again(struct oracle *oracle, struct ask *ask)
{
	oracle->sent[ask->sent].arrived = false;
	oracle->sent[ask->sent].again = true;
	ask->resumed = ask->begun;
	ask->wire[0] = '\0';
	ask->written = ask->doubled = ask->begins = ask->repeated = false;
	ask->reply_begun = 0;
}

static void
lose_ask(struct oracle *oracle, struct ask *ask)
{
	const struct sent *sent = &oracle->sent[ask->sent];

	if ((ask->ours && ask->by == CLIENT) || sent->begun == 0 || ask->lost != 0)
		return;
	if (ask->by == SERVER) {
		ask->lost = oracle->lost;
		ask->lost_at = oracle->now;
	} else if (sent->heard == 0) {
		return;
	} else if (goes_on(oracle, ask)) {
		ask_again(oracle, ask);
	} else if (oracle_must_repeat(oracle, ask)) {
		/* unless it was read in part: see may_fly */
		ask->unread = true;
	} else if (oracle_is_at_work(oracle, ask) || ask->unseen ||
	    (ask->released != 0 && ask->wire[0] == '\0')) {
		ask->flying = oracle_lives(oracle, ask);
		/* canceld may know that it was not read */
		if (!ask->unseen || ask->doubted)
			ask->lost = oracle->lost;
	}
}

/*
 * The messages that opened the session, and those about its turns, were for that server; other
 * unread messages wait for the next one.
 */
static void
lose_sent(const struct oracle *oracle, struct sent *sent)
{
	sent->repaired = false;
	if (sent->kind == KIND_TURN_CANCEL || oracle_is_bound(oracle, sent))
		sent->due = false;
	if (sent->from != CLIENT || sent->kind != KIND_NOTICE)
		return;
	if (oracle->opened > 0 && sent == &oracle->sent[oracle->opened]) {
		sent->arrived = false;
		sent->again = sent->due = sent->heard != 0;
	}
}

void
oracle_look_for_missed(struct oracle *oracle)
{
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (ask->unread && ask->lost != 0)
			oracle_blame(oracle, "8: %s was not read, and is lost", ask->id);
		else if (ask->unread || (ask->unseen && ask->lost == 0))
			ask_again(oracle, ask);
		if (ask->doubted && ask->decided == 0 && ask->replied == 0 && ask->cancelled == 0 &&
		    ask->expired == 0)
			oracle_blame(oracle, "8: %s may have been read, and is not lost", ask->id);
		ask->flying &= !ask->unseen || ask->lost != 0;
		ask->unread = ask->unseen = ask->doubted = false;
	}
}

static void
check_probed(struct oracle *oracle)
{
	/* A server may go as soon as it has read the cancel, before canceld has another turn. */
	if (oracle->unprobed && !oracle->was_mute && !oracle->probing && oracle->kill_stuck > 0 &&
	    oracle->now > oracle->unprobed_at)
		oracle_blame(oracle,
		    "7: a server that was sent a cancel was never asked whether it is alive");
}

void
oracle_lost(struct oracle *oracle, const bool half[2])
{
	int i;

	if (!oracle->stuck)
		check_probed(oracle);
	oracle->lost = oracle->free = ++oracle->step;
	oracle->may_fly = half[SERVER];
	oracle->halves += half[SERVER];
	oracle->may_reach = half[CLIENT];
	for (i = 0; i < oracle->ask_count; i++)
		lose_ask(oracle, &oracle->asks[i]);
	for (i = 0; i < oracle->sent_count; i++)
		lose_sent(oracle, &oracle->sent[i]);
	oracle->trial[0] = '\0';
	oracle->served = false;
	oracle->told[CLIENT] = oracle->telling_count[CLIENT];
	oracle->own_count = 0;
	for (i = 0; i < SESSIONS; i++)
		oracle->sessions[i].opening = oracle->sessions[i].wanting = false;
	oracle->probing = oracle->unprobed = oracle->stuck = oracle->ignored = oracle->replaying =
	    false;
	oracle->logged_in = oracle->dismissed = oracle->pinged = false;
	oracle->ping[0] = '\0';
	oracle->fences = 0;
	oracle->away = true;
	oracle->life++;
}

static struct own *
find_own(struct oracle *oracle, int sent)
{
	int i;

	for (i = 0; i < oracle->own_count; i++)
		if (oracle->owns[i].sent == sent)
			return &oracle->owns[i];
	return NULL;
}

/* ---- ACP: the sessions that are open */

static struct open_session *
session_named(struct oracle *oracle, const char *name)
{
	return name[0] == '\0' ? NULL : &oracle->sessions[name[2] - '0'];
}

bool
oracle_is_opening(const struct oracle *oracle, const char *session)
{
	return session[0] != '\0' && oracle->sessions[session[2] - '0'].opening;
}

bool
oracle_is_unopened(const struct oracle *oracle, const char *session)
{
	return session[0] != '\0' && oracle->sessions[session[2] - '0'].lost;
}

void
oracle_look_for_unopened(struct oracle *oracle)
{
	const struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && ask->deed != NULL && (ask->deed->traits & TURN) &&
		    oracle_lives(oracle, ask) && oracle_is_unopened(oracle, ask->session))
			oracle_blame(oracle,
			    "7: %s is of a session that was not opened again, and is not answered",
			    ask->id);
}

static void
granted_in_session(struct oracle *oracle, const struct ask *ask, const char *name)
{
	struct open_session *session =
	    session_named(oracle, ask->deed->traits & OPENS ? name : ask->session);
	int number = (int)(ask - oracle->asks);

	if (ask->deed->traits & LOGIN && !ask->unrecorded)
		oracle->login = number;
	if (session == NULL || oracle->reopens == NULL || !oracle->initialized || ask->unrecorded)
		return;
	if (ask->deed->traits & OPENS)
		*session = (struct open_session){ number, -1, false, false, false };
	else if (ask->deed->traits & CLOSES)
		*session = (struct open_session){ -1, -1, false, false, false };
	else if (ask->deed->traits & SETTING && session->made >= 0)
		session->mode = number;
}

static bool
are_open(const struct oracle *oracle)
{
	bool open = true;

	for (int i = 0; i < SESSIONS; i++)
		open = open && !oracle->sessions[i].opening && !oracle->sessions[i].wanting;
	return open;
}

/* The present server must be told of this request; -1: of none. */
static void
repeat(struct oracle *oracle, int ask)
{
	if (ask >= 0)
		oracle->sent[oracle->asks[ask].sent].repeat = oracle->life;
}

/* What the new server must read: the params of what opened the session, with its id. */
static void
check_reopening(struct oracle *oracle, int number, const char *text, size_t len)
{
	const struct sent *sent = &oracle->sent[number];
	const char *params = strstr(sent->arrives, "\"params\":{") + strlen("\"params\":{"), *end;
	char wire[48], *wanted = NULL;
	int i = 0;

	while (i < SESSIONS - 1 && oracle->sessions[i].made != sent->ask)
		i++;
	jsontext_raw_id(text, len, wire, sizeof(wire));
	end = sent->arrives + sent->arrives_len - 1; /* behind them, or its last byte */
	if (sent->arrives[1] == '"' && sent->arrives[2] == 'm')
		end -= strlen(",\"jsonrpc\":\"2.0\",\"id\":") + strlen(oracle->asks[sent->ask].id);
	if (asprintf(&wanted,
		"{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":{\"sessionId\":\"s%d\",%.*s}",
		wire, oracle->reopens, i, (int)(end - params), params) < 0)
		abort();
	if (strlen(wanted) != len || memcmp(wanted, text, len) != 0)
		oracle_blame(oracle, "7: the new server is told %.*s", (int)(len < 300 ? len : 300),
		    text);
	free(wanted);
}

static void
begin_opening(struct oracle *oracle)
{
	for (int i = 0; i < SESSIONS; i++)
		oracle->sessions[i].opening = oracle->sessions[i].made >= 0;
}

/* A session that is refused is over, unless a login may help. */
static void
reopening_answered(struct oracle *oracle, const struct own *own, bool unknown)
{
	struct open_session *session = oracle->sessions;
	bool any = false;

	while (session->made != oracle->sent[own->sent].ask)
		session++;
	session->opening = false;
	if (own->granted || oracle->stuck)
		return;
	if (unknown && oracle->login >= 0 && !oracle->logged_in) {
		session->wanting = true;
		repeat(oracle, oracle->login);
		return;
	}
	if (session->mode >= 0)
		oracle->sent[oracle->asks[session->mode].sent].repeat = 0;
	*session = (struct open_session){ -1, -1, false, false, !oracle->stateless };
	for (int i = 0; i < SESSIONS; i++)
		any |= oracle->sessions[i].made >= 0;
	oracle->unopened = !any;
}

/* The login was repeated: those that wanted it are opened again. */
static void
login_answered(struct oracle *oracle)
{
	oracle->logged_in = true;
	for (int i = 0; i < SESSIONS; i++) {
		struct open_session *session = &oracle->sessions[i];

		if (!session->wanting)
			continue;
		find_own(oracle, oracle->asks[session->made].sent)->sent = -1;
		session->opening = true;
		session->wanting = false;
	}
}

/* The server has opened a session, so canceld goes on without what it does not answer in time. */
void
oracle_gives_up(struct oracle *oracle, const char *id)
{
	struct own *own = NULL;
	bool opened = false;

	for (int i = 0; i < oracle->own_count; i++) {
		opened |= oracle->owns[i].kind == OWN_SESSION && oracle->owns[i].granted;
		if (jsontext_same_id(oracle->owns[i].wire, id))
			own = &oracle->owns[i];
	}
	if (own == NULL || own->answered || !opened)
		return;
	if (oracle->now - oracle->back < REPLAY)
		oracle_blame(oracle, "7: a server had no time to answer %s", id);
	own->answered = true;
	if (own->kind == OWN_SESSION)
		reopening_answered(oracle, own, false);
	if (own->kind == OWN_LOGIN)
		login_answered(oracle);
}

void
oracle_back(struct oracle *oracle)
{
	int i;

	oracle->away = oracle->resting = false;
	oracle->fresh = oracle->replaying = true;
	oracle->back = oracle->now;
	oracle->came = ++oracle->step;
	if (oracle->shaken >= 0)
		oracle->sent[oracle->shaken].repeat = oracle->life;
	for (i = 0; i < oracle->setting_count; i++)
		oracle->sent[oracle->asks[oracle->settings[i]].sent].repeat = oracle->life;
	for (i = 0; i < SESSIONS; i++) {
		repeat(oracle, oracle->sessions[i].made);
		repeat(oracle, oracle->sessions[i].mode);
	}
}

static bool
is_same_setting(const struct oracle *oracle, int number, const struct ask *ask)
{
	const struct ask *other = &oracle->asks[number];

	return (other->name[0] == '\0') == (ask->name[0] == '\0') &&
	    strcmp(other->name, ask->name) == 0;
}

void
oracle_granted(struct oracle *oracle, const struct ask *ask, const char *session)
{
	int i, kept = 0;

	if (ask->deed->traits & HANDSHAKE)
		oracle->shaken = ask->sent;
	if (oracle->protocol == &protocols[ACP]) {
		granted_in_session(oracle, ask, session);
		return;
	}
	if (!(ask->deed->traits & (SETTING | UNSETTING)) || (ask->cancelled != 0 && !ask->owed) ||
	    (ask->deed->traits & SETTING && ask->unrecorded))
		return;
	for (i = 0; i < oracle->setting_count; i++)
		if (!is_same_setting(oracle, oracle->settings[i], ask))
			oracle->settings[kept++] = oracle->settings[i];
	if (ask->deed->traits & SETTING)
		oracle->settings[kept++] = (int)(ask - oracle->asks);
	oracle->setting_count = kept;
}

/* Nothing of it has to be sent any more; refused: nothing at all has to be. */
static bool
is_replayed(struct oracle *oracle, bool *refused)
{
	bool done = true;
	int i;

	done = are_open(oracle);
	*refused = oracle->unopened && !oracle->stateless;
	for (i = 0; i < oracle->sent_count; i++) {
		const struct sent *sent = &oracle->sent[i];
		const struct own *own;

		if (oracle->life == 0 || sent->repeat != oracle->life)
			continue;
		own = find_own(oracle, i);
		done = done && own != NULL && own->answered;
		*refused |=
		    own != NULL && own->kind == OWN_HANDSHAKE && own->answered && !own->granted;
	}
	return done;
}

bool
oracle_mode_changes(struct oracle *oracle, const char *name, int mode)
{
	struct open_session *session = session_named(oracle, name);
	bool refused;

	if (session->mode < 0 || oracle->asks[session->mode].mode == mode)
		return false;
	(void)is_replayed(oracle, &refused);
	if (oracle->replaying && !oracle->stuck && !refused && oracle->deaf_at == 0)
		return true;
	session->mode = -1;
	return false;
}

static void
check_replayed(struct oracle *oracle, const char *what)
{
	const struct sent *opened = &oracle->sent[oracle->opened];
	bool refused;

	if (!is_replayed(oracle, &refused) ||
	    (oracle->opened > 0 && opened->again && !opened->arrived))
		oracle_blame(oracle, "7: %s arrived before the new server knew all that it had to",
		    what);
	if (refused)
		oracle_blame(oracle, "7: %s arrived at a server that did not open the session",
		    what);
}

void
oracle_check_own_ids(struct oracle *oracle, const char *wire)
{
	int i;

	for (i = 0; i < oracle->own_count; i++)
		if (!oracle->owns[i].answered && jsontext_same_id(oracle->owns[i].wire, wire))
			oracle_blame(oracle, "7: the id %s is that of a question of canceld's own",
			    wire);
}

static void
check_fresh(struct oracle *oracle, const char *wire)
{
	const struct ask *ask;

	oracle_check_own_ids(oracle, wire);
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && ask->replied == 0 && oracle_is_at_work(oracle, ask) &&
		    jsontext_same_id(ask->wire, wire))
			oracle_blame(oracle, "7: canceld asks under the id %s, which is in use",
			    wire);
}

static void
add_own(struct oracle *oracle, enum own_kind kind, int sent, const char *wire)
{
	struct own *own = &oracle->owns[oracle->own_count];

	if (oracle->own_count == OWNS) {
		oracle_blame(oracle, "7: canceld asks too much");
		return;
	}
	check_fresh(oracle, wire);
	*own = (struct own){ .kind = kind, .sent = sent, .at = oracle->now };
	snprintf(own->wire, sizeof(own->wire), "%s", wire);
	oracle->own_count++;
}

static enum own_kind
kind_of(const struct ask *ask)
{
	if (ask->deed->traits & OPENS)
		return OWN_SESSION;
	return ask->deed->traits & LOGIN ? OWN_LOGIN : OWN_SETTING;
}

bool
oracle_got_again(struct oracle *oracle, int number, const char *text, size_t len)
{
	const struct sent *sent = &oracle->sent[number];
	bool handshake = number == oracle->shaken;
	const struct own *opening = oracle->shaken < 0 ? NULL : find_own(oracle, oracle->shaken);
	enum own_kind kind;
	char wire[48];

	if (oracle->life == 0 || sent->repeat != oracle->life)
		return false;
	kind = handshake ? OWN_HANDSHAKE : kind_of(&oracle->asks[sent->ask]);
	if (find_own(oracle, number) != NULL)
		oracle_blame(oracle, "7: the new server is told message %d twice", number);
	if (handshake && !oracle->fresh)
		oracle_blame(oracle,
		    "7: what opens the session is not what the new server reads first");
	if (!handshake && oracle->shaken >= 0 && (opening == NULL || !opening->granted))
		oracle_blame(oracle,
		    "7: the new server is told message %d before the session is open", number);
	if (kind == OWN_SESSION)
		check_reopening(oracle, number, text, len);
	else if (!jsontext_same_but_id(sent->arrives, sent->arrives_len, text, len))
		oracle_blame(oracle, "7: the new server is told %.*s", (int)(len < 300 ? len : 300),
		    text);
	if (kind == OWN_SETTING && !are_open(oracle))
		oracle_blame(oracle,
		    "7: the new server is told message %d, whose session is not open", number);
	jsontext_raw_id(text, len, wire, sizeof(wire));
	add_own(oracle, kind, number, wire);
	oracle->fresh = false;
	return true;
}

/* A message that the server may need to answer must not wait behind the client's requests. */
static void
check_ahead(struct oracle *oracle)
{
	const struct sent *sent;

	for (sent = oracle->sent; sent < oracle->sent + oracle->sent_count; sent++) {
		const struct ask *ask = sent->ask < 0 ? NULL : &oracle->asks[sent->ask];

		if (sent->urgent && !sent->arrived && !sent->bad && ask->life == oracle->life &&
		    ask->replied == sent->heard && ask->decided == 0 && ask->cancelled == 0 &&
		    ask->lost == 0 && !ask->crossed && !ask->cascaded)
			oracle_blame(oracle, "7: the answer to %s waits for the new server",
			    ask->id);
	}
}

static void
check_reader(struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	/*
	 * Once the former one is forgotten, its id may be that of the new server's request. In a
	 * batch a late answer passes.
	 */
	if (sent->kind == KIND_RESPONSE && ask->life != oracle->life &&
	    !oracle_may_be_forgotten(oracle, ask) &&
	    !(sent->batch >= 0 && ask->lost != 0 && sent->heard > ask->lost))
		oracle_blame(oracle, "7: an answer to %s, which another server had asked", ask->id);
	if (oracle->fresh && oracle->shaken >= 0)
		oracle_blame(oracle,
		    "7: the new server reads something before the session is open");
	if (sent->kind == KIND_REQUEST && oracle->probing &&
	    oracle->now - oracle->probe_at < oracle->kill_stuck && sent->heard > oracle->free &&
	    sent->heard > oracle->let && !sent->again && sent->begun != 0 &&
	    !(oracle->may_pass && sent->begun < oracle->probed) &&
	    /* else it was sent ahead of the probe */
	    (ask->released == 0 || ask->released > oracle->probed))
		oracle_blame(oracle, "7: %s arrived at a server that may be stuck", ask->id);
	if (sent->kind == KIND_REQUEST)
		oracle->may_pass = false;
	if (oracle->life > 0 && sent->kind == KIND_REQUEST) {
		check_replayed(oracle, ask->id);
		check_ahead(oracle);
	}
	if (sent->again && ask != NULL && ask->cancelled != 0 && ask->cancelled > oracle->lost &&
	    ask->cancelled < oracle->came)
		oracle_blame(oracle, "7: %s is asked again, and was cancelled", ask->id);
	oracle->fresh = false;
}

void
oracle_check_life(struct oracle *oracle, int to, const struct sent *sent, const struct ask *ask)
{
	if (to == SERVER) {
		check_reader(oracle, sent, ask);
	} else if (sent->life != oracle->life) {
		if (sent->heard == 0)
			oracle_blame(oracle, "7: a server that had gone says something");
		if (sent->kind == KIND_REQUEST && ask->wire[0] == '\0' && oracle->may_reach-- <= 0)
			oracle_blame(oracle, "7: %s arrived, and nobody is there to be answered",
			    ask->id);
	}
}

void
oracle_heard_stream(const struct oracle *oracle, struct sent *sent, const struct ask *ask)
{
	bool silent = ask->cancelled != 0 && !ask->owed;

	/*
	 * A cancelled stream that is owed an answer goes on until that comes, another one is silent
	 * at once.
	 */
	sent->due = oracle_lives(oracle, ask) && !silent;
	if (silent && ask->replied == 0 && ask->lost == 0 && oracle->now - ask->ending_at < LINGER)
		sent->kind = KIND_JUNK;
}

void
oracle_heard_beginning(struct oracle *oracle, struct sent *sent, struct ask *ask)
{
	oracle_heard_stream(oracle, sent, ask);
	if (!sent->due)
		return;
	if (ask->resumed) {
		sent->due = false;
		sent->kind = KIND_JUNK;
	}
	ask->resumed = false;
	ask->begun = true;
}

bool
oracle_is_held(const struct oracle *oracle, const struct ask *ask)
{
	uint64_t begun = oracle->sent[ask->sent].begun;

	if (ask->by != CLIENT || ask->wire[0] != '\0' || !oracle_lives(oracle, ask))
		return false;
	if (ask->waiting)
		return false;
	if (oracle->away || oracle->replaying)
		return true;
	return oracle->probing && oracle->now - oracle->probe_at < oracle->kill_stuck &&
	    begun > oracle->probed && begun > oracle->let;
}

/* What was held is written now, and is idle from now on. */
static void
release(struct oracle *oracle)
{
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (oracle_is_held(oracle, ask))
			ask->active = oracle->now;
}

/*
 * What the server has it may answer within the grace, perhaps once more if the answer has begun;
 * the rest, at once.
 */
void
oracle_check_deaf(struct oracle *oracle, const struct ask *ask)
{
	int64_t since = ask->asked > oracle->deaf_at ? ask->asked : oracle->deaf_at;
	int64_t grace =
	    ask->wire[0] == '\0' && ask->reply_begun == 0 ? 0 : oracle_grace(oracle, ask);

	if (ask->reply_begun != 0 && oracle->spoke > since)
		since = oracle->spoke;
	if (oracle->unread > since)
		since = oracle->unread;
	if (oracle->now - since > 2 * grace)
		oracle_blame(oracle, "1: %s waited %lld ms for a server that reads nothing",
		    ask->id, (long long)(oracle->now - since));
}

void
oracle_restarted(struct oracle *oracle)
{
	release(oracle);
	oracle->replaying = false;
	oracle->restarted += oracle->shaken >= 0 || oracle->modern;
}

/* Nothing waits for the answer to a probe any more. */
static void
probed(struct oracle *oracle)
{
	release(oracle);
	oracle->probing = false;
	oracle->free = ++oracle->step;
}

void
oracle_tries(struct oracle *oracle, const char *id)
{
	const struct ask *ask;

	if (oracle->replaying && oracle->reopens != NULL &&
	    strcmp(oracle->reopens, "session/load") == 0) {
		oracle->fences++;
		return;
	}
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (oracle_lives(oracle, ask) && (ask->cancelled == 0 || ask->owed))
			oracle_blame(oracle,
			    "7: canceld asks a server that is busy whether it answers at all");
	if (oracle->kill_stuck == 0 || oracle->protocol != &protocols[MCP] || oracle->opened == 0 ||
	    oracle->sent[oracle->opened].heard == 0 || oracle->tried || oracle->trial[0] != '\0')
		oracle_blame(oracle,
		    "7: canceld asks once too often whether the server answers at all");
	snprintf(oracle->trial, sizeof(oracle->trial), "%s", id);
	oracle->tried_at = oracle->now;
}

void
oracle_mutes(struct oracle *oracle)
{
	if (oracle->stuck)
		oracle_blame(oracle, "7: of a server that is to be ended an answer is expected");
	if (oracle->trial[0] == '\0' || oracle->tried ||
	    oracle->now - oracle->tried_at < oracle->kill_stuck)
		oracle_blame(oracle, "7: a server is said to answer nothing, and had no time");
	oracle->tried = oracle->mute = oracle->was_mute = true;
	oracle->unprobed = false;
	if (oracle->probing)
		probed(oracle);
}

void
oracle_own_answered(struct oracle *oracle, const struct sent *sent)
{
	struct own *own =
	    sent->own < 0 || sent->life != oracle->life ? NULL : &oracle->owns[sent->own];

	if (own == NULL)
		return;
	own->answered = true;
	own->granted = sent->grants;
	if (own->kind == OWN_SESSION)
		reopening_answered(oracle, own, sent->unknown);
	if (own->kind == OWN_TRIAL) {
		oracle->mute = false;
		oracle->tried = true;
	}
	if (oracle->stuck)
		return;
	if (own->kind == OWN_LOGIN)
		login_answered(oracle);
	if (own->kind == OWN_HANDSHAKE && own->granted && oracle->deaf_at == 0 &&
	    !oracle->client_left)
		begin_opening(oracle);
	if (own->kind == OWN_PROBE && own->at >= oracle->probe_at) /* not the one before */
		probed(oracle);
	if (own->kind == OWN_PING)
		oracle->pinged = false;
	/* else there is no replay any more */
	if (own->kind == OWN_HANDSHAKE && own->granted && oracle->deaf_at == 0)
		oracle->changes += sent->differs;
}

bool
oracle_is_probe(const char *method)
{
	return strcmp(method, "ping") == 0 || strcmp(method, "server/discover") == 0 ||
	    strcmp(method, "$/canceld/probe") == 0;
}

/*
 * A cancel of what was sent goes ahead of what waits, but for one in a batch: if that asks nothing,
 * it is meaningful to this server only.
 */
static bool
is_cancel_in_place(const struct oracle *oracle, const struct sent *sent)
{
	const struct ask *ask = sent->ask < 0 ? NULL : &oracle->asks[sent->ask];

	return sent->kind == KIND_CANCEL && sent->batch >= 0 && ask != NULL && ask->by == CLIENT &&
	    !ask->unsent && oracle_is_bound(oracle, sent);
}

/*
 * When canceld had the last message that this server may need and has not read: those before it do
 * not wait.
 */
static uint64_t
last_needed(const struct oracle *oracle)
{
	uint64_t last = 0;
	int i;

	for (i = 0; i < oracle->sent_count; i++) {
		const struct sent *sent = &oracle->sent[i];
		bool needed = sent->kind == KIND_RESPONSE || sent->kind == KIND_PROGRESS ||
		    sent->kind == KIND_TURN_CANCEL || i == oracle->opened ||
		    is_cancel_in_place(oracle, sent);

		if (sent->from == CLIENT && needed && !sent->arrived && sent->heard > last)
			last = sent->heard;
	}
	for (i = 0; i < oracle->ask_count; i++) {
		const struct ask *ask = &oracle->asks[i];
		uint64_t answered = ask->discarded != 0 ? ask->discarded :
		    ask->ours                           ? oracle->sent[ask->sent].heard :
							  ask->decided;

		if (ask->by == SERVER && !ask->answered && ask->lost == 0 && answered > last)
			last = answered;
	}
	return last;
}

void
oracle_probes(struct oracle *oracle, bool half)
{
	if (oracle->probing)
		oracle_blame(oracle, "7: a second question whether the server is alive");
	oracle->probing = true;
	oracle->probe_at = oracle->now;
	oracle->probed = ++oracle->step;
	oracle->may_pass = half;
	oracle->let = last_needed(oracle);
	/* one of its own elements may be the cancel for which it is asked */
	if (oracle->listening >= 0 && oracle->sent[oracle->listening].first >= 0)
		oracle_blocks_batch(oracle, &oracle->sent[oracle->listening]);
}

void
oracle_got_probe(struct oracle *oracle, const char *text, size_t len)
{
	static const char meta[] =
	    ",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}";
	bool mcp = oracle->protocol == &protocols[MCP], modern = mcp && oracle->modern, trial, ping;
	char wire[48], wanted[256];
	int i;

	jsontext_raw_id(text, len, wire, sizeof(wire));
	if (oracle->fences > 0) {
		oracle->fences--;
		add_own(oracle, OWN_FENCE, -1, wire);
		return;
	}
	trial = strcmp(wire, oracle->trial) == 0;
	ping = strcmp(wire, oracle->ping) == 0;
	snprintf(wanted, sizeof(wanted), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\"%s}",
	    wire,
	    modern  ? "server/discover" :
		mcp ? "ping" :
		      "$/canceld/probe",
	    modern && !ping ? meta : ""); /* that of a person has none */
	if (len != strlen(wanted) || memcmp(text, wanted, len) != 0)
		oracle_blame(oracle, "7: a probe is %.*s", (int)(len < 300 ? len : 300), text);
	if (ping) {
		add_own(oracle, OWN_PING, -1, wire);
		oracle->ping[0] = '\0';
		oracle->fresh = false;
		return;
	}
	if (oracle->kill_stuck == 0)
		oracle_blame(oracle, "7: a probe that nobody asked for");
	if (oracle->mute && !trial)
		oracle_blame(oracle, "7: a probe for a server that answers none");
	for (i = 0; i < oracle->own_count && !trial; i++)
		if (oracle->owns[i].kind == OWN_PROBE && !oracle->owns[i].answered &&
		    !oracle->was_mute)
			oracle_blame(oracle, "7: a second probe while one is not answered");
	check_replayed(oracle, "a probe");
	add_own(oracle, trial ? OWN_TRIAL : OWN_PROBE, -1, wire);
	oracle->unprobed &= trial;
	oracle->fresh = false;
}

/* Whether the server has declared that it announces changes of that list. */
static bool
has_list(const struct oracle *oracle, int list)
{
	return oracle->lists[list] && oracle->shaken >= 0 && oracle->protocol == &protocols[MCP];
}

bool
oracle_got_list_change(struct oracle *oracle, const char *method)
{
	int i;

	for (i = 0; i < LISTS; i++) {
		if (strcmp(method, lists[i]) != 0)
			continue;
		if (!has_list(oracle, i) || ++oracle->list_changes[i] > oracle->restarted)
			oracle_blame(oracle, "7: %s, which is not so", method);
		return true;
	}
	return false;
}

/* Whether the server may not wait for this: it was told that no answer comes. */
static bool
is_uncertain(const struct ask *ask)
{
	return ask->cancelled != 0 || ask->expired != 0 || ask->cascaded || ask->crossed;
}

bool
oracle_waits_for_client(const struct oracle *oracle, bool surely, int64_t since, int64_t from)
{
	const struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == SERVER && oracle_lives(oracle, ask) && ask->asked >= from &&
		    ask->asked <= since &&
		    !(surely ? is_uncertain(ask) : ask->cancelled != 0 && !ask->owed))
			return true;
	return false;
}

/* How long a server that has read a probe may go on writing, and answer nothing. */
static int64_t
longest_rave(const struct oracle *oracle)
{
	return 3 * oracle->kill_stuck > STUCK ? 3 * oracle->kill_stuck : STUCK;
}

/*
 * It gets its time twice more: until canceld looks for the first time, and for a message that was
 * read before the probe.
 */
static bool
raves(const struct oracle *oracle, const struct own *probe)
{
	int64_t since = probe->at > oracle->owed ? probe->at : oracle->owed;

	if (oracle->unread > since)
		since = oracle->unread;
	return oracle->responded_at <= oracle->probe_at &&
	    oracle->now - since > longest_rave(oracle) + 2 * oracle->kill_stuck;
}

/*
 * A server that has read anything meanwhile gets its time once more, and once more for the bytes
 * before the probe.
 */
void
oracle_still(struct oracle *oracle, bool at_end)
{
	const struct own *own =
	    oracle->own_count == 0 ? NULL : &oracle->owns[oracle->own_count - 1];
	bool read = own != NULL && own->kind == OWN_PROBE && !own->answered;
	int64_t since = oracle->moved > oracle->probe_at ? oracle->moved : oracle->probe_at;

	bool waits = oracle_waits_for_client(oracle, false, oracle->now, 0);

	oracle_ignore_pause(oracle, waits || oracle->unread == oracle->now);
	if (waits)
		oracle->moved = oracle->owed = oracle->now;
	else if (oracle->probing && !oracle->stuck && !oracle->away && !oracle->client_left &&
	    !oracle->server_died &&
	    (at_end || oracle->now - since > (read ? 2 : 3) * oracle->kill_stuck ||
		(read && raves(oracle, own))))
		oracle_blame(oracle, "7: a server is stuck, and nobody ends it");
}

void
oracle_stuck(struct oracle *oracle)
{
	bool refused, replayed = is_replayed(oracle, &refused);

	oracle->stuck = true;
	if (oracle->dismissed || oracle->ignored || refused ||
	    (!replayed && oracle->now - oracle->back >= REPLAY))
		return;
	if (!oracle->probing || oracle->now - oracle->probe_at < oracle->kill_stuck)
		oracle_blame(oracle,
		    "7: a server is to be ended that has answered everything in time");
	if (oracle->now - oracle->spoke < oracle->kill_stuck &&
	    !(oracle->now - oracle->probe_at >= longest_rave(oracle) &&
		oracle->answered_at <= oracle->probe_at))
		oracle_blame(oracle, "7: a server is to be ended that has just written something");
	if (oracle_waits_for_client(oracle, true, oracle->now, 0))
		oracle_blame(oracle, "7: a server is to be ended that waits for the client");
}

/* At the end of a world nothing is open, unless a request has no deadline. */
static void
check_tried(struct oracle *oracle)
{
	const struct ask *ask;

	if (oracle->kill_stuck == 0 || oracle->protocol != &protocols[MCP] || oracle->opened == 0 ||
	    !oracle->initialized || oracle->cut_short || oracle->away || oracle->stuck ||
	    oracle->tried || oracle->trial[0] != '\0')
		return;
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (oracle_lives(oracle, ask))
			return;
	oracle_blame(oracle, "7: an idle server was never asked whether it answers at all");
}

void
oracle_end_restarts(struct oracle *oracle)
{
	bool refused;
	int i;

	if (oracle->changed != oracle->changes)
		oracle_blame(oracle, "7: %d servers differed, and %d were said to", oracle->changes,
		    oracle->changed);
	if (oracle->client_left || oracle->server_died)
		return;
	check_probed(oracle);
	check_tried(oracle);
	oracle_still(oracle, !oracle->cut_short);
	if (oracle->resting && oracle_is_asked(oracle))
		oracle_blame(oracle, "7: the client asks, and no server comes");
	if (oracle->resting)
		return;
	if (oracle->away || !is_replayed(oracle, &refused) || refused)
		oracle_blame(oracle, "7: the new server never knew what it had to");
	for (i = 0; i < LISTS; i++)
		if (has_list(oracle, i) && oracle->list_changes[i] != oracle->restarted)
			oracle_blame(oracle,
			    "7: the client was told of %d new lists after %d restarts",
			    oracle->list_changes[i], oracle->restarted);
}
