#include "core/scan.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"
#include "scan_machine.h"

struct scan *
scan_new(enum scan_end end)
{
	struct scan *scan = mem_new(sizeof *scan);

	scan->end = end;
	watch_init(&scan->watch);
	scan_start(scan);
	return scan;
}

void
scan_free(struct scan *scan)
{
	free(scan);
}

void
scan_start(struct scan *scan)
{
	machine_start(scan);
}

void
scan_use_vectors(struct scan *scan, bool vectors)
{
	scan->string.scalar = !vectors;
}

size_t
scan_feed(struct scan *scan, const char *bytes, size_t len)
{
	if (len == 0 || scan->state == ENDED)
		return 0;
	return (size_t)(machine_run(scan, bytes, bytes + len) - bytes);
}

void
scan_finish(struct scan *scan)
{
	if (scan->state != ENDED)
		machine_finish(scan);
}

bool
scan_ended(const struct scan *scan)
{
	return scan->state == ENDED;
}

enum value_type
scan_type(const struct scan *scan)
{
	return scan->type;
}

bool
scan_complete(const struct scan *scan)
{
	return scan->complete;
}

enum scan_fault
scan_fault(const struct scan *scan)
{
	return scan->fault;
}

uint64_t
scan_fault_offset(const struct scan *scan)
{
	return scan->fault_offset;
}

uint64_t
scan_value_start(const struct scan *scan)
{
	return scan->value_start;
}

uint64_t
scan_value_end(const struct scan *scan)
{
	return scan->value_end;
}

bool
scan_bom(const struct scan *scan)
{
	return scan->bom;
}

const struct scan_value *
scan_value(const struct scan *scan, enum scan_field field)
{
	assert(field < SCAN_FIELDS);
	return watch_found(&scan->watch, field);
}

struct span
scan_text(const struct scan *scan, enum scan_field field)
{
	const struct scan_value *value = scan_value(scan, field);
	const char *bytes = field == SCAN_PARAMS_META ? scan->watch.members : scan->watch.kept;

	return (struct span){ bytes + value->at, value->len };
}
