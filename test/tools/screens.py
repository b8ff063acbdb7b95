#!/usr/bin/python3
"""Usage: screens.py [DIRECTORY [NAME...]]

Renders what cancelctl shows on a terminal to DIRECTORY/NAME-COLUMNS.png, to be looked at: three servers, names in Chinese
and Japanese, 60 requests; in the colours of a terminal that has 16. Another NAME: only those that begin with it. Takes
programs of BUILD (build/debug). Needs tmux, unshare, python3-pil, fonts-dejavu-core and fonts-unifont.
"""
import json, os, re, subprocess, sys, tempfile, time, unicodedata

BUILD = os.path.abspath(os.environ.get("BUILD", "build/debug"))
CTL = BUILD + "/cancelctl"
SERVERS = ["server-everything", "server-filesystem-of-the-project", "天気予報サーバー"]
TOOLS = ["trigger-long-running-operation", "検索する", "read_multiple_files_of_a_directory", "查询天气预报和空气质量",
         "echo", "build_release_binaries_for_all_platforms"]
SAID = ["Step 3 of the long running operation", "第三段階を処理しています", "linking"]
SCREENS = [  # name, sizes, environment, command, keys
    ("top", [(60, 20), (80, 24), (120, 40), (140, 50)], "", "top -i 100ms", ""),
    ("top-left", [(80, 24)], "", "top -i 100ms", "l"),
    ("top-page", [(60, 24), (80, 24)], "", "top -i 100ms", "ljjj\n"),
    ("top-keys", [(40, 12), (80, 24)], "", "top -i 100ms", "?"),
    ("top-asks", [(60, 20)], "", "top -i 100ms", "c"),
    ("top-plain", [(80, 24)], "NO_COLOR=1", "top -i 100ms", ""),
    ("top-small", [(40, 6), (39, 6)], "", "top -i 100ms", ""),
    ("ls", [(60, 10), (80, 10), (140, 10)], "", "ls", ""),
    ("ls-server", [(60, 30), (80, 30), (140, 30)], "", "ls " + SERVERS[0], ""),
    ("wrap-list", [(60, 40), (80, 40), (140, 40)], "", "wrap --list", ""),
    ("doctor", [(60, 60), (80, 60), (140, 60)], "", "doctor --call echo -- python3 " + __file__ + " --server", ""),
]


def serve():
    """A server that answers `echo`, reports progress of what asks for it, and leaves the rest open."""
    for line in sys.stdin:
        message = json.loads(line)
        params, answer = message.get("params", {}), None
        token = params.get("_meta", {}).get("progressToken")
        if message.get("method") == "initialize":
            answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                      "serverInfo": {"name": "見本", "version": "1"}}
        elif message.get("method") == "tools/list":
            answer = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
        elif params.get("name") == "echo" or message.get("method") == "ping":
            answer = {"content": []}
        elif token is not None:
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
                "progressToken": token, "progress": 3, "total": 10, "message": SAID[token % 3]}}), flush=True)
        elif message.get("method") == "server/discover":
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        if answer is not None and "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)


def start(home, index):
    options = ["-q", "-t", "tools/call:linger=1s", "-t", "tools/call:検索する=9s", "-t", "resources/list=20s"]
    session = subprocess.Popen([BUILD + "/canceld", "--name", SERVERS[index], *options, "--", "python3", __file__, "--server"],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=home)
    calls = [("initialize", {"protocolVersion": "2025-06-18"})]
    for k in range(20):
        meta = {"_meta": {"progressToken": k}} if k % 3 == 0 else {}
        calls.append(("tools/call", {"name": TOOLS[(k + index) % len(TOOLS)], **meta}))
    calls += [("tools/call", {"name": "linger"}), ("resources/list", {})]
    for k, (method, params) in enumerate(calls):
        text = {"jsonrpc": "2.0", "id": k if k % 5 else "call-%08d-%d" % (k, index), "method": method, "params": params}
        session.stdin.write(json.dumps(text).encode() + b"\n")
        session.stdin.flush()
    return session


COLOURS = ["#2e3436", "#cc0000", "#4e9a06", "#c4a000", "#3465a4", "#75507b", "#06989a", "#d3d7cf"]


def styled(style, codes):
    for code in [int(word or 0) for word in codes.split(";")]:
        if code == 0:
            style = {}
        elif code in (1, 2, 7):
            style = {**style, code: True}
        elif code in (22, 27):
            style = {key: value for key, value in style.items() if key not in ((1, 2) if code == 22 else (7,))}
        elif 30 <= code <= 39 and code != 38:
            style = {**style, "ink": COLOURS[code - 30] if code < 38 else None}
    return style


def render(text, size, path):
    from PIL import Image, ImageColor, ImageDraw, ImageFont
    faces = [ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSansMono%s.ttf" % kind, 13)
             for kind in ("", "-Bold")]
    wide = ImageFont.truetype("/usr/share/fonts/opentype/unifont/unifont.otf", 16)
    image = Image.new("RGB", (size[0] * 8, size[1] * 18), "#1c1c1c")
    draw, style = ImageDraw.Draw(image), {}
    for y, line in enumerate(text.split("\n")[:size[1]]):
        x = 0
        for codes, char in re.findall("\033\\[([0-9;]*)m|(.)", line):
            if not char:
                style = styled(style, codes)
                continue
            cells = 2 if unicodedata.east_asian_width(char) in "WF" else 1
            ink, paper = style.get("ink") or "#d3d7cf", "#1c1c1c"
            if style.get(2):
                ink = tuple(part * 5 // 9 for part in ImageColor.getrgb(ink))
            if style.get(7):
                ink, paper = paper, ink
            draw.rectangle((x * 8, y * 18, (x + cells) * 8 - 1, y * 18 + 17), fill=paper)
            draw.text((x * 8, y * 18 + 1), char, fill=ink, font=wide if cells == 2 else faces[bool(style.get(1))])
            x += cells
    image.save(path)


def tmux(*words):
    return subprocess.run(["tmux", "-f", "/dev/null", "-L", "screens", *words], check=True, capture_output=True, text=True).stdout


def take(home, directory, name, size, variables, command, keys):
    shell = "env %s timeout --foreground 60 %s %s; printf '$ '; sleep 60" % (variables, CTL, command)
    tmux("new-session", "-d", "-s", "s", "-x", str(size[0]), "-y", str(size[1]), shell)
    last, since, end = None, 0, time.monotonic() + 20
    while True:  # until nothing but times changes for half a second
        screen = tmux("capture-pane", "-e", "-p", "-N", "-t", "s")
        now, shape = time.monotonic(), re.sub("[0-9]+(ms|s|m)", "", screen)
        if shape != last and now < end:
            last, since = shape, now
        elif now - since > 0.5 and screen.strip() and (keys or "top" in command or "$ " in screen):
            if not keys:
                break
            tmux("send-keys", "-t", "s", "-l", keys)
            keys, since = "", now + 1
        time.sleep(0.1)
    tmux("kill-session", "-t", "s")
    render(screen, size, "%s/%s-%d.png" % (directory, name, size[0]))


def configure(home):
    def entry(*words):
        return {"command": words[0], "args": list(words[1:])}
    files = {".cursor/mcp.json": {"mcpServers": {
        "everything": entry("npx", "-y", "@modelcontextprotocol/server-everything"),
        "天気予報": entry("uvx", "weather-server", "--api-key", "secret")}},
        ".config/Claude/claude_desktop_config.json": {"mcpServers": {
            "filesystem": entry(BUILD + "/canceld", "-t", "30s", "--", "npx", "-y", "server-filesystem", "/tmp"),
            "remote": {"url": "https://example.org/mcp"}}}}
    for path, value in files.items():
        os.makedirs(os.path.dirname(home + "/" + path))
        with open(home + "/" + path, "w") as out:
            json.dump(value, out)


def main():
    directory, names = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "screens"), tuple(sys.argv[3:]) or ("",)
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="s") as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm"}
        os.environ.update(environment, TMUX_TMPDIR=home)
        os.chdir(home)
        configure(home)
        sessions = [start(environment, index) for index in range(len(SERVERS))]
        try:
            for name, sizes, *rest in SCREENS:
                for size in sizes if name.startswith(names) else []:
                    take(home, directory, name, size, *rest)
        finally:
            subprocess.run(["tmux", "-L", "screens", "kill-server"], check=False)
            for session in sessions:
                session.stdin.close()
                session.wait()


if sys.argv[1:2] == ["--server"]:
    serve()
elif sys.argv[1:2] == ["--apart"]:
    main()
elif sys.argv[1:2] and sys.argv[1].startswith("-"):
    sys.exit(__doc__)
else:  # as a user of its own, to whom no other canceld belongs
    __file__ = os.path.abspath(__file__)
    os.execvp("unshare", ["unshare", "-U", "--map-user=4242", "--map-group=4242", "/usr/bin/python3", __file__, "--apart",
                          *sys.argv[1:]])
