/* A page that needs nothing but itself: no script, no network. How long something took is in ms. */

#include "core/compose.h"
#include "ctl/show.h"
#include "ctl/trace.h"
#include "shell/words.h"

enum {
	PAGE_MOST = 1 << 20, /* bytes */
	ROW_MOST = 8 << 10,  /* ... of a row, at most */
	TEXT_MOST = 160,     /* ... shown of a value */
	WIDTH = 1000         /* of a time line, in units of its own */
};

struct page {
	struct buf out;
	size_t omitted; /* rows */
};

static const char head[] =
    "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><title>canceld: a trace</title>"
    "<meta name=viewport content='width=device-width'><meta http-equiv=Content-Security-Policy "
    "content=\"default-src 'none'; style-src 'unsafe-inline'\"><style>\n"
    ":root{color-scheme:light dark;--bar:#3b76c4;--bad:#c8382e;--line:#d9dce1;--dim:#5c6470}\n"
    "@media(prefers-color-scheme:dark){:root{--bar:#6ba4ee;--bad:#f0716a;--line:#3b4048;--dim:#9aa3af}}\n"
    "body{font:14px/1.45 system-ui,sans-serif;max-width:80em;margin:1.5em auto;padding:0 1em}\n"
    "h1{font-size:1.4em;margin:0}h2{font-size:1.15em;margin:2em 0 .3em}p{margin:.3em 0;color:var(--dim)}\n"
    "table{border-collapse:collapse;width:100%;table-layout:fixed;margin:.6em 0}\n"
    "th,td{padding:.2em .5em;text-align:left;border-bottom:1px solid var(--line);overflow-wrap:anywhere}\n"
    "th{color:var(--dim);font-weight:normal}.n{text-align:right;width:5em;font-variant-numeric:tabular-nums}\n"
    ".o{width:9em}.t{width:24%}.w{width:11em}.c{font:12px monospace;width:19ch;white-space:nowrap;overflow:hidden}.bad{color:var(--bad)}\n"
    "svg{display:block;width:100%;height:1.1em}rect{fill:var(--bar)}.bad rect{fill:var(--bad)}\n"
    ".l{background:linear-gradient("
    "90deg,var(--line) 1px,transparent 1px) 0/25% 100%;padding:.2em 0}\n"
    "@media(max-width:700px){body{padding:0 .5em}.o,.w{width:5.5em}.c{width:10ch;white-space:normal}.n{width:4.2em}th,td{padding:.2em .25em}}\n"
    "</style><h1>What canceld saw</h1>";

/* Text from outside, cut, printable, and without any sign of HTML. */
static void
put(struct page *page, struct span text)
{
	BUF_AUTO plain = { 0 };

	printable_append(&plain, span_head(text, TEXT_MOST), "");
	for (size_t i = 0; i < plain.len; i++)
		if (strchr("<>&\"'", plain.data[i]) != NULL)
			compose_text(&page->out, "&#%d;", (int64_t)plain.data[i]);
		else
			buf_append(&page->out, span_at(&plain.data[i], 1));
	compose_text(&page->out, text.len > TEXT_MOST ? "..." : "");
}

static void
put_cell(struct page *page, const char *kind, const json_t *object, const char *key)
{
	compose_text(&page->out, "<td class=%s>", kind);
	put(page, show_string(object, key));
}

/* Begins a row, or something else, if there is room for it. */
static bool
has_room(struct page *page, const char *begin)
{
	bool room = page->out.len + ROW_MOST < PAGE_MOST;

	compose_text(&page->out, room ? begin : "");
	page->omitted += !room;
	return room;
}

static void
put_tools(struct page *page, const json_t *session)
{
	static const char *const numbers[] = { "count", "failed", "p50", "p95", "max" };
	json_auto_t *tools = json_object(), *rows = NULL;
	json_t *tool;

	trace_count(tools, session);
	rows = trace_tools(tools, 0);
	compose_text(&page->out,
	    "<table><tr><th class=t>request<th class=n>count<th class=n>failed<th class=n>p50 ms<th "
	    "class=n>p95 ms<th class=n>max ms");
	show_each (tool, rows) {
		if (!has_room(page, "<tr>"))
			continue;
		put_cell(page, "t", tool, "title");
		each_of (number, numbers) {
			compose_text(&page->out, "<td class=n>");
			column_text(&page->out, tool, *number);
		}
	}
	compose_text(&page->out, "</table>");
}

/* The time line of those that failed, or of all, from the first one on. */
static void
put_calls(struct page *page, const json_t *session, bool all)
{
	json_t *calls = json_object_get(session, "calls"), *call;
	msec_t first = show_number(json_array_get(calls, 0), "start"),
	       length = show_number(session, "end") - first + 1, start, time;

	compose_text(&page->out,
	    "<table><tr><th class=t>%s<th class=c>began<th>time line<th class=n>ms<th class=o>outcome<th class=w>why",
	    all ? "all requests" : "failed, lost or given up");
	show_each (call, calls) {
		if (!(all || trace_failed(call)) ||
		    !has_room(page, trace_failed(call) ? "<tr class=bad>" : "<tr>"))
			continue;
		start = show_number(call, "start");
		time = trace_end(session, call) - start;
		put_cell(page, "t", call, "title");
		compose_text(&page->out,
		    "<td class=c>%b<td class=l><svg viewBox=\"0 0 %d 10\" preserveAspectRatio=none><rect x=%d y=1 height=8 width=%d /></svg>"
		    "<td class=n>%d",
		    trace_clock(start), (int64_t)WIDTH, (start - first) * WIDTH / length,
		    time * WIDTH / length + 2, time);
		put_cell(page, "o", call, show_has(call, "tally") ? "tally" : "outcome");
		put_cell(page, "w", call, "reason");
	}
	compose_text(&page->out, "</table>");
}

/* A text, or a name and a version. */
static void
put_fact(struct page *page, const json_t *session, const char *key)
{
	json_t *fact = json_object_get(session, key);

	if (fact == NULL)
		return;
	compose_text(&page->out, " &middot; %s ", key);
	put(page, show_text(fact));
	put(page, show_string(fact, "name"));
	compose_text(&page->out, " ");
	put(page, show_string(fact, "version"));
}

static void
put_session(struct page *page, const json_t *session)
{
	static const char *const facts[] = { "dialect", "protocol", "client", "clientInfo",
		"serverInfo" };
	json_t *event;

	compose_text(&page->out, "<h2>");
	put(page, view_name(session));
	compose_text(&page->out, "</h2><p>%b, %b", trace_clock(show_number(session, "start")),
	    show_time(show_number(session, "end") - show_number(session, "start")));
	each_of (fact, facts)
		put_fact(page, session, *fact);
	show_each_in (event, session, "events") {
		if (!show_is(event, "why",
			"FAILED SERVER_EXITED RESTARTED RESTART_REFUSED OPERATOR_RESTARTED KILLED") ||
		    !has_room(page, trace_is_loss(event) ? "<p class=bad>" : "<p>"))
			continue;
		json_auto_t *reason = trace_reason(event);

		compose_text(&page->out, "%b %b ", trace_clock(show_number(event, "time")),
		    show_string(event, "why"));
		put(page, show_text(reason));
	}
	put_tools(page, session);
	put_calls(page, session, false);
	put_calls(page, session, true);
}

void
trace_html(const struct trace *trace)
{
	struct page page = { 0 };
	json_t *session;

	compose_text(&page.out, "%s", head);
	show_each (session, trace->sessions)
		if (has_room(&page, ""))
			put_session(&page, session);
	compose_text(&page.out,
	    page.omitted > 0 ? "<p>%d rows are left out: they do not fit into 1 MiB." : "",
	    (int64_t)page.omitted);
	show_buf(&page.out);
}
