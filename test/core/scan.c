#include "core/scan.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

static const char *const type_names[] = { "nothing", "null", "bool", "number", "string", "object",
	"array" };

static const char *const fault_names[] = { "fine", "broken", "utf8", "control", "depth",
	"repeated id", "repeated method", "syntax", "trailing", "cut" };

/* All fields, in the order in which they are dumped. */
static const struct {
	enum scan_field field, parent;
	const char *name, *key;
} fields[] = {
#define ROW(name, parent, key) { SCAN_##name, SCAN_##parent, #name, key },
	SCAN_LIST(ROW)
#undef ROW
};

enum { DUMP_MAX = 64 << 10, MESSAGE_MAX = 64 << 10 };

static void
check_place(const struct scan *scan, enum scan_field field, struct span input)
{
	const struct scan_value *value = scan_value(scan, field);
	enum value_type type = scan_type(scan, field);

	ck_assert_uint_lt(value->offset, input.len);
	ck_assert(strchr("nt-\"{[f0123456789", input.ptr[value->offset]) != NULL);
	ck_assert_uint_le(value->end, input.len);
	if (scan_value(scan, SCAN_TEXT)->end > 0)
		ck_assert_uint_gt(value->end, value->offset);
	if (type >= VALUE_OBJECT && value->end > 0)
		ck_assert(input.ptr[value->end - 1] == (type == VALUE_OBJECT ? '}' : ']'));
}

/* All results of the scanner, as words: "object 2-17, trailing@18, id=7, params:array". */
static const char *
dump(const struct scan *scan, struct span input)
{
	static char text[DUMP_MAX];
	int len = sprintf(text, "%s", type_names[scan_type(scan, SCAN_TEXT)]);

	if (scan_value(scan, SCAN_TEXT)->end > 0 && scan_value(scan, SCAN_TEXT)->offset == 0 &&
	    scan_value(scan, SCAN_TEXT)->end == input.len)
		len += sprintf(text + len, " whole");
	else if (scan_value(scan, SCAN_TEXT)->end > 0)
		len += sprintf(text + len, " %d-%d", (int)scan_value(scan, SCAN_TEXT)->offset,
		    (int)scan_value(scan, SCAN_TEXT)->end);
	if (scan->fault != SCAN_FINE)
		len += sprintf(text + len, ", %s@%d", fault_names[scan->fault],
		    (int)scan->fault_offset);
	for (int i = 0; i < COUNT(fields); i++) {
		struct span kept = scan_text(scan, fields[i].field);

		if (!scan_has(scan, fields[i].field))
			continue;
		check_place(scan, fields[i].field, input);
		len += sprintf(text + len, ", %s", fields[i].name);
		if (scan_unkept(scan, fields[i].field))
			len += sprintf(text + len, " not kept");
		else if (kept.len > 0)
			len += sprintf(text + len, "=%.*s", (int)kept.len, kept.ptr);
		else
			len += sprintf(text + len, ":%s",
			    type_names[scan_type(scan, fields[i].field)]);
	}
	return text;
}

/* Scans an exact copy, so that a memory checker sees what is read behind it. */
static void
check_scan(struct span input, const char *want)
{
	char *copy = mem_resize(NULL, input.len, 1);
	struct span text = { copy, input.len };
	struct scan scan;

	if (input.len > 0)
		memcpy(copy, input.ptr, input.len);
	scan_read(&scan, text);
	ck_assert_str_eq(dump(&scan, text), want);
	free(copy);
}

#define META "io.modelcontextprotocol/"

static const struct {
	const char *input, *want;
} messages[] = {
	{ "{}", "object whole" },
	{ " \t\r{ } \r", "object 3-6" },
	{ "", "nothing" },
	{ " \t \r", "nothing" },
	{ "\xEF\xBB{\"id\":1}", "nothing, syntax@0" },
	{ "\xEF\xBB", "nothing, syntax@0" },
	{ "\xEF", "nothing, syntax@0" },
	{ " \xEF\xBB\xBF{}", "nothing, syntax@1" },
	{ "17", "number whole" },
	{ " -0.5e+10 ", "number 1-9" },
	{ "true", "bool whole" },
	{ "[{\"id\":1,\"method\":\"a\"}]", "array whole, ELEMENT_ID=1, ELEMENT_METHOD=\"a\"" },
	{ "[{\"id\":1},[{\"id\":2}],3,{\"id\":4},{\"method\":[]},[{\"id\":5}]]",
	    "array whole, ELEMENT_METHOD:array" },
	{ "{\"a\":[{\"id\":1,\"id\":2}]}", "object whole" },
	{ "[[{\"id\":1,\"id\":2}]]", "array whole" },
	{ "\"id\"", "string whole" },

	{ "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890123,\"method\":\"tools/call\"}",
	    "object whole, ID=12345678901234567890123, METHOD=\"tools/call\", JSONRPC=\"2.0\"" },
	{ "{\"jsonrpc\":2.0,\"result\":null,\"id\":\"\\u0061\"}",
	    "object whole, ID=\"\\u0061\", RESULT=null, JSONRPC=2.0" },
	{ "{ \"id\" : -1.50E+2 , \"error\" : { \"code\" : -32800 , \"data\" : { \"code\" : 1 } } }",
	    "object whole, ID=-1.50E+2, ERROR_CODE=-32800, ERROR_DATA:object, ERROR:object" },
	{ "{\"id\":null,\"method\":true,\"params\":false,\"error\":[],\"result\":1}",
	    "object whole, ID=null, ERROR:array, RESULT=1, PARAMS=false, METHOD=true" },
	{ "{\"error\":{\"message\":\"no \\u0022x\\u0022\",\"code\":-1,\"data\":{\"message\":1}},\"message\":2}",
	    "object whole, ERROR_CODE=-1, ERROR_DATA:object, ERROR:object, ERROR_MESSAGE=\"no \\u0022x\\u0022\"" },
	{ "{\"error\":{\"message\":{\"a\":[]},\"m\\u0065ssage\":2}}",
	    "object whole, ERROR:object, ERROR_MESSAGE=2" },
	{ "{\"id\":[ ],\"params\":{ },\"result\":[{}],\"error\":{\"message\":{},\"code\":[ [] ]},\"method\":{\"a\":{}}}",
	    "object whole, ID:array, ERROR_CODE:array, ERROR:object, RESULT:array, PARAMS:object, "
	    "METHOD:object, ERROR_MESSAGE:object" },
	{ "{\"params\":{\"_meta\":{},\"task\":{\"x\":{}}},\"result\":{\"a\": { \"tools\":{} } ,\"task\":{}}}",
	    "object whole, TASK:object, CREATED_TASK:object, REQUEST_META:object, RESULT:object, PARAMS:object" },
	{ "{\"id\":{\"id\":1},\"method\":[\"id\"],\"jsonrpc\":{}}",
	    "object whole, ID:object, METHOD:array, JSONRPC:object" },
	{ "{\"id\":\"caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC\"}",
	    "object whole, ID=\"caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC\"" },

	/* keys are compared after unescaping, and as a whole */
	{ "{\"\\u0069\\u0064\":1}", "object whole, ID=1" },
	{ "{\"i\\u0064\":1,\"I\\u0064\":2,\"i\":3,\"idd\":4,\"\":5,\"id\\u0000\":6,\"\\\\id\":7}",
	    "object whole, ID=1" },
	{ "{\"params\":{\"\\u005Fmeta\":{\"progress\\u0054oken\":\"\\\"\"}}}",
	    "object whole, REQUEST_META:object, PARAMS:object, META_TOKEN=\"\\\"\"" },
	{ "{\"\xC3\xA9\":1,\"\\u00e9\":2,\"id\xC3\xA9\":3}", "object whole" },

	/* only these paths count */
	{ "{\"a\":{\"id\":1},\"b\":[{\"id\":2},{\"params\":{\"name\":\"x\"}}],\"c\":\"\\\"id\\\":3\"}",
	    "object whole" },
	{ "{\"params\":[{\"name\":1},\"requestId\",2]}", "object whole, PARAMS:array" },
	{ "{\"params\":{\"arguments\":{\"name\":1,\"_meta\":{\"progressToken\":2}},\"params\":{\"uri\":3}}}",
	    "object whole, PARAMS:object" },
	{ "{\"result\":{\"result\":{\"taskId\":1},\"error\":{\"code\":2},\"_meta\":{\"progressToken\":3}}}",
	    "object whole, RESULT_META:object, RESULT:object" },
	{ "{\"error\":{\"id\":1,\"code\":-1,\"taskId\":2},\"_meta\":{\"progressToken\":3}}",
	    "object whole, ERROR_CODE=-1, ERROR:object" },
	{ "{\"params\":{\"_meta\":[{\"progressToken\":1}],\"task\":[{\"taskId\":2}]},\"result\":[{\"taskId\":1}]}",
	    "object whole, TASK:array, REQUEST_META:array, RESULT:array, PARAMS:object" },
	{ "{\"params\":{\"id\":1,\"requestId\":2,\"name\":\"n\",\"uri\":\"u\",\"sessionId\":\"s\",\"reason\":\"r\","
	  "\"task\":{\"ttl\":1},\"taskId\":\"t\",\"status\":\"w\",\"token\":3,\"progressToken\":4}}",
	    "object whole, PARAMS_ID=1, URI=\"u\", TASK:object, NAME=\"n\", TOKEN=3, REASON=\"r\", "
	    "STATUS=\"w\", TASK_ID=\"t\", PARAMS:object, REQUEST_ID=2, SESSION_ID=\"s\", PROGRESS_TOKEN=4" },
	{ "{\"result\":{\"protocolVersion\":\"v\",\"resultType\":\"task\",\"taskId\":\"a\",\"status\":\"b\","
	  "\"task\":{\"taskId\":\"c\",\"task\":{\"taskId\":\"d\"}},"
	  "\"_meta\":{\"" META "subscriptionId\":1,\"" META "protocolVersion\":2}}}",
	    "object whole, CREATED_TASK:object, RESULT_META:object, RESULT_STATUS=\"b\", RESULT_TASK_ID=\"a\", "
	    "CREATED_TASK_ID=\"c\", RESULT:object, RESULT_TYPE=\"task\", RESULT_VERSION=\"v\", RESULT_SUBSCRIPTION=1" },
	{ "{\"result\":{\"task\":\"t\",\"_meta\":null,\"status\":[1],\"taskId\":2}}",
	    "object whole, CREATED_TASK=\"t\", RESULT_META=null, RESULT_STATUS:array, RESULT_TASK_ID=2, RESULT:object" },

	/* almost a key */
	{ "{\"iD\":1,\"id\\u0000\":2,\"i\":3,\"\":4,\"jsonrpC\":5,\"jsonrpcs\":6,\"methods\":7}",
	    "object whole" },
	{ "{\"params\":{\"requestID\":1,\"progressTokeN\":2,\"partialResultTokeN\":3,\"protocolVersions\":4,\"progress\":5},"
	  "\"result\":{\"resultTypE\":1,\"_meta\":{\"" META "subscriptionID\":2,\"" META
	  "subscriptioNId\":3}}}",
	    "object whole, RESULT_META:object, RESULT:object, PARAMS:object" },

	/* LSP: a request's two tokens */
	{ "{\"method\":\"a\",\"params\":{\"partialResultToken\":\"p\",\"workDoneToken\":7},\"id\":1}",
	    "object whole, ID=1, PARAMS:object, METHOD=\"a\", WORK_TOKEN=7, PARTIAL_TOKEN=\"p\"" },
	{ "{\"params\":{\"workDoneToken\":null,\"partialResultToken\":[1],\"token\":\"t\"}}",
	    "object whole, TOKEN=\"t\", PARAMS:object, WORK_TOKEN=null, PARTIAL_TOKEN:array" },
	{ "{\"params\":{\"work\\u0044oneToken\":\"\\u0061\",\"workDonetoken\":1,\"workDoneTokens\":2}}",
	    "object whole, PARAMS:object, WORK_TOKEN=\"\\u0061\"" },
	{ "{\"params\":{\"value\":{\"workDoneToken\":1,\"partialResultToken\":2},\"x\":\"\\\"workDoneToken\\\":3\"}}",
	    "object whole, PARAMS:object" },
	{ "{\"workDoneToken\":1,\"result\":{\"workDoneToken\":2,\"partialResultToken\":3}}",
	    "object whole, RESULT:object" },

	/* which protocol the message belongs to */
	{ "{\"params\":{\"protocolVersion\":1}}", "object whole, PARAMS:object, PARAMS_VERSION=1" },
	{ "{\"params\":{\"protocolVersion\":\"2025-11-25\"},\"id\":0}",
	    "object whole, ID=0, PARAMS:object, PARAMS_VERSION=\"2025-11-25\"" },
	{ "{\"params\":{\"protocolVersion\":{\"protocolVersion\":1}}}",
	    "object whole, PARAMS:object, PARAMS_VERSION:object" },
	{ "{\"protocolVersion\":1,\"params\":{\"a\":{\"protocolVersion\":2},\"_meta\":{\"protocolVersion\":3}}}",
	    "object whole, REQUEST_META:object, PARAMS:object" },
	{ "{\"params\":[{\"protocolVersion\":1}],\"result\":{\"protocolVersion\":2}}",
	    "object whole, RESULT:object, PARAMS:array, RESULT_VERSION=2" },

	/* ACP: how a turn ended */
	{ "{\"result\":{\"stopReason\":\"cancelled\"},\"id\":7}",
	    "object whole, ID=7, RESULT:object, STOP_REASON=\"cancelled\"" },
	{ "{\"stopReason\":1,\"result\":{\"_meta\":{\"stopReason\":2},\"usage\":{\"stopReason\":3}},"
	  "\"params\":{\"stopReason\":4}}",
	    "object whole, RESULT_META:object, RESULT:object, PARAMS:object" },
	{ "{\"result\":[{\"stopReason\":1}],\"error\":{\"stopReason\":2,\"code\":3}}",
	    "object whole, ERROR_CODE=3, ERROR:object, RESULT:array" },

	/* of repeated members the last one counts, and nothing beneath a former one */
	{ "{\"params\":{\"uri\":1},\"params\":{\"uri\":2,\"name\":3}}",
	    "object whole, URI=2, NAME=3, PARAMS:object" },
	{ "{\"params\":{\"uri\":1,\"name\":2},\"params\":{\"name\":3}}",
	    "object whole, NAME=3, PARAMS:object" },
	{ "{\"params\":{\"uri\":1},\"params\":[]}", "object whole, PARAMS:array" },
	{ "{\"params\":[],\"p\\u0061rams\":{\"uri\":2}}", "object whole, URI=2, PARAMS:object" },
	{ "{\"params\":{\"uri\":1,\"_meta\":{\"progressToken\":1}},\"params\":", "object, cut@57" },
	{ "{\"params\":{\"uri\":\"a\",\"uri\"", "object, cut@26, PARAMS:object" },
	{ "{\"params\":{\"uri\":\"a\",\"uri\":\"b", "object, cut@29, PARAMS:object" },
	{ "{\"params\":{\"uri\":\"a\",\"uri\":{\"x\":1}}}",
	    "object whole, URI:object, PARAMS:object" },
	{ "{\"result\":{\"taskId\":1},\"result\":1}", "object whole, RESULT=1" },
	{ "{\"error\":{\"code\":1,\"message\":\"a\",\"code\":2},\"error\":{\"code\":3}}",
	    "object whole, ERROR_CODE=3, ERROR:object" },
	{ "{\"jsonrpc\":\"1.0\",\"jsonrpc\":\"2.0\"}", "object whole, JSONRPC=\"2.0\"" },
	{ "{\"params\":{\"_meta\":{\"" META "a\":1,\"" META "protocolVersion\":2}},\"params\":{}}",
	    "object whole, PARAMS:object" },
	{ "{\"result\":{\"task\":{\"taskId\":1},\"task\":{}}}",
	    "object whole, CREATED_TASK:object, RESULT:object" },
	{ "{\"params\":{\"task\":{},\"task\":2}}", "object whole, TASK=2, PARAMS:object" },
	{ "{\"a\":1,\"a\":2,\"params\":{\"a\":1,\"a\":1,\"id\":3,\"id\":5},\"id\":4}",
	    "object whole, PARAMS_ID=5, ID=4, PARAMS:object" },
};

SUITE("scan");

TESTS(sees_the_message, 0, sizeof messages / sizeof *messages)
{
	check_scan((struct span){ messages[_i].input, strlen(messages[_i].input) },
	    messages[_i].want);
}

static const struct {
	const char *input, *want;
} faults[] = {
	/* the end of a frame inside a value */
	{ "{", "object, cut@1" },
	{ "{\"id\":1", "object, cut@7, ID:null" },
	{ "{\"id\":1,", "object, cut@8, ID=1" },
	{ "{\"id\":\"1", "object, cut@8, ID:null" },
	{ "{\"id\":\"1\\", "object, cut@9, ID:null" },
	{ "{\"id\":\"1\\u00", "object, cut@12, ID:null" },
	{ "{\"id\":tru", "object, cut@9, ID:null" },
	{ "{\"id\":true", "object, cut@10, ID=true" },
	{ "{\"id\":[1]", "object, cut@9, ID:array" },
	{ "{\"id\":[1", "object, cut@8, ID:array" },
	{ "{\"id\"", "object, cut@5, ID:null" },
	{ "{\"id\":", "object, cut@6, ID:null" },
	{ "-", "nothing, cut@1" },
	{ "1.", "nothing, cut@2" },
	{ "1e", "nothing, cut@2" },
	{ "nul", "nothing, cut@3" },
	{ "\"a", "nothing, cut@2" },
	{ "[1,", "array, cut@3" },

	/* after a value */
	{ "{}{}", "object 0-2, trailing@2" },
	{ "{\"id\":1} x", "object 0-8, trailing@9, ID=1" },
	{ "17 18", "number 0-2, trailing@3" },
	{ "\"a\"b", "string 0-3, trailing@3" },
	{ "{}\x01", "object 0-2, trailing@2" },
	{ "[]]", "array 0-2, trailing@2" },

	/* text that is not JSON: nothing of it is read */
	{ "hello {\"id\":1}", "nothing, syntax@0" },
	{ "}{\"id\":1}", "nothing, syntax@0" },
	{ "\x01{\"id\":1}", "nothing, syntax@0" },
	{ "[info] {\"id\":1}", "array, syntax@1" },
	{ "{id:1}", "object, syntax@1" },
	{ "'a'", "nothing, syntax@0" },
	{ "nothing", "nothing, syntax@1" },
	{ "12:30 started", "nothing, syntax@2" },

	/* after a hard fault nothing is read; no half number is taken for an id */
	{ "{\"id\":1,\"method\"\"a\",\"result\":1}", "object, syntax@16, ID=1, METHOD:null" },
	{ "{\"id\":01}", "object, syntax@7, ID:null" },
	{ "{\"id\":1x}", "object, syntax@7, ID:null" },
	{ "{\"id\":1\"a\"}", "object, syntax@7, ID:null" },
	{ "{\"id\":1.}", "object, syntax@8, ID:null" },
	{ "{\"id\":-}", "object, syntax@7, ID:null" },
	{ "{\"id\":1]", "object, syntax@7, ID=1" },
	{ "{\"id\":\"\\x\"}", "object, syntax@8, ID:null" },
	{ "{\"id\":\"\\u12g4\",\"method\":\"a\"}", "object, syntax@11, ID:null" },

	/* after a soft fault the scan goes on, and the first fault stands */
	{ "{\"a\":\"\xFF\",\"id\":1}", "object whole, broken@6, ID=1" },
	{ "{\"a\":\"\xC3\",\"id\":1}", "object whole, broken@6, ID=1" },
	{ "{\"\xE0\x80\":1,\"id\":\"\x80\"}", "object whole, utf8@2, ID not kept" },
	{ "{\"a\":\"\x1F\",\"id\":1}", "object whole, control@6, ID=1" },
	{ "{\"a\":\"\t\x01\xFF\",\"id\":1,\"id\":2}", "object whole, repeated id@18, ID=2" },
	{ "{\"a\":\"\x02\",\"id\":1,x}", "object, control@6, ID=1" },
	{ "{\"a\":\"\xFF\",\"id\":1", "object, cut@15, ID:null" },
	{ "{\"a\":\"\xFF\",\"id\":1} {", "object 0-16, trailing@17, ID=1" },

	/* nested too deep: see keeps_the_limits */

	/* the top-level id or method twice: the last id and the first method are kept */
	{ "{\"id\":1,\"id\":2}", "object whole, repeated id@8, ID=2" },
	{ "{\"id\":1,\"\\u0069d\":3,\"method\":\"m\",\"i\\u0064\":\"2\"}",
	    "object whole, repeated id@8, ID=\"2\", METHOD=\"m\"" },
	{ "{\"id\":{},\"id\":1}", "object whole, repeated id@9, ID=1" },
	{ "{\"id\":1,\"id\"", "object, repeated id@8" },
	{ "{\"id\":1,\"id\":[", "object, repeated id@8, ID:array" },
	{ "{\"method\":{},\"method\":\"m\"}", "object whole, repeated method@13, METHOD:object" },
	{ "{\"method\":\"a\",\"metho\\u0064\" :\"b\"}",
	    "object whole, repeated method@14, METHOD=\"a\"" },
	{ "{\"method\":1,\"method\":2,\"id\":3,\"id\":4}",
	    "object whole, repeated id@30, ID=4, METHOD=1" },
	{ "{\"id\":1,\"id\":2,\"method\":3,\"method\":4,\"id\":5}",
	    "object whole, repeated id@8, ID=5, METHOD=3" },
	{ "{\"a\":\"\x01\",\"method\":1,\"method\":2}", "object whole, control@6, METHOD=1" },
	{ "{\"id\":1,\"id\":2}}", "object 0-15, repeated id@8, ID=2" },

	/* ... or those of an element */
	{ "[{\"id\":1},{\"id\":2,\"id\":3},{\"id\":4}]",
	    "array whole, repeated id@18, ELEMENT_ID=4" },
	{ "[{\"method\":1,\"\\u006dethod\":2}]",
	    "array whole, repeated method@13, ELEMENT_METHOD=2" },
};

TESTS(names_the_fault, 0, sizeof faults / sizeof *faults)
{
	check_scan((struct span){ faults[_i].input, strlen(faults[_i].input) }, faults[_i].want);
}

/* Like the JSON test suite: alone, in an array and as a member. */
static const char *const accepted[] = { "0", "-0", "10", "1.0", "1.10", "0.0", "1e5", "1E5", "1e+5",
	"1e-05", "0e0", "-1.5E+007", "123456789012345678901234567890", "1e400", "true", "false",
	"null", "\"\"", "\"a\"", "\"\x7F\"", "\"/\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
	"\"\\u0000\\uFFFF\\uabCD\"", "\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"\\udc00x\"",
	"\"\\\\u12\"", "\"\xC2\x80\xDF\xBF\"", "\"\xE0\xA0\x80\xEF\xBF\xBF\"",
	"\"\xED\x9F\xBF\xEE\x80\x80\"", "\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"", "\"\xEF\xBB\xBF\"",
	"\"\xE2\x80\xA8\"", "[]", "{}", "[[]]", "[ ]", "{ }", "[1]", "[1,2]", "[ 1 , 2 ]",
	"[\n1\n]", "{\"\":0}", "{\"a\":{\"b\":[]}}", "{\"a\" : 1 , \"b\" : 2}",
	"[\"\",\"\",[{},[]]]", "{\"a\":1,\"a\":1}", "[\r\n\t 1]",
	"\"0123456789abcdef0123456789abcdef\"" };

static const char *const rejected[] = { "-", "+1", "01", "-01", "00", "1.", ".5", "1.e1", "1e",
	"1e+", "1e1.5", "1e1e1", "0x1", "1_0", "--1", "- 1", "1 2", "NaN", "Infinity", "-Infinity",
	"inf", "True", "TRUE", "nul", "nulll", "truefalse", "\"", "\"\\\"", "\"\\a\"", "\"\\'\"",
	"\"\\U0041\"", "\"\\u004\"", "\"\\u00G0\"", "\"\\x41\"", "\"\\ \"", "\"\t\"", "\"\x1F\"",
	"\"\x01\"", "\"\x80\"", "\"\xBF\"", "\"\xC0\x80\"", "\"\xC1\xBF\"", "\"\xC2\"",
	"\"\xC2\x7F\"", "\"\xC2\xC0\"", "\"\xE0\x9F\xBF\"", "\"\xE0\xA0\"", "\"\xED\xA0\x80\"",
	"\"\xED\xBF\xBF\"", "\"\xE1\x80\xC0\"", "\"\xF0\x8F\xBF\xBF\"", "\"\xF4\x90\x80\x80\"",
	"\"\xF0\x90\x80\"", "\"\xF5\x80\x80\x80\"", "\"\xFE\"", "\"\xFF\"",
	"\"\xF8\x88\x80\x80\x80\"", "[", "]", "[,]", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1}",
	"{1}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "{\"a\":1,}", "{,}", "{\"a\":1,,\"b\":2}",
	"{\"a\"::1}", "{\"a\":1]", "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{\"a\":1 \"b\":2}",
	":", ",", "}", "//", "/**/1", "[1]//", "#", "\x0C", "\x0B", "\xC2\xA0", "[\x0C]", "\\u0031",
	"[\"a\"", "{\"a\":1", "[\"a\xEF\xBB\"]", "&", "*", "undefined" };

static void
check_verdict(const char *text, bool want)
{
	static const char *const around[][2] = { { "", "" }, { " ", "\r" }, { "[", "]" },
		{ "{\"k\":[", "],\"l\":{\"id\":0}}" }, { "{\"id\":", "}" },
		{ "[\"0123456789abcdef\",", "]" } };
	char input[256];
	struct scan scan;

	for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
		int len = sprintf(input, "%s%s%s", around[i][0], text, around[i][1]);

		scan_read(&scan, (struct span){ input, (size_t)len });
		ck_assert_msg((scan_value(&scan, SCAN_TEXT)->end > 0 && scan.fault == SCAN_FINE) ==
			want,
		    "%s", input);
	}
}

TESTS(accepts_json, 0, sizeof accepted / sizeof *accepted)
{
	check_verdict(accepted[_i], true);
}

TESTS(rejects_the_rest, 0, sizeof rejected / sizeof *rejected)
{
	check_verdict(rejected[_i], false);
}

TEST(newlines_are_white_space)
{
	check_scan(SPAN("{\n\"id\"\n:\n1\n}\n"), "object 0-12, ID=1");
	check_scan(SPAN("\n{\"id\":\"a\nb\"}"), "object 1-13, control@9, ID not kept");
	check_scan(SPAN("{\"id\":\n1,\n\nx"), "object, syntax@11, ID=1");
}

/* Unicode 15, table 3-7, written independently of the scanner. */
static bool
is_character(const unsigned char *bytes, size_t len)
{
	uint32_t code = bytes[0] & (0x7Fu >> len);
	uint32_t least = len == 2 ? 0x80 : len == 3 ? 0x800 : 0x10000;

	for (size_t i = 1; i < len; i++) {
		if ((bytes[i] & 0xC0) != 0x80)
			return false;
		code = code << 6 | (bytes[i] & 0x3F);
	}
	if ((bytes[0] & (0xFF00 >> len & 0xFF)) != (0xFF00 >> len & 0xFF) ||
	    bytes[0] & (0x80 >> len))
		return false;
	return code >= least && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

/* The bytes, at the given place of a string with other text. */
static bool
takes_character(const unsigned char *bytes, size_t len, size_t place)
{
	char input[] =
	    "\"\xC3\xA9 \xE6\x97\xA5 0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdef\"";
	struct scan scan;

	memcpy(input + place, bytes, len);
	scan_read(&scan, SPAN(input));
	return scan_value(&scan, SCAN_TEXT)->end > 0 &&
	    scan.fault == (is_character(bytes, len) ? SCAN_FINE : SCAN_BROKEN);
}

/* The lead byte and its next byte, at the limits of the valid ranges. */
static void
check_characters(unsigned lead, unsigned second, size_t place)
{
	static const unsigned char tails[] = { 0x7F, 0x80, 0xBF, 0xC0 };
	size_t len = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
	unsigned char bytes[4] = { (unsigned char)lead, (unsigned char)second };

	for (unsigned i = 0; i < (len == 2 ? 1 : len == 3 ? 4 : 16); i++) {
		bytes[2] = tails[i % 4];
		bytes[3] = tails[i / 4];
		if (!takes_character(bytes, len, place))
			ck_abort_msg("%x %x, %zu bytes at %zu", lead, second, len, place);
	}
}

TEST(knows_every_character)
{
	for (unsigned lead = 0x80; lead <= 0xFF; lead++)
		for (unsigned second = 0x60; second <= 0xFF; second++)
			check_characters(lead, second, 8 + (lead + second) % 32);
}

TEST(sees_a_special_byte_at_any_place)
{
	enum { LEN = 60 };
	char text[LEN];
	struct scan scan;

	for (size_t place = 1; place < LEN - 2; place++)
		for (unsigned byte = 0; byte < 256; byte++) {
			memset(text, 'x', LEN);
			text[0] = text[LEN - 1] = '"';
			text[place] = (char)byte;
			scan_read(&scan, (struct span){ text, LEN });
			if (byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\')
				ck_assert_int_eq(scan.fault, SCAN_FINE);
			else
				ck_assert_uint_eq(scan.fault_offset,
				    place + (byte == '"' || byte == '\\'));
		}
}

static struct span
repeated(char *out, const char *head, const char *middle, size_t count, const char *tail)
{
	size_t len = (size_t)sprintf(out, "%s", head);

	for (size_t i = 0; i < count; i++)
		len += (size_t)sprintf(out + len, "%s", middle);
	len += (size_t)sprintf(out + len, "%s", tail);
	return (struct span){ out, len };
}

TEST(keeps_the_limits)
{
	static char input[MESSAGE_MAX];
	struct span nested = repeated(input, "", "[", SCAN_DEPTH_MAX, "]");
	size_t len;

	check_scan(nested, "array, cut@1001");
	nested = repeated(input, "", "[", SCAN_DEPTH_MAX + 1, "]");
	check_scan(nested, "array, depth@1000");
	nested = repeated(input, "{\"id\":1,\"a\":", "{\"a\":", SCAN_DEPTH_MAX - 1, "[");
	check_scan(nested, "object, depth@5007, ID=1");
	nested = repeated(input, "{\"a\":", "[", SCAN_DEPTH_MAX - 1,
	    "[[{\"]\\\"\":\"[{\",\"\xC3\xA9\":[\"}\"]}],{}]");
	len = nested.len;
	for (int i = 1; i < SCAN_DEPTH_MAX; i++)
		input[len++] = ']';
	len += (size_t)sprintf(input + len, ",\"id\":\"x\",\"method\":\"m\"}");
	check_scan((struct span){ input, len }, "object whole, depth@1004, ID=\"x\", METHOD=\"m\"");
	nested = repeated(input, "{\"id\":1,\"a\":", "[[],{},", SCAN_DEPTH_MAX - 2, "[]");
	check_scan(nested, "object, cut@7000, ID=1");

	struct span value =
	    repeated(input, "{\"method\":\"m\",\"id\":\"", "x", SCAN_VALUE_MAX - 1, "\"}");

	check_scan(value, "object whole, ID not kept, METHOD=\"m\"");
	value = repeated(input, "{\"id\":", "9", SCAN_VALUE_MAX + 1, ",\"method\":\"m\"}");
	check_scan(value, "object whole, ID not kept, METHOD=\"m\"");
}

TEST(keeps_values_up_to_the_limit)
{
	static char input[MESSAGE_MAX], want[MESSAGE_MAX];
	struct span value = repeated(input, "{\"id\":", "9", SCAN_VALUE_MAX, ",\"method\":0}");

	repeated(want, "object whole, ID=", "9", SCAN_VALUE_MAX, ", METHOD=0");
	check_scan(value, want);
}

TEST(ignores_long_keys)
{
	static char input[MESSAGE_MAX];

	check_scan(repeated(input, "{\"", "id", 20000, "\":1,\"id\":2}"), "object whole, ID=2");
	check_scan(repeated(input, "{\"\\u0061", "id", 20000, "\":1,\"id\":2}"),
	    "object whole, ID=2");
	check_scan(repeated(input, "{\"method\":\"mmm\",\"\\u0061", "kkk", 2000, "\":1,\"id\":2}"),
	    "object whole, ID=2, METHOD=\"mmm\"");
}

static enum scan_fault
fault_of(struct span text)
{
	static struct scan scan;

	scan_read(&scan, text);
	return scan.fault;
}

/* What is nested too deep is skipped, with the strings in it, long ones too. */
TEST(skips_strings_that_are_nested_too_deep)
{
	enum { DEPTH = SCAN_DEPTH_MAX + 2 };
	static const char string[] =
	    "\"a string that is longer than any block, with a bracket: ] \\u005d, and more of it\"";
	static char input[3 * DEPTH];
	size_t whole = 2 * DEPTH + strlen(string);

	memset(input, '[', DEPTH);
	memcpy(input + DEPTH, string, strlen(string));
	memset(input + DEPTH + strlen(string), ']', DEPTH);
	ck_assert_int_eq(fault_of(span_at(input, whole)), SCAN_DEPTH);
	for (size_t len = DEPTH; len < whole; len++)
		ck_assert_int_ne(fault_of(span_at(input, len)), SCAN_FINE);
	input[DEPTH + 8] = '\\';
	ck_assert_int_eq(fault_of(span_at(input, whole)), SCAN_DEPTH);
}

/* The members of each object are found under their own names only. */
TESTS(finds_every_field, 0, COUNT(fields))
{
	const char *path[8];
	char text[1024];
	struct scan scan;
	enum scan_field field = fields[_i].field;
	int depth = 0, len;

	for (; field > SCAN_ELEMENT; field = fields[field - SCAN_ELEMENT - 1].parent)
		path[depth++] = fields[field - SCAN_ELEMENT - 1].key;
	len = sprintf(text, "%s", field == SCAN_ELEMENT ? "[" : "");
	for (int i = depth; i-- > 0;)
		len += sprintf(text + len, "{\"%s\":", path[i]);
	len += sprintf(text + len, "1%.*s%s", depth, "}}}}}}}}", field == SCAN_ELEMENT ? "]" : "");
	scan_read(&scan, (struct span){ text, (size_t)len });
	ck_assert_int_eq(scan.fault, SCAN_FINE);
	ck_assert_int_eq(scan_type(&scan, fields[_i].field), VALUE_NUMBER);
}
