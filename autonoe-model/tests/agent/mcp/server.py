"""A scripted MCP server on standard input and output.

The first argument says how it behaves as a whole, the tools how single calls do. It writes what
tests look at into its directory.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import time

HOW = sys.argv[1]
SLEEP = ["sleep", "600"]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(name, text=""):
    # Two servers may take the same note at the same time.
    part = f"{name}.{os.getpid()}.part"
    with open(part, "w") as file:
        file.write(text)
    os.rename(part, name)


def tool(name, schema=None, **more):
    return {"name": name, "description": name + "s.", "inputSchema": schema or {"type": "object"}, **more}


TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    tool("echo", TEXT, annotations={"readOnlyHint": True}),
    tool("picture"),
    tool("fail"),
    tool("refuse"),
    tool("slow"),
    tool("die"),
    tool("huge"),
    tool("flood"),
    tool("environment"),
    tool("broken", {"type": "array"}),
    {"name": "bare"},
]


def text(text, **more):
    return {"content": [{"type": "text", "text": text}], **more}


def call(number, params):
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "echo":
        return text(arguments["text"])
    if name == "picture":
        data = base64.b64encode(b"\x89PNG").decode()
        page = {"uri": "page:1", "mimeType": "text/html", "text": "<p>"}
        return {"content": [
            {"type": "image", "data": data, "mimeType": "image/png"},
            {"type": "resource", "resource": page},
        ]}
    if name == "fail":
        return text("the page is gone", isError=True)
    if name == "slow":
        token = params["_meta"]["progressToken"]
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "total": 2, "message": "half"}})
        note("slow", str(number))
        return None
    if name == "die":
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(7)
    if name == "huge":
        return text("x" * 1_000_000)
    if name == "flood":
        return text("x" * 20_000_000)
    if name == "environment":
        return text(" ".join(sorted(os.environ)))
    send({"id": number, "error": {"code": -32602, "message": "there is no tool " + name}})
    return None


if HOW == "crash":
    print("no browser is installed", file=sys.stderr, flush=True)
    sys.exit(3)
if HOW == "family":
    subprocess.Popen(SLEEP, start_new_session=True)
if HOW == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if HOW == "chatty":
    print("Welcome!\n", flush=True)
    send({"id": 99, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
    send({"method": "notifications/message", "params": {"level": "info", "data": "hello"}})

for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        send({"id": number, "result": {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "scripted", "version": "1"},
        }})
    elif method == "tools/list":
        half = len(TOOLS) // 2
        if (message.get("params") or {}).get("cursor"):
            send({"id": number, "result": {"tools": TOOLS[half:]}})
            note("listed")
        else:
            send({"id": number, "result": {"tools": TOOLS[:half], "nextCursor": "2"}})
    elif method == "tools/call":
        if HOW == "chatty":
            send({"method": "notifications/tools/list_changed"})
        answer = call(number, message["params"])
        if answer is not None:
            send({"id": number, "result": answer})
    elif method == "notifications/cancelled":
        note("cancelled", str(message["params"]["requestId"]))
    elif number is not None and method is None:
        note("answered", json.dumps(message))

note("closed")
if HOW == "stubborn":
    time.sleep(600)
