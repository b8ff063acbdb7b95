/*
 * explore [--long] [--doubt] [--most STATES] [WORLD...]: breadth first through all states of each
 * world. The core cannot be copied: a state is its way from the start, and is reached by playing
 * that again.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "explore.h"

struct state {
	uint64_t digest[2];
	uint32_t parent;
	uint8_t event, depth;
};

struct search {
	const struct world *world;
	struct state *states;
	size_t count, room, most;
	uint32_t *table; /* places in states, from 1 */
	size_t size;     /* a power of two */
	/* unsure: states in which the judge does not know all of a request */
	uint64_t edges, unsure;
	struct buf digest;
	bool doubts; /* whether the digest is complete is tried */
	bool broken;
};

static size_t
slot_of(const struct search *search, const uint64_t digest[2])
{
	size_t slot = digest[0] & (search->size - 1);

	while (search->table[slot] != 0 &&
	    memcmp(search->states[search->table[slot] - 1].digest, digest, 16) != 0)
		slot = (slot + 1) & (search->size - 1);
	return slot;
}

static void
grow(struct search *search)
{
	search->room = search->room == 0 ? 1024 : 2 * search->room;
	search->size = 4 * search->room;
	search->states = mem_resize(search->states, search->room, sizeof(*search->states));
	free(search->table);
	search->table = mem_new(search->size * sizeof(*search->table));
	for (size_t i = 0; i < search->count; i++)
		search->table[slot_of(search, search->states[i].digest)] = (uint32_t)i + 1;
}

/* false: the state is known. */
static bool
add(struct search *search, const struct play *play, size_t parent, int event)
{
	uint64_t digest[2];
	size_t slot;

	world_digest(play, &search->digest);
	digest[0] = hash_of(buf_span(&search->digest), 1);
	digest[1] = hash_of(buf_span(&search->digest), 2);
	if (search->count == search->room)
		grow(search);
	slot = slot_of(search, digest);
	if (search->table[slot] != 0)
		return false;
	search->states[search->count++] =
	    (struct state){ { digest[0], digest[1] }, (uint32_t)parent, (uint8_t)event,
		    (uint8_t)(event < 0 ? 0 : search->states[parent].depth + 1) };
	search->table[slot] = (uint32_t)search->count;
	return true;
}

/* Plays the way to a state again. */
static void
go(const struct search *search, struct play *play, size_t number, bool script)
{
	uint8_t way[256];
	size_t len = search->states[number].depth;

	for (size_t i = len, at = number; i > 0; at = search->states[at].parent)
		way[--i] = search->states[at].event;
	world_begin(play, search->world, script);
	for (size_t i = 0; i < len; i++)
		world_step(play, way[i]);
}

/* The shortest way there is, as a scenario. */
static void
show(struct search *search, size_t number, int event, void (*silence)(struct play *play),
    const char *verdict)
{
	struct play play;

	search->broken = true;
	printf("# %s, promise %s\n", search->world->name, verdict);
	go(search, &play, number, true);
	if (event >= 0)
		world_step(&play, event);
	if (silence != NULL) {
		printf("# ... and both are silent\n");
		silence(&play);
	}
	world_end(&play);
}

/* What the state, this event and the next one lead to; 0: that cannot happen. event -1: none. */
static uint64_t
after(struct search *search, size_t number, int event, int next)
{
	struct play play;
	uint64_t hash = 0;

	go(search, &play, number, false);
	if (event >= 0)
		world_step(&play, event);
	if (world_may(&play, next)) {
		world_step(&play, next);
		world_digest(&play, &search->digest);
		hash = hash_of(buf_span(&search->digest), 1);
	}
	world_end(&play);
	return hash;
}

/*
 * The event of the state leads to one that is known: whichever the way to that was, the same must
 * follow.
 */
static void
doubt(struct search *search, const struct play *play, size_t number, int event)
{
	uint64_t digest[2];
	size_t known;

	world_digest(play, &search->digest);
	digest[0] = hash_of(buf_span(&search->digest), 1);
	digest[1] = hash_of(buf_span(&search->digest), 2);
	known = search->table[slot_of(search, digest)] - 1;
	for (int next = 0; next < WORLD_EVENTS && !search->broken; next++)
		if (after(search, number, event, next) != after(search, known, -1, next)) {
			show(search, number, event, NULL,
			    "0: two states are taken for one, this one");
			show(search, known, next, NULL,
			    "0: ... and this one, before its last event");
		}
}

/* The same state, with a server that goes on to read nothing. */
static void
follow_stalled(struct search *search, size_t number, int event)
{
	struct play play;

	go(search, &play, number, false);
	world_step(&play, event);
	world_stays_stalled(&play);
	if (play.verdict[0] != '\0')
		show(search, number, event, world_stays_stalled, play.verdict);
	world_end(&play);
}

/* One event of a state. */
static void
follow(struct search *search, struct play *play, size_t number, int event)
{
	bool stalled, unsure = false;

	search->edges++;
	play->strict = true;
	world_step(play, event);
	if (play->verdict[0] != '\0') {
		show(search, number, event, NULL, play->verdict);
		return;
	}
	stalled = play->model.stalled[SIDE_SERVER];
	if (!add(search, play, number, event)) {
		if (search->doubts)
			doubt(search, play, number, event);
		return;
	}
	for (int i = 0; i < WORLD_ASKS; i++)
		unsure |= play->model.known[i].unsure > 0;
	search->unsure += unsure;
	world_silence(play);
	if (play->verdict[0] != '\0')
		show(search, number, event, world_silence, play->verdict);
	else if (stalled)
		follow_stalled(search, number, event);
}

static void
expand(struct search *search, size_t number)
{
	bool may[WORLD_EVENTS], fresh = true;
	struct play play;

	go(search, &play, number, false);
	for (int event = 0; event < WORLD_EVENTS; event++)
		may[event] = world_may(&play, event);
	for (int event = 0; event < WORLD_EVENTS && !search->broken; event++) {
		if (!may[event])
			continue;
		if (!fresh) {
			world_end(&play);
			go(search, &play, number, false);
		}
		fresh = false;
		follow(search, &play, number, event);
	}
	world_end(&play);
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* false: a promise is broken. */
static bool
explore(const struct world *world, size_t most, bool doubts)
{
	struct search search = { .world = world, .most = most, .doubts = doubts };
	double begun = seconds();
	struct play play;
	size_t at;
	bool held;

	world_begin(&play, world, false);
	(void)add(&search, &play, 0, -1);
	world_end(&play);
	for (at = 0; at < search.count && search.count < search.most && !search.broken; at++)
		expand(&search, at);
	held = !search.broken;
	printf("%-14s %8zu states %9llu edges %3d deep %3.0f%% unsure %6.1f s  %s\n", world->name,
	    search.count, (unsigned long long)search.edges, search.states[search.count - 1].depth,
	    100.0 * (double)search.unsure / (double)search.count, seconds() - begun,
	    !held                 ? "BROKEN" :
		at < search.count ? "not closed" :
				    "closed");
	fflush(stdout);
	free(search.states);
	free(search.table);
	buf_free(&search.digest);
	return held;
}

static bool
is_wanted(const struct world *world, char *const names[], bool large)
{
	if (*names == NULL)
		return large || !world->large;
	while (*names != NULL && strcmp(*names, world->name) != 0)
		names++;
	return *names != NULL;
}

int
main(int argc, char *argv[])
{
	static const struct option options[] = { { "long", no_argument, NULL, 'l' },
		{ "doubt", no_argument, NULL, 'd' }, { "most", required_argument, NULL, 'm' },
		{ NULL, 0, NULL, 0 } };
	size_t most = 100000000;
	bool large = false, doubts = false, held = true;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			return 2;
		large |= option == 'l';
		doubts |= option == 'd';
		if (option == 'm')
			most = strtoull(optarg, NULL, 10);
	}
	for (size_t i = 0; i < world_count; i++)
		if (is_wanted(&worlds[i], argv + optind, large))
			held &= explore(&worlds[i], most, doubts);
	return !held;
}
