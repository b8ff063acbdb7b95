#include "rows.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "load.h"

enum { HELD_WINDOW = 64, WARM = 200 };

#define SERVER(size_, id_, shape_, held_) .size = size_, .id = id_, .shape = shape_, .held = held_
#define LOAD(window_, count_) .window = window_, .count = count_
#define SMALL(held) SERVER("100", "first", "ascii", held)
#define ROUND_TRIPS(count) .kind = KIND_ROUND_TRIPS, SMALL("0"), LOAD(1, count)
#define REQUESTS(window, count) .kind = KIND_REQUESTS, SMALL("0"), LOAD(window, count)
#define HELD(held, count) .kind = KIND_REQUESTS, SMALL(held), LOAD(HELD_WINDOW, count)
#define BYTES(size, id, shape, window, count) .kind = KIND_BYTES, SERVER(size, id, shape, "0"), LOAD(window, count)

const struct row rows[ROWS] = {
	[ROW_ROUND_TRIP] = { .name = "round trip, 200 bytes", ROUND_TRIPS(8000) },
	[ROW_WINDOW_64] = { .name = "pipelined, window 64", REQUESTS(64, 150000) },
	[ROW_WINDOW_1024] = { .name = "pipelined, window 1024", REQUESTS(1024, 150000) },
	[ROW_BULK_64] = { .name = "in bulk, window 64", REQUESTS(64, 150000), .bulk = true },
	[ROW_BULK_1024] = { .name = "in bulk, window 1024", REQUESTS(1024, 150000), .bulk = true },
	[ROW_4K_FIRST] = { .name = "4 KB, id first", BYTES("4000", "first", "ascii", 64, 40000) },
	[ROW_4K_LAST] = { .name = "4 KB, id last", BYTES("4000", "last", "ascii", 64, 40000) },
	[ROW_64K_FIRST] = { .name = "64 KB, id first", BYTES("65536", "first", "ascii", 8, 4000) },
	[ROW_64K_LAST] = { .name = "64 KB, id last", BYTES("65536", "last", "ascii", 8, 4000) },
	[ROW_1M_FIRST] = { .name = "1 MB, id first", BYTES("1048576", "first", "ascii", 4, 250) },
	[ROW_1M_LAST] = { .name = "1 MB, id last", BYTES("1048576", "last", "ascii", 4, 250) },
	[ROW_64M_FIRST] = { .name = "64 MB, id first", BYTES("67108864", "first", "ascii", 1, 3) },
	[ROW_64M_LAST] = { .name = "64 MB, id last", BYTES("67108864", "last", "ascii", 1, 3) },
	[ROW_CJK] = { .name = "1 MB, CJK string", BYTES("1048576", "first", "cjk", 4, 250) },
	[ROW_ESCAPES] = { .name = "1 MB, quoted JSON", BYTES("1048576", "first", "escapes", 4, 250) },
	[ROW_TOKENS] = { .name = "1 MB, dense tokens", BYTES("1048576", "first", "tokens", 4, 250) },
	[ROW_SOCKETS_ROUND_TRIP] = { .name = "sockets: round trip", ROUND_TRIPS(8000), .sockets = true },
	[ROW_SOCKETS_WINDOW_64] = { .name = "sockets: window 64", REQUESTS(64, 150000), .sockets = true },
	[ROW_SOCKETS_1M] = { .name = "sockets: 1 MB", BYTES("1048576", "first", "ascii", 4, 250), .sockets = true },
	[ROW_HELD_10] = { .name = "10 outstanding", HELD("10", 100000) },
	[ROW_HELD_1000] = { .name = "1,000 outstanding", HELD("1000", 100000) },
	[ROW_HELD_100000] = { .name = "100,000 outstanding", HELD("100000", 100000) },
	[ROW_HELD_1000000] = { .name = "1,000,000 outstanding", HELD("1000000", 100000) },
	[ROW_START] = { .name = "start", .kind = KIND_START, SMALL("0") },
};

const char *
figure_name(enum row_kind kind, enum figure figure)
{
	static const char *const names[][FIGURES] = {
		[KIND_ROUND_TRIPS] = { "p50 us", "p99 us", "p99.9 us", NULL, "peak KiB" },
		[KIND_REQUESTS] = { "requests/s", NULL, NULL, NULL, "peak KiB" },
		[KIND_BYTES] = { "MB/s", NULL, NULL, NULL, "peak KiB" },
		[KIND_START] = { "ms to answer", NULL, NULL, "idle KiB", "peak KiB" },
	};

	return names[kind][figure];
}

static int
compare(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static void
run_round_trips(const struct row *row, struct load *load, double figures[FIGURES])
{
	double *ns = calloc(row->count, sizeof(*ns));

	if (ns == NULL)
		abort();
	load_round_trips(load, ns, WARM);
	load_round_trips(load, ns, row->count);
	qsort(ns, row->count, sizeof(*ns), compare);
	figures[FIGURE_MAIN] = ns[row->count / 2] / 1e3;
	figures[FIGURE_P99] = ns[(uint64_t)row->count * 99 / 100] / 1e3;
	figures[FIGURE_P999] = ns[(uint64_t)row->count * 999 / 1000] / 1e3;
	free(ns);
}

static void
run_stream(const struct row *row, struct load *load, double figures[FIGURES])
{
	uint64_t held = strtoul(row->held, NULL, 10), before;
	double start, seconds;

	load_stream(load, 1, 1, held);
	before = load->bytes;
	start = clock_ns();
	load_stream(load, row->count, row->window, held);
	seconds = (clock_ns() - start) / 1e9;
	figures[FIGURE_MAIN] =
	    row->kind == KIND_BYTES ? (double)(load->bytes - before) / 1e6 / seconds : row->count / seconds;
	if (held > 0)
		load_flush(load);
}

void
row_run(const struct row *row, enum way way, double figures[FIGURES])
{
	char size[16], id[8], shape[16], held[16], bulk[] = "bulk", each[] = "each";
	char *server[] = { getenv("SERVER"), size, id, shape, held, row->bulk ? bulk : each, NULL };
	double begun = clock_ns();
	struct peer peer;
	struct load load;

	snprintf(size, sizeof(size), "%s", row->size);
	snprintf(id, sizeof(id), "%s", row->id);
	snprintf(shape, sizeof(shape), "%s", row->shape);
	snprintf(held, sizeof(held), "%s", row->held);
	if (server[0] == NULL)
		give_up("SERVER is not set");
	peer_start(&peer, way, row->sockets, server);
	load_start(&load, &peer, row->bulk);
	if (row->kind == KIND_START)
		figures[FIGURE_MAIN] = (clock_ns() - begun) / 1e6;
	else if (row->kind == KIND_ROUND_TRIPS)
		run_round_trips(row, &load, figures);
	else
		run_stream(row, &load, figures);
	peer_measure(&peer);
	figures[FIGURE_RESIDENT] = (double)peer.resident;
	figures[FIGURE_PEAK] = (double)peer.peak;
	peer_end(&peer);
}
