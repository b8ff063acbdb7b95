/* cancelctl call: one call of one tool, what is printed, and the status. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client.h"
#include "process.h"
#include "shell.h"

#define C "$CANCELCTL call "
#define DEMO " -- $DEMO_SERVER"
#define SHOWS " -- sh ./server"

/*
 * Has $TOOLS, answers a call with $ANSWER, and keeps the call in the file `called`. $NEWER: it
 * knows no initialize.
 */
static const char server[] =
    "answer() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\\n' \"$id\" \"$1\"; }\n"
    "result() { answer \"\\\"result\\\":{\\\"resultType\\\":\\\"complete\\\",$1}\"; }\n"
    "while read -r line; do\n"
    "	id=${line#*\\\"id\\\":}; id=${id%%,*}\n"
    "	case $NEWER$line in\n"
    "	1*'\"initialize\",'*) answer '\"error\":{\"code\":-32022,\"message\":\"too old\"}';;\n"
    "	*'\"initialize\",'*) result '\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
    "\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}';;\n"
    "	1*server/discover*) result '\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}';;\n"
    "	*tools/list*) [ -z \"$NOTE\" ] || printf '%s\n' \"$NOTE\"; [ -n \"$TOOLS\" ] && result \"\\\"tools\\\":$TOOLS\" ||\n"
    "		answer '\"error\":{\"code\":-32601,\"message\":\"no\"}';;\n"
    "	*tools/call*) echo \"$line\" >called; answer \"$ANSWER\";;\n"
    "	*'\"id\":'*) answer '\"error\":{\"code\":-32601,\"message\":\"no\"}';;\n"
    "	esac\n"
    "done\n";

#define TYPED \
	"TOOLS='[{\"name\":\"t\",\"description\":\"Does it.\\nWell.\",\"inputSchema\":{\"properties\":" \
	"{\"text\":{\"type\":\"string\"},\"count\":{\"type\":\"number\"},\"how\":{\"enum\":[\"a\",\"b\"]}," \
	"\"any\":{},\"some\":{\"type\":[\"string\",\"null\"]}," \
	"\"two\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]},\"none\":{\"type\":\"integer\"}," \
	"\"ref\":{\"anyOf\":[{\"$ref\":\"#\"},{\"type\":\"integer\"}]}," \
	"\"one\":{\"anyOf\":[{\"type\":\"string\"},{\"oneOf\":[{\"type\":\"boolean\"}]}]}},\"required\":[\"text\"]}}]' "
#define ARRAY \
	"TOOLS='[{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"tags\":{\"type\":\"array\"}," \
	"\"any\":{\"type\":[\"array\",\"string\"]}}}}]' "
#define CLOSED(more) \
	"TOOLS='[{\"name\":\"t\",\"inputSchema\":{" more "\"additionalProperties\":false}}]' "
/* Each page is the first one. */
#define ENDLESS "TOOLS='[{\"name\":\"t\"}],\"nextCursor\":\"1\"' "
#define ASKED \
	"NOTE='{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"a\":\"\\ud800\"}}' "
#define NOTED \
	"NOTE='{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"a\":\"\\ud800\"}}' "
#define LOOSE "TOOLS='[{\"name\":\"t\"}]' "
#define ANSWER(value) "ANSWER='\"result\":" value "' "
#define EMPTY ANSWER("{\"content\":[]}")
#define CALLED "; grep -o '\"arguments\":{[^}]*}' called"

static void
set_up(void)
{
	char home[256], path[512];
	FILE *file;

	snprintf(home, sizeof(home), "%s/call-XXXXXX", getenv("E2E_DIRECTORY"));
	ck_assert_ptr_nonnull(mkdtemp(home));
	ck_assert_int_eq(setenv("HOME", home, 1), 0);
	snprintf(path, sizeof(path), "%s/server", home);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	fputs(server, file);
	ck_assert_int_eq(fclose(file), 0);
	snprintf(path, sizeof(path), "%s/.cursor", home);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

SUITE("call", .before = set_up, .seconds = 8);

static const struct {
	const char *script;
	int status;
	const char *said;
} scripts[] = {
	/* The command line. */
	{ C, 2, "which server? its command stands behind --, or CLIENT:SERVER before the tool" },
	{ C DEMO, 2, "which tool? cancelctl call --list shows those of the server" },
	{ C "echo x" DEMO, 2,
	    "'x' is no NAME=VALUE, no JSON object and no -; a command stands behind --" },
	{ C "echo =x" DEMO, 2, "'=x' is no NAME=VALUE" },
	{ C "echo '{\"a\":}'" DEMO, 2, "the arguments: line 1, column 6: " },
	{ "echo '[1]' | " C "echo -" DEMO, 2, "standard input: must be a JSON object" },
	{ "echo '{' | " C "echo -" DEMO, 2, "standard input: line 2, column 0: " },
	{ C "--list echo" DEMO, 2, "'echo': --list takes no tool" },
	{ C "-t 5s echo" DEMO, 2,
	    "is -- missing? canceld's options and the server's command stand behind it: " },
	{ C "echo npx -y foo", 2,
	    "unknown option '-y'; see cancelctl call --help\ncancelctl: is -- missing? " },
	{ C "echo -- --no-such $DEMO_SERVER", 2, "unknown or ambiguous option '--no-such'" },
	{ C "echo -- -t 5 $DEMO_SERVER", 2, "is the unit missing?" },
	{ C "echo -- -D acp $DEMO_SERVER", 2, "call is for MCP: leave --dialect out" },
	{ C "--help", 0, "usage: cancelctl call" },
	{ C "-h", 0, "usage: cancelctl call" },
	/* Arguments. */
	{ C "echo" DEMO, 0, "{}\n" },
	{ C "echo a=1 b=x c=true d= 'e={\"f\":[2]}'" DEMO, 0,
	    "{\"a\":1,\"b\":\"x\",\"c\":true,\"d\":\"\",\"e\":{\"f\":[2]}}\n" },
	{ C "echo '{\"a\":1,\"b\":2}' b=3" DEMO, 0, "{\"a\":1,\"b\":3}\n" },
	{ "echo '{\"a\":1}' | " C "echo - b=c=d" DEMO, 0, "{\"a\":1,\"b\":\"c=d\"}\n" },
	{ TYPED EMPTY C "t text=1 count=1 how=a any=1 some=x" SHOWS CALLED, 0,
	    "{\"text\":\"1\",\"count\":1,\"how\":\"a\",\"any\":1,\"some\":\"x\"}\n" },
	{ C "echo a=1 '{\"a\":2,\"b\":2}' b=3" DEMO, 0, "{\"a\":2,\"b\":3}\n" },
	{ TYPED EMPTY C "t text=1 some=1 any=null" SHOWS CALLED, 0,
	    "{\"text\":\"1\",\"some\":\"1\",\"any\":null}\n" },
	{ TYPED EMPTY C "t text=null some=null" SHOWS CALLED, 0,
	    "{\"text\":\"null\",\"some\":null}\n" },
	{ TYPED EMPTY C "t text=null one=null two=null" SHOWS CALLED, 0,
	    "{\"text\":\"null\",\"one\":\"null\",\"two\":null}\n" },
	{ TYPED EMPTY C "t text='\"x\"' one=1" SHOWS CALLED, 0,
	    "{\"text\":\"\\\"x\\\"\",\"one\":\"1\"}\n" },
	{ TYPED EMPTY C "t text=1 one=true" SHOWS CALLED, 0, "{\"text\":\"1\",\"one\":true}\n" },
	{ ARRAY EMPTY C "t tags=a,b" SHOWS, 2,
	    "cancelctl: tags is an array: tags='[\"one\", \"two\"]'; see cancelctl call --list\n" },
	{ ARRAY EMPTY C "t tags='\"a\"'" SHOWS, 2,
	    "cancelctl: tags is an array: tags='[\"one\", \"two\"]'" },
	{ TYPED EMPTY C "t text=1 count=many" SHOWS, 2,
	    "cancelctl: count: 'many' is no number; see cancelctl call --list\n" },
	{ TYPED EMPTY C "t text=1 count='\"1\"'" SHOWS, 2,
	    "cancelctl: count: '\"1\"' is no number" },
	{ TYPED EMPTY C "t text=1 two=many" SHOWS, 2,
	    "two: 'many' is no value that its schema allows" },
	{ TYPED EMPTY C "t text=1 two=1.5 count=12345678901234567890 ref=x none=null" SHOWS CALLED,
	    0,
	    "{\"text\":\"1\",\"two\":1.5,\"count\":1.2345678901234567e19,\"ref\":\"x\",\"none\":null}\n" },
	{ TYPED EMPTY C "t '{\"text\":\"\",\"count\":\"many\"}'" SHOWS CALLED, 0,
	    "{\"text\":\"\",\"count\":\"many\"}\n" },
	{ ARRAY EMPTY C "t tags='[\"a\"]' any=a,b" SHOWS CALLED, 0,
	    "{\"tags\":[\"a\"],\"any\":\"a,b\"}\n" },
	{ TYPED EMPTY C "t text=1 cuont=1" SHOWS, 0,
	    "cancelctl: the tool t has no parameter 'cuont': it could be count; see cancelctl call --list\n" },
	{ TYPED EMPTY C "t text=1 extra=1" SHOWS CALLED, 0, "{\"text\":\"1\",\"extra\":1}\n" },
	{ CLOSED("\"properties\":{\"count\":{}},") EMPTY C "t cuont=1" SHOWS, 2,
	    "the tool t has no parameter 'cuont': it could be count; see cancelctl call --list" },
	{ CLOSED("") EMPTY C "t x=1" SHOWS, 2,
	    "the tool t has no parameter 'x'; see cancelctl call --list" },
	{ CLOSED("\"patternProperties\":{\"x\":{}},") EMPTY C "t x=1" SHOWS CALLED, 0,
	    "{\"x\":1}\n" },
	{ LOOSE EMPTY C "t $(printf %0300d 1)=1" SHOWS "; grep -o '0\\{299\\}1' called | wc -c", 0,
	    "301\n" },
	{ TYPED EMPTY C "t count=1" SHOWS, 2,
	    "the tool t needs the argument 'text'; see cancelctl call --list" },
	{ TYPED EMPTY C "t '{\"text\":\"\",\"cuont\":1}'" SHOWS CALLED, 0,
	    "{\"text\":\"\",\"cuont\":1}\n" },
	{ LOOSE EMPTY C "t x=1" SHOWS CALLED, 0, "{\"x\":1}\n" },
	{ LOOSE EMPTY C "t x=\"$(printf '\\377')\"" SHOWS, 2,
	    "the argument 'x=\\xff' is not UTF-8" },
	{ C "slepe" DEMO, 2,
	    "the server has no tool 'slepe': it could be sleep; see cancelctl call --list" },
	/* A server that lists no tools is called all the same. */
	{ EMPTY C "t x=1" SHOWS CALLED, 0, "{\"x\":1}\n" },
	{ C "--list" SHOWS, 123, "cancelctl: tools/list: no\n" },
	/* Results. */
	{ LOOSE ANSWER(
	      "{\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\"},{\"type\":\"image\",\"data\":\"x\"}]}")
		C "t" SHOWS,
	    0, "a\nb\n{\"type\":\"image\",\"data\":\"x\"}\n" },
	{ LOOSE ANSWER(
	      "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"structuredContent\":{\"b\":[1]}}")
		C "t" SHOWS,
	    0, "{\"b\":[1]}\n" },
	{ LOOSE ANSWER(
	      "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"structuredContent\":{\"b\":1}}")
		C "-j t" SHOWS,
	    0,
	    "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"structuredContent\":{\"b\":1}}\n" },
	{ LOOSE ANSWER("{\"odd\":1}") C "t" SHOWS, 0, "{\"odd\":1}\n" },
	{ LOOSE ANSWER(
	      "{\"structuredContent\":{\"n\":12345678901234567890,\"m\":[-9223372036854775808,5,1.5e3]}}")
		C "t" SHOWS,
	    0, "{\"n\":1.2345678901234567e19,\"m\":[-9223372036854775808,5,1500.0]}\n" },
	{ ASKED LOOSE EMPTY C "t" SHOWS, 125, ": the server sent a number, a key or half" },
	{ LOOSE ANSWER("{\"content\":[{\"type\":\"text\",\"text\":\"\\ud800\"}]}") C
	    "t -- --clean-text sh ./server",
	    0, "\xef\xbf\xbd\n" },
	{ NOTED LOOSE EMPTY C "t x=1" SHOWS CALLED, 0, "{\"x\":1}\n" },
	{ LOOSE ANSWER("{\"content\":[{\"type\":\"text\",\"text\":\"\\ud800\"}]}") C "t" SHOWS, 125,
	    "cancelctl: t: the server sent a number, a key or half a character that cannot be read: -- --clean-text "
	    "replaces the last\n" },
	{ "NEWER=1 " LOOSE EMPTY C "-j t" SHOWS
	  "; grep -c io.modelcontextprotocol/protocolVersion called",
	    0, "{\"content\":[]}\n1\n" },
	/* A pipe gets the text as it is. */
	{ LOOSE ANSWER("{\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[1m\"}]}") C "t" SHOWS,
	    0, "\033[1m\n" },
	/* Lists. */
	{ TYPED C "--list" SHOWS, 0,
	    "t text=string [count=number] [how=JSON] [any=JSON] [some=JSON] [two=JSON] [none=integer] [ref=JSON] [one=JSON]\n    Does it.\n" },
	{ ENDLESS C "--list" SHOWS, 0,
	    "cancelctl: the server's list of tools does not end, and was cut\nt\nt\n" },
	{ "TOOLS='[{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"x\":{\"type\":\"string\"}}}}],\"nextCursor\":\"1\"' " EMPTY
		C "t x=1" SHOWS CALLED,
	    0, "{\"x\":\"1\"}\n" },
	{ ENDLESS EMPTY C "u x=1" SHOWS CALLED, 0, "{\"x\":1}\n" },
	{ C "--list -j" DEMO " | head -n 2", 0,
	    "{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}\n{\"name\":\"sleep\"," },
	/* Errors. */
	{ C "--list -- cat", 123, "cancelctl: initialize: the command sends back what it reads\n" },
	{ LOOSE ANSWER("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\"}]}") C
	    "t" SHOWS " >out",
	    123, "cancelctl: t: a\nb\n" },
	{ LOOSE ANSWER("{\"isError\":true,\"content\":[]}") C "-j t" SHOWS, 123,
	    "{\"isError\":true,\"content\":[]}\n" },
	{ LOOSE "ANSWER='\"error\":{\"code\":5,\"message\":\"bad\"}' " C "t" SHOWS, 123,
	    "cancelctl: t: bad\n" },
	{ LOOSE "ANSWER='\"error\":{\"code\":5,\"message\":\"bad\\nworse\"}' " C "t" SHOWS, 123,
	    "cancelctl: t: bad\nworse\n" },
	{ LOOSE "ANSWER='\"error\":{\"code\":5,\"message\":\"bad\"}' " C "-j t" SHOWS
		" 2>/dev/null",
	    123, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":5,\"message\":\"bad\"}}\n" },
	{ LOOSE ANSWER("5") C "t" SHOWS, 123, "cancelctl: t: the result is no object\n" },
	{ C "crash status=3" DEMO, 123,
	    "the server has exited with status 3, and is not started again as -r was not given: demo-server: crash" },
	{ C "echo -- sh -c 'echo no config >&2; exit 4'", 123,
	    "the server has exited with status 4: no config" },
	{ C "sleep ms=60000 -- -t tools/call:sleep=200ms $DEMO_SERVER", 124,
	    "made no progress for 200 ms" },
	{ C "sleep ms=60000 -- -t tools/call:sleep=200ms --tool-errors -- $DEMO_SERVER", 124,
	    "made no progress for 200 ms" },
	{ C "echo -- -t initialize=200ms $DEMO_SERVER --mute initialize", 124,
	    "was not answered within 200 ms" },
	{ C "echo -- -l \"$HOME\" $DEMO_SERVER", 125, "--log" },
	{ C "echo -- /etc/passwd", 126, "cannot start /etc/passwd: Permission denied" },
	{ C "echo -- no-such", 127,
	    "the server was not started: cannot start no-such: it is not in PATH: give the absolute path (PATH is /" },
	{ C "echo -- /etc", 126, "cannot start /etc: Is a directory" },
	{ C "echo -- ./no-such", 127, "cannot start ./no-such: No such file or directory" },
	/* canceld's options, and its file. */
	{ C "sleep ms=200 -- -v -l log --name mine $DEMO_SERVER; grep -o 'mine: STARTED' log", 0,
	    "done\nmine: STARTED\n" },
	{ C "echo -- -v -l log sh -c 'echo loud >&2; exec $DEMO_SERVER' 2>&1 | grep -c loud", 1,
	    "0\n" },
	{ C "echo -- -v sh -c 'echo loud >&2; exec $DEMO_SERVER' 2>&1 | grep -c loud", 0, "" },
	{ C "echo -- -v $DEMO_SERVER 2>&1 | grep -o 'demo-server: STARTED'", 0,
	    "demo-server: STARTED\n" },
	{ "mkdir -p .config/canceld; echo '{\"timeout\":\"200ms\"}' >.config/canceld/config.json; " C
	  "sleep ms=60000" DEMO,
	    124, "made no progress for 200 ms" },
	/* stderr: without -v that the server did not end by itself, and nothing else. */
	{ C "echo -- --term-after=10ms $DEMO_SERVER --ignore-eof 2>&1 >/dev/null", 0,
	    "cancelctl: the server did not end by itself, and got SIGTERM\n" },
	{ C "echo -- --term-after=10ms $DEMO_SERVER --ignore-eof 2>&1 | wc -l", 0, "2\n" },
	{ C "echo -- --log-format=json --term-after=10ms $DEMO_SERVER --ignore-eof", 0,
	    "cancelctl: the server did not end by itself, and got SIGTERM\n" },
	{ C "echo -- --log-format json -t ehco=2s $DEMO_SERVER 2>&1 | wc -l", 0, "2\n" },
	{ C "-v sleep ms=60000 -- -t tools/call:sleep=200ms $DEMO_SERVER", 124,
	    "demo-server: cancelled id=3" },
	{ C "sleep ms=60000 -- -t tools/call:sleep=200ms $DEMO_SERVER", 124,
	    "; to wait longer: option -t tools/call:sleep=" },
	{ C "echo -- -t ehco=2s $DEMO_SERVER 2>&1", 0,
	    "cancelctl: command line -t ehco=2s: was this meant? tools/call:ehco=2s\n" },
	{ C "echo -- -t tools/call:ehco=2s $DEMO_SERVER", 0,
	    "cancelctl: command line -t tools/call:ehco=2s: was this meant? tools/call:echo=2s\n" },
	{ "mkdir -p .config/canceld; echo '{\"timeuot\":\"2s\"}' >.config/canceld/config.json; " C
	  "echo" DEMO " 2>&1",
	    0, "config.json: timeuot: unknown key: it could be timeout\n" },
	{ C "sleep ms=60000 -- -t tools/call:sleep=200ms $DEMO_SERVER 2>&1 | grep -c demo-server:",
	    1, "0\n" },
	/* The demo's own end, also while it reads nothing. */
	{ C "block -- $DEMO_SERVER --life 1", 123,
	    "status 1, and is not started again as -r was not given: demo-server: ends itself, as it has received nothing" },
};

TESTS(the_call_prints_and_has_a_status, 0, COUNT(scripts))
{
	shell_expect("cd $HOME", scripts[_i].script, scripts[_i].status, scripts[_i].said);
}

#define CURSOR(servers) \
	"echo '{\"mcpServers\":{" servers "}}' >.cursor/mcp.json; mkdir -p project; cd project; "
#define DEMO_ENTRY "\"d\":{\"command\":\"'$DEMO_SERVER'\"}"
#define SHELL_ENTRY(script, more) \
	"\"s\":{\"command\":\"sh\",\"args\":[\"-c\",\"" script "\"]" more "}"

/*
 * A project of VS Code whose file, which stands there, has a server that shows its variable and its
 * directory.
 */
#define WORKSPACE(project, file) \
	"mkdir -p " project "/.vscode; cd " project \
	"; echo '{\"servers\":{" SHELL_ENTRY("echo \\\"$A\\\" $(basename $PWD) >&2; exit 4", \
	    ",\"env\":{\"A\":\"${workspaceFolder}/x\"},\"cwd\":\"${workspaceFolder}/.vscode\"") "}}' >" file \
												"; "

static const struct {
	const char *script;
	int status;
	const char *said;
} configured[] = {
	{ CURSOR(DEMO_ENTRY) C "cursor:d echo a=1", 0, "{\"a\":1}\n" },
	{ CURSOR(DEMO_ENTRY) C "../.cursor/mcp.json:d echo a=1", 0, "{\"a\":1}\n" },
	{ CURSOR(DEMO_ENTRY) C "cursor:d --list | head -n 1", 0, "echo\n" },
	{ CURSOR(DEMO_ENTRY) C "cursor:d sleep ms=60000 -- -t tools/call:sleep=200ms", 124,
	    "made no progress for 200 ms" },
	{ CURSOR(DEMO_ENTRY) C "cursor:d", 2, "which tool?" },
	{ CURSOR(DEMO_ENTRY) C "cursor:e echo", 1,
	    "no server 'e' there; see cancelctl wrap --list" },
	{ CURSOR(DEMO_ENTRY) C "cursr:d echo", 1,
	    "'cursr' is no client and no file: it could be cursor" },
	{ CURSOR(DEMO_ENTRY) C "d echo", 2, "'d' has no colon" },
	{ CURSOR(DEMO_ENTRY) "mkdir .cursor; cp ../.cursor/mcp.json .cursor; " C "cursor:d echo", 2,
	    "cursor:d: there are several: name its FILE, or GROUP:SERVER" },
	/* A file that cannot be read decides nothing, wherever it stands. */
	{ CURSOR(DEMO_ENTRY) "mkdir .cursor; echo { >.cursor/mcp.json; " C "cursor:d echo a=1", 0,
	    "{\"a\":1}\n" },
	{ CURSOR(
	      "") "mkdir .cursor; mv ../.cursor/mcp.json .cursor; echo { >../.cursor/mcp.json; " C
		  "cursor:d echo a=1",
	    1, "mcp.json: " },
	{ "echo { >.cursor/mcp.json; mkdir -p project/.cursor; cd project; echo '{\"mcpServers\":{" DEMO_ENTRY
	  "}}' >.cursor/mcp.json; " C "cursor:d echo a=1",
	    0, "{\"a\":1}\n" },
	{ CURSOR("\"r\":{\"url\":\"http://x\"}") C "cursor:r echo", 1,
	    "cursor:r: it is a remote server" },
	{ CURSOR(SHELL_ENTRY("cd ..; exec sh ./server",
	      ",\"env\":{\"TOOLS\":\"[]\",\"ANSWER\":\"x\"}")) C "cursor:s echo",
	    2, "the server has no tool 'echo'" },
	{ "echo '{\"mcp\":{\"s\":{\"command\":[\"sh\",\"./server\"],\"environment\":{\"TOOLS\":\"[]\"}}}}' >f.json; " C
	  "./f.json:s echo",
	    2, "the server has no tool 'echo'" },
	{ CURSOR(SHELL_ENTRY("exec sh ./server", ",\"cwd\":\"'$HOME'\"")) C "cursor:s --list", 123,
	    "tools/list: no" },
	{ CURSOR(SHELL_ENTRY("true", ",\"cwd\":\"/no-such\"")) C "cursor:s echo", 1,
	    "cursor:s: /no-such: No such file or directory" },
	/* What its client fills in. */
	{ "V=x; export V; " CURSOR(SHELL_ENTRY("echo \\\"$A$B\\\" $1 $2 >&2; exit 4",
	      ",\"env\":{\"A\":\"1${V}2${env:V}3{env:V}\",\"B\":\"${NONE:-d}{$\"}")) C
	    "cursor:s echo",
	    123, "status 4: 1x2x3xd{$" },
	{ CURSOR(SHELL_ENTRY("true", ",\"env\":{\"A\":\"a${input:a}\"}")) C "cursor:s echo", 1,
	    "cursor:s: ${input:a} is not set here: set it, or give the server's command behind --\n" },
	{ CURSOR(SHELL_ENTRY("true", ",\"env\":{\"A\":1}")) C "cursor:s echo", 1,
	    "cursor:s: a variable is no text" },
	{ CURSOR(SHELL_ENTRY("true", ",\"envFile\":\"x\"")) C "cursor:s echo", 1,
	    "its envFile is read by its client only" },
	{ CURSOR(SHELL_ENTRY("true ${workspaceFolder}", "")) C "cursor:s echo", 1,
	    "cursor:s: ${workspaceFolder} is not set" },
	{ WORKSPACE("project", ".vscode/mcp.json") C "vscode:s echo", 123, "/project/x .vscode" },
	/* Within that of another one, and a link to a file that is kept elsewhere. */
	{ WORKSPACE(".vscode/a/project", ".vscode/mcp.json") C "vscode:s echo", 123,
	    "/.vscode/a/project/x .vscode" },
	{ WORKSPACE("project", "../kept") "ln -s ../../kept .vscode/mcp.json; " C "vscode:s echo",
	    123, "/project/x .vscode" },
	{ WORKSPACE("project", ".vscode/mcp.json") "cd .vscode; " C "mcp.json:s echo", 123,
	    "/project/x .vscode" },
	{ CURSOR(SHELL_ENTRY("true {file:x}", "")) C "cursor:s echo", 1,
	    "cursor:s: {file:x} is not set" },
	/* With the options that wrap has written; those behind -- come later. */
	{ CURSOR(DEMO_ENTRY) "$CANCELCTL wrap -j cursor -- -t 200ms >wrapped; " C
			     "cursor:d sleep ms=60000",
	    124, "made no progress for 200 ms" },
	{ CURSOR(DEMO_ENTRY) "$CANCELCTL wrap -j cursor -- -t 100ms >wrapped; " C
			     "cursor:d sleep ms=60000 -- -t 300ms",
	    124, "made no progress for 300 ms" },
	/* One by hand is between. */
	{ CURSOR(
	      "\"d\":{\"command\":\"'$CANCELD'\",\"args\":[\"-t\",\"200ms\",\"'$DEMO_SERVER'\"]}") C
	    "cursor:d sleep ms=60000",
	    124, "made no progress for 200 ms" },
};

SUITE("call-configured", .before = set_up, .seconds = 4);

TESTS(a_server_of_a_clients_file_is_called, 0, COUNT(configured))
{
	shell_expect("cd $HOME", configured[_i].script, configured[_i].status, configured[_i].said);
}

SUITE("call-lives", .before = set_up, .seconds = 5);

TEST(progress_is_a_bar_on_a_terminal)
{
	shell_expect_terminal(80, "cd $HOME; " C "progress steps=2 everyMs=300" DEMO,
	    "s [##########..........] 1/2");
	ck_assert_ptr_nonnull(strstr(shell_output, "  \rdone\r\n"));
	shell_expect_terminal(80, "cd $HOME; " C "sleep ms=1500" DEMO, "sleep: 1");
	/* What has been reported is not told anew while the server ends. */
	shell_expect_terminal(80,
	    "cd $HOME; " C
	    "progress steps=2 everyMs=10 -- --term-after=1500ms $DEMO_SERVER --ignore-eof",
	    "the end of the server: 1");
	ck_assert_ptr_nonnull(strstr(shell_output, "by itself, and got SIGTERM"));
	shell_expect("cd $HOME", C "progress steps=2 everyMs=100" DEMO, 0, "done\n");
	ck_assert_str_eq(shell_output, "done\n");
}

TEST(a_terminal_gets_no_escapes)
{
	shell_expect_terminal(80,
	    "cd $HOME; " LOOSE ANSWER(
		"{\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[1m\\n\\tx\"}]}") C "t" SHOWS,
	    "\\x1b[1m\r\n\tx\r\n");
}

/* It has got the call. */
static void
expect_called(struct run *run)
{
	run_expect_logged(run, "STARTED");
	while (shell_run("cd $HOME", "grep -q tools/call record") != 0)
		;
}

/* The server hears of it, and nothing is left. */
TESTS(a_signal_cancels_the_call, 0, 2)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct run *run = run_start(&(struct setup){ .bare = true,
	    .command =
		"sh:cd \"$HOME\"; \"$CANCELCTL\" call -v sleep ms=60000 -- -v \"$DEMO_SERVER\" --record record; exit $?" });

	expect_called(run);
	kill(process_child(run->pid, "ms=60000"), signals[_i]);
	run_expect_logged(run, "CANCEL_FORWARDED");
	run_expect_logged(run, "demo-server: cancelled id=3");
	run_expect_logged(run, "cancelctl: sleep: cancelled; the server has ended");
	run_expect_exit(run, 128 + signals[_i]);
	run_end(run);
}

/* The first one waits for a server that does not end, the second one does not. */
TEST(a_second_interrupt_does_not_wait)
{
	struct run *run = run_start(&(struct setup){ .bare = true,
	    .command =
		"sh:cd \"$HOME\"; \"$CANCELCTL\" call -v stubborn ms=60000 -- -v --term-after=60s \"$DEMO_SERVER\" "
		"--ignore-eof --record record; exit $?" });

	expect_called(run);
	kill(process_child(run->pid, "ms=60000"), SIGINT);
	run_expect_logged(run, "demo-server: ignored cancel");
	kill(process_child(run->pid, "ms=60000"), SIGINT);
	run_expect_logged(run, "FORCED step=SIGTERM");
	run_expect_exit(run, 128 + SIGINT);
	run_end(run);
}
