"""An MCP client of the standard library alone. It calls the tool `steps` and keeps to the clause of the specification
(Lifecycle, "Timeouts"): it gives up after TIMEOUT, tells the server so, and "MAY choose to reset the timeout clock when
receiving a progress notification". Then it ends the server as Python's SDK does. A line of JSON tells what it saw.

    clause.py TIMEOUT CALL COMMAND...    times in milliseconds
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

timeout, silence = int(sys.argv[1]) / 1000, int(sys.argv[2])
start_limit = 60
server = subprocess.Popen(sys.argv[3:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
lines = queue.Queue()
heard = []


def read():
    for line in server.stdout:
        lines.put(json.loads(line))


def send(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def receive(ident, limit, token=None):
    """The answer; None if the time is over. Progress under this token starts the clock again."""
    end = time.monotonic() + limit
    while True:
        try:
            message = lines.get(timeout=max(0, end - time.monotonic()))
        except queue.Empty:
            return None
        if message.get("id") == ident and "method" not in message:
            return message
        params = message.get("params", {})
        if message.get("method") == "notifications/progress" and params.get("progressToken") == token:
            heard.append(params["progress"])
            end = time.monotonic() + limit


def leave():
    server.stdin.close()
    try:
        return server.wait(2)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGTERM)
        return server.wait()


threading.Thread(target=read, daemon=True).start()
send(
    id=0,
    method="initialize",
    params={"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "clause", "version": "1"}},
)
if receive(0, start_limit) is None:
    sys.exit("initialize was not answered")
send(method="notifications/initialized")
start = time.monotonic()
arguments = {"count": 1, "every": silence}
send(id=1, method="tools/call", params={"name": "steps", "arguments": arguments, "_meta": {"progressToken": "mine"}})
answer = receive(1, timeout, "mine")
elapsed = round((time.monotonic() - start) * 1000)
if answer is None:
    send(method="notifications/cancelled", params={"requestId": 1, "reason": "timed out"})
print(json.dumps({"answer": answer, "elapsed": elapsed, "heard": heard, "status": leave()}))
