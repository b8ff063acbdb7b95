/*
 * Every member of every struct of the session stands in a list below, with how it is put into the
 * digest. The lists also make positional initializers, so that a member which is in no list does
 * not compile.
 */
#include "digest.h"

#include "core/session/state.h"
#include "queue.h"

#pragma GCC diagnostic error "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces" /* of unions */

enum { ALARMS = 64, NEVER = -1000000 };

struct digest {
	struct buf *out;
	const struct session *session;
};

/* A list is LIST(ONE, MANY): ONE(member, how), MANY(array, how). */
#define INIT_ONE(member, how) it->member,
#define INIT_MANY(member, how) { 0 },
#define INIT_STRUCTS(member, how) { { 0 } },
#define WHOLE(type, list) ((void)sizeof((struct type){ list(INIT_ONE, INIT_MANY, INIT_STRUCTS) }))
#define PUT_ONE(member, how) put_##how(digest, it->member);
#define PUT_MANY(member, how) \
	for (size_t i = 0; i < sizeof(it->member) / sizeof(it->member[0]); i++) \
		put_##how(digest, it->member[i]);
#define PUT_STRUCTS(member, how) \
	for (size_t i = 0; i < sizeof(it->member) / sizeof(it->member[0]); i++) \
		put_##how(digest, &it->member[i]);
#define PUT(list) list(PUT_ONE, PUT_MANY, PUT_STRUCTS)

/* How: not at all, as it only reports, or follows from the rest; or by hand, behind the list. */
#define put_told(digest, value) ((void)(value))
#define put_derived(digest, value) ((void)(value))
#define put_apart(digest, value) ((void)(value))

static void
put_bytes(struct digest *digest, const void *bytes, size_t len)
{
	buf_append(digest->out, (struct span){ bytes, len });
}

/* Small ones as one byte. */
static void
put_integer(struct digest *digest, int64_t value)
{
	const unsigned char small =
	    value >= 0 && value < UINT8_MAX ? (unsigned char)value : UINT8_MAX;

	put_bytes(digest, &small, 1);
	if (small == UINT8_MAX)
		put_bytes(digest, &value, sizeof(value));
}

#define put_number(digest, value) put_integer(digest, (int64_t)(value))

static void
put_real(struct digest *digest, double value)
{
	put_bytes(digest, &value, sizeof(value));
}

static void
put_constant(struct digest *digest, const void *value) /* of the program */
{
	put_bytes(digest, &value, sizeof(value));
}

static void
put_span(struct digest *digest, struct span span)
{
	put_number(digest, span.len);
	buf_append(digest->out, span);
}

static void
put_buf(struct digest *digest, struct buf buf)
{
	put_span(digest, buf_span(&buf));
}

static void
put_bufs(struct digest *digest, const struct buf *buf)
{
	put_buf(digest, *buf);
}

static void
put_id(struct digest *digest, struct id id)
{
	put_span(digest, id.text); /* the hashes follow from it */
}

static void
put_deadline(struct digest *digest, const struct deadline *deadline)
{
	put_number(digest, deadline->after);
}

/* --- requests */

/* clang-format off */
#define BEAT(ONE, MANY, STRUCTS) \
	ONE(alarm, apart) /* in its timeline, as the other alarms */ \
	ONE(value, real) ONE(count, number) ONE(begun, number)

#define PLACE(ONE, MANY, STRUCTS) ONE(rule, apart) ONE(wait, apart) ONE(waited, told)

#define COPY(ONE, MANY, STRUCTS) ONE(start, apart) ONE(text, span)

#define REQUEST(ONE, MANY, STRUCTS) \
	ONE(id, id) ONE(token, id) ONE(wire_id, span) ONE(wire_token, span) \
	ONE(method, span) ONE(name, span) ONE(shown, span) ONE(meta, span) \
	ONE(traceparent, told) \
	ONE(row, constant) ONE(flags, number) ONE(items, number) STRUCTS(deadlines, deadline) \
	ONE(task, apart) ONE(answer, constant) \
	ONE(in, derived) ONE(from, number) ONE(traits, number) ONE(given_up, number) \
	ONE(passed, number) \
	ONE(state, number) ONE(name_count, number) ONE(size, derived) \
	ONE(withheld, number) ONE(superseded, number) ONE(apart, number) \
	ONE(needs_no_cancel, number) ONE(turn_told, number) \
	ONE(urgent, number) ONE(unread, number) ONE(again, told) ONE(begun, number) \
	ONE(repeats, number) ONE(overdue, number) ONE(graced, number) \
	ONE(start, apart) ONE(end, apart) \
	ONE(received, apart) \
	ONE(silent_from, told) /* for a hint */ \
	ONE(since, apart) \
	ONE(idle, apart) ONE(hard, apart) \
	ONE(heed, apart) \
	ONE(seen, told) /* and a person's change of a deadline, which no world has */ \
	ONE(beat, apart) ONE(place, apart) ONE(copy, apart) \
	ONE(progress, buf) ONE(record, buf) \
	ONE(older, derived) ONE(newer, derived) \
	ONE(serial, derived) /* the order */

#define PENDING(ONE, MANY, STRUCTS) \
	ONE(from, number) ONE(clocks, derived) ONE(lane, derived) \
	ONE(idle, apart) ONE(hard, apart) ONE(beats, apart) ONE(linger, apart) ONE(heed, apart) \
	ONE(count, number) ONE(held, derived) ONE(oldest, apart) ONE(newest, derived) \
	MANY(in_state, derived) ONE(persons, derived) ONE(handshakes, derived) \
	ONE(starting, derived) \
	STRUCTS(names, apart) /* in the requests */ \
	ONE(serial, derived)
/* clang-format on */

static int64_t
rank_of(const struct request *request)
{
	int64_t rank = 0;

	for (; request->older != NULL; request = request->older)
		rank++;
	return rank;
}

/* The age of a moment, as far as something looks at it. */
static void
put_age(struct digest *digest, msec_t then, msec_t most)
{
	put_number(digest, earlier(digest->session->clocks.steady - then, most));
}

static void
put_position(struct digest *digest, const struct request *it)
{
	const struct lane *lane = digest->session->party[it->from].lane;
	uint64_t gone = it->urgent ? lane->taken : lane->written;

	if (it->start == REQUEST_UNSENT)
		put_number(digest, NEVER);
	else
		put_number(digest, it->start < gone ? 0 : 1 + it->start - gone);
	if (it->start != REQUEST_UNSENT)
		put_number(digest, it->end <= gone ? 0 : it->end - gone);
}

/* The place of each of its names among the same ones: the first is found first. */
static void
put_names(struct digest *digest, const struct request *it)
{
	const struct map *map = &it->in->names[it->state == REQUEST_ABANDONED];

	for (size_t i = 0; i < it->name_count; i++) {
		const struct map_entry *entry = map_first(map, request_names(it)[i].entry.hash);
		int64_t place = 0;

		for (; entry != &request_names(it)[i].entry; entry = map_next(entry))
			place++;
		put_number(digest, place);
	}
}

static void
put_task(struct digest *digest, const struct request *it)
{
	const struct request *task = digest->session->party[it->from].tasks.oldest;

	while (task != NULL && task->serial != it->task)
		task = task->newer;
	put_number(digest, it->task == 0 || task == NULL ? NEVER : rank_of(task));
}

static void
put_beat(struct digest *digest, const struct beat *it)
{
	WHOLE(beat, BEAT);
	PUT(BEAT)
}

static void
put_place(struct digest *digest, const struct place *it)
{
	put_number(digest, it == NULL ? NEVER : it->rule - digest->session->parallel);
	if (it == NULL)
		return;
	WHOLE(place, PLACE);
	PUT(PLACE)
}

static void
put_copy(struct digest *digest, const struct copy *it)
{
	put_number(digest, it == NULL);
	if (it == NULL)
		return;
	put_number(digest, it->start >= digest->session->party[SIDE_CLIENT].lane->taken);
	WHOLE(copy, COPY);
	PUT(COPY)
}

static void
put_request(struct digest *digest, const struct request *it)
{
	const struct session *session = digest->session;

	WHOLE(request, REQUEST);
	PUT(REQUEST)
	put_beat(digest, &it->beat);
	put_place(digest, it->place);
	put_copy(digest, it->copy);
	put_position(digest, it);
	put_names(digest, it);
	put_task(digest, it);
	/* else a person's change of a deadline counts from then */
	put_number(digest, it->since == MSEC_NEVER);
	put_number(digest, it == session->server.excuse);
	put_number(digest, it->from == SIDE_SERVER && it->serial < session->server.next);
	if (it->in == &session->party[it->from].questions) { /* of others it is told only */
		put_age(digest, it->received, TIME_PROBE);
		put_number(digest, session->server.answered > it->received);
	}
}

static bool
is_due_before(const struct alarm *a, const struct alarm *b)
{
	return a->due < b->due || (a->due == b->due && a->order < b->order);
}

/* In the order in which they are due. */
static void
put_timeline(struct digest *digest, const struct timeline *it, msec_t now)
{
	const struct alarm *sorted[ALARMS];
	size_t at;

	assert(it->count <= ALARMS);
	(void)sizeof((struct timeline){ it->heap, it->count, it->room, it->armed });
	for (size_t i = 0; i < it->count; i++) {
		const struct alarm *alarm = it->heap[i];

		(void)sizeof((struct alarm){ alarm->timeline, alarm->owner, alarm->due,
		    alarm->order, alarm->place });
		for (at = i; at > 0 && is_due_before(alarm, sorted[at - 1]); at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = alarm;
	}
	put_number(digest, it->count);
	for (at = 0; at < it->count; at++) {
		put_number(digest, rank_of(sorted[at]->owner));
		put_number(digest,
		    sorted[at]->due == MSEC_NEVER / 2 ? NEVER : sorted[at]->due - now);
	}
}

static void
put_pending(struct digest *digest, const struct pending *it)
{
	const struct clocks *clocks = &digest->session->clocks;

	WHOLE(pending, PENDING);
	PUT(PENDING)
	put_timeline(digest, &it->idle, clocks_idle(clocks, it->from));
	put_timeline(digest, &it->hard, clocks->steady);
	put_timeline(digest, &it->beats, clocks->steady);
	put_timeline(digest, &it->linger, clocks->steady);
	put_timeline(digest, &it->heed, clocks->steady);
	for (const struct request *request = it->oldest; request != NULL; request = request->newer)
		put_request(digest, request);
}

/* --- lanes */

/* clang-format off */
#define LANE(ONE, MANY, STRUCTS) \
	ONE(written, derived) /* positions are relative to it */ \
	ONE(decided, apart) \
	ONE(taken, apart) /* in the probe */ \
	ONE(unread, number) \
	ONE(urgent, buf) ONE(stop, apart) ONE(framing, number) \
	ONE(mute, number) \
	ONE(bytes, buf) \
	ONE(queue, apart) ONE(cuts, apart) ONE(texts, buf) ONE(sent, number) ONE(backlog, derived)

#define FRAME(ONE, MANY, STRUCTS) \
	ONE(body, number) ONE(end, number) ONE(next, number) ONE(searched, number) \
	ONE(text, number) ONE(rest, number)

#define ACK(ONE, MANY, STRUCTS) ONE(request, apart) ONE(text, span) ONE(next, derived)

#define RECORD(ONE, MANY, STRUCTS) \
	ONE(row, constant) ONE(string, number) ONE(text, buf) ONE(name, buf) ONE(session, buf) \
	ONE(open, number)

#define RECORDS(ONE, MANY, STRUCTS) \
	ONE(list, apart) ONE(count, number) ONE(opened, buf) ONE(bytes, derived) \
	ONE(overflow, number) ONE(unkept, number) ONE(lost, apart) \
	ONE(unopened, number)

#define PARTY(ONE, MANY, STRUCTS) \
	ONE(side, number) ONE(lane, apart) ONE(frame, apart) ONE(other, derived) \
	ONE(outlet, derived) ONE(edits, derived) ONE(turns, derived) \
	ONE(records, derived) ONE(pending, apart) ONE(tasks, apart) ONE(acks, apart) \
	ONE(marks, apart) ONE(questions, apart) ONE(heard, apart) \
	MANY(asked, number) ONE(spoke, number) ONE(needs_jsonrpc, number) \
	ONE(ended, number) ONE(leaving, number) ONE(left, number) ONE(untracked, apart) \
	ONE(skipping, number) ONE(answers, number) ONE(asks, number) \
	ONE(skipped, number) ONE(kept, buf)
/* clang-format on */

static void
put_lane(struct digest *digest, const struct lane *it)
{
	WHOLE(lane, LANE);
	PUT(LANE)
	put_number(digest, it->decided - it->written);
	if (it->stop == LANE_FREE)
		put_number(digest, NEVER);
	else
		put_number(digest, it->stop <= it->written ? 0 : it->stop - it->written);
	for (size_t i = 0; i < queue_count(it); i++) {
		struct queue_view view = queue_at(it, i);

		put_number(digest, view.start);
		put_number(digest, view.next);
		put_number(digest, view.size);
		put_number(digest, view.cuts);
		put_number(digest, view.own);
		put_number(digest, view.bound);
	}
	for (size_t i = 0; i < queue_cuts(it); i++) {
		struct queue_cut cut = queue_cut_at(it, i);

		put_number(digest, cut.from);
		put_number(digest, cut.to);
		put_number(digest, cut.own);
	}
}

static void
put_frame(struct digest *digest, const struct frame *it)
{
	WHOLE(frame, FRAME);
	PUT(FRAME)
}

/*
 * How long ago something has to be, so that it does not matter how long: see time_left in
 * probe.c.
 */
static msec_t
horizon(const struct session *session)
{
	msec_t stuck = LIMIT_PATIENCES * session->config.kill_stuck,
	       ignoring = session->config.kill_ignoring;
	msec_t most = stuck > ignoring ? stuck : ignoring;

	return most == 0 || most > TIME_STUCK_LEAST ? most : TIME_STUCK_LEAST;
}

static void
put_ack(struct digest *digest, const struct ack *it)
{
	WHOLE(ack, ACK);
	PUT(ACK)
	put_number(digest, rank_of(it->request));
}

/* How its last request with an id ended, for a handful of ids; and the cancels that wait. */
static void
put_acks(struct digest *digest, const struct party *party)
{
	struct span left = buf_span(&party->marks);
	uint64_t marks[ALARMS] = { 0 }, mark;
	size_t count = 0, at;

	for (const struct ack *ack = party->acks; ack != NULL; ack = ack->next)
		put_ack(digest, ack);
	put_number(digest, NEVER); /* ends the list */
	assert(left.len <= sizeof(marks));
	for (; left.len > 0; left.len -= sizeof(mark)) { /* the newest first, and sorted */
		memcpy(&mark, left.ptr + left.len - sizeof(mark), sizeof(mark));

		for (at = 0; at < count && marks[at] >> 2 != mark >> 2;)
			at++;
		if (at < count)
			continue;
		for (at = count++; at > 0 && marks[at - 1] > mark; at--)
			marks[at] = marks[at - 1];
		marks[at] = mark;
	}
	put_span(digest, (struct span){ (const char *)marks, count * sizeof(marks[0]) });
}

static void
put_records(struct digest *digest, const struct records *records)
{
	const struct records *outer = records;

	{
		const struct records *it = outer;

		WHOLE(records, RECORDS);
		PUT(RECORDS)
		put_pending(digest, &it->lost);
	}
	for (const struct record *it = records->list; it < records->list + records->count; it++) {
		WHOLE(record, RECORD);
		PUT(RECORD)
	}
}

static void
put_party(struct digest *digest, const struct party *it)
{
	WHOLE(party, PARTY);
	PUT(PARTY)
	put_lane(digest, it->lane);
	put_frame(digest, &it->frame);
	put_pending(digest, &it->pending);
	put_pending(digest, &it->tasks);
	put_pending(digest, &it->questions);
	put_acks(digest, it);
	/*
	 * With a request that cannot be tracked, a deaf server is waited for: see
	 * session_server_owes.
	 */
	put_age(digest, it->heard, it->untracked > 0 ? TIME_STUCK_LEAST : horizon(digest->session));
	put_number(digest, it->untracked > 0);
	put_number(digest,
	    it->untracked <= it->lane->written ? 0 : it->untracked - it->lane->written);
}

/* --- the rest of a session */

/* clang-format off */
#define JOURNAL(ONE, MANY, STRUCTS) \
	ONE(act, told) ONE(user, told) ONE(traffic_unseen, told) \
	MANY(counts, apart) MANY(requests, apart) MANY(tallies, told) ONE(refusals, told)

#define HANDSHAKE(ONE, MANY, STRUCTS) \
	ONE(dialect, constant) ONE(dialect_known, number) ONE(framing_known, number) \
	ONE(plain, number) \
	ONE(opened, number) MANY(cancels, number) ONE(has_tasks, number) ONE(discovered, number) \
	ONE(extended, number) STRUCTS(declared, bufs) ONE(unread, number) ONE(logins, buf) \
	ONE(reopen, constant) ONE(version, buf) \
	ONE(client, told) \
	MANY(lists, number) ONE(era, number) ONE(awaited, number) ONE(open_by, apart) \
	ONE(front, apart)

#define SERVER(ONE, MANY, STRUCTS) \
	ONE(life, number) ONE(served, number) ONE(answered, apart) \
	ONE(next, apart) /* in the requests */ ONE(restarted, number) \
	ONE(probed, number) \
	ONE(closed, number) ONE(hung, number) ONE(shut, number) ONE(unstarted, number) \
	ONE(dismissed, number) ONE(logged_in, number) \
	ONE(probe, apart) /* with struct probe */ \
	ONE(excuse, apart) /* in the requests */ ONE(owed, apart) \
	ONE(status, told) ONE(signal, told) \
	ONE(said, buf) ONE(spoke_text, number) \
	ONE(kept, number) ONE(quote, told) ONE(refusal, buf) \
	ONE(refused, told) ONE(obstacle, told) /* in errors */

#define PROBE(ONE, MANY, STRUCTS) \
	ONE(client, derived) ONE(server, derived) ONE(outlet, derived) \
	ONE(cause, apart) ONE(taken, apart) ONE(released_to, apart) \
	ONE(since, apart) \
	ONE(took, told) ONE(trial, number) ONE(again, number)

#define OUTLET(ONE, MANY, STRUCTS) \
	ONE(journal, derived) ONE(handshake, derived) ONE(server, derived) ONE(config, derived) \
	MANY(lanes, derived) ONE(minted, number) \
	/* empty between two calls */ \
	ONE(fault, derived) ONE(words, derived) ONE(scratch, derived)

#define SESSION(ONE, MANY, STRUCTS) \
	ONE(journal, apart) ONE(handshake, apart) ONE(server, apart) ONE(outlet, apart) \
	STRUCTS(party, party) \
	ONE(turns, apart) ONE(records, apart) ONE(config, derived) /* the world's */ \
	ONE(clocks, apart) \
	ONE(probe, apart) ONE(parallel, apart) ONE(rule_count, number) \
	ONE(waiting, number)
/* clang-format on */

static void
put_journal(struct digest *digest, const struct journal *it)
{
	WHOLE(journal, JOURNAL);
	PUT(JOURNAL)
	put_number(digest, it->counts[WHY_BATCH] > 0);
	put_number(digest, it->counts[WHY_UNREAD] > 0);
	put_number(digest, it->requests[SIDE_CLIENT] > 0); /* session_cannot_restart */
}

static void
put_handshake(struct digest *digest, const struct handshake *it)
{
	const struct session *session = digest->session;
	uint64_t written = session->party[SIDE_CLIENT].lane->written;
	msec_t steady = session->clocks.steady;

	WHOLE(handshake, HANDSHAKE);
	PUT(HANDSHAKE)
	put_number(digest, it->front <= written ? 0 : it->front - written);
	if (session->waiting || !session->party[SIDE_SERVER].spoke) /* else nothing looks at it */
		put_number(digest, steady < it->open_by ? it->open_by - steady : 0);
}

static void
put_server(struct digest *digest, const struct server *it)
{
	WHOLE(server, SERVER);
	PUT(SERVER)
	put_age(digest, it->owed, horizon(digest->session));
}

static void
put_outlet(struct digest *digest, const struct outlet *it)
{
	WHOLE(outlet, OUTLET);
	PUT(OUTLET)
}

static void
put_probe(struct digest *digest, const struct probe *it)
{
	const struct session *session = digest->session;
	const struct lane *lane = session->party[SIDE_CLIENT].lane;
	const struct request *question = session->server.probe;
	msec_t since = session->clocks.idle - it->since;

	WHOLE(probe, PROBE);
	PUT(PROBE)
	put_pending(digest, &it->cause);
	put_number(digest, it->released_to <= lane->written ? 0 : it->released_to - lane->written);
	put_number(digest, question == NULL ? NEVER : rank_of(question));
	if (question == NULL)
		return; /* the rest is of the question */
	put_number(digest, lane->taken > it->taken);
	put_number(digest, earlier(since, horizon(session)));
}

/* Those that are held come in their order; since when does not matter. */
static void
put_parallel(struct digest *digest, const struct session *session)
{
	for (size_t i = 0; i < session->rule_count; i++) {
		const struct parallel *it = &session->parallel[i];

		(void)sizeof((struct parallel){ it->spare, it->held });
		put_number(digest, it->spare);
		put_timeline(digest, &it->held, session->clocks.steady);
	}
}

/* As what is due has its time relative to a clock, it is no matter how late it is. */
static void
put_clocks(struct digest *digest, const struct clocks *it)
{
	(void)sizeof(
	    (struct clocks){ it->now, it->planned, it->steady, it->idle, it->unread, it->stalled });
	put_number(digest, it->stalled);
	put_age(digest, it->unread, digest->session->config.kill_ignoring);
}

void
digest_session(const struct session *it, struct buf *out)
{
	struct digest storage = { out, it }, *digest = &storage;

	WHOLE(session, SESSION);
	PUT(SESSION)
	put_journal(digest, &it->journal);
	put_handshake(digest, &it->handshake);
	put_server(digest, &it->server);
	put_pending(digest, &it->turns);
	put_records(digest, &it->records);
	put_outlet(digest, &it->outlet);
	put_clocks(digest, &it->clocks);
	put_probe(digest, &it->probe);
	put_parallel(digest, it);
}
