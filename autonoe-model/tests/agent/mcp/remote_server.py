"""A scripted MCP server over HTTP, for one test. It ends when its standard input does.

The first argument says how it answers. It writes its port and what tests look at into its
directory.
"""

import http.server
import json
import os
import sys
import threading
import time

HOW = sys.argv[1]


def note(name, text=""):
    with open(name + ".part", "w") as file:
        file.write(text)
    os.rename(name + ".part", name)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(405)

    def do_DELETE(self):
        note("deleted", self.headers["Mcp-Session-Id"])
        self.answer(200)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != "Bearer good":
            return self.answer(401, b"the key bad is wrong")
        if HOW == "elsewhere":
            return self.answer(307, Location="/there")
        if HOW == "hangs":
            time.sleep(600)
        message = json.loads(body)
        method, number = message.get("method"), message.get("id")
        if number is None:
            return self.answer(202)
        if method != "initialize" and self.headers["Mcp-Session-Id"] != "s-1":
            return self.answer(400)
        if method == "initialize":
            result = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("hello", "flood", "die")]}
        elif message["params"]["name"] == "die":
            os._exit(1)
        else:
            size = 2_000_000 if message["params"]["name"] == "flood" else 1
            result = {"content": [{"type": "text", "text": "hello" * size}]}
        answer = json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
        if HOW == "events":
            event = f": a comment\nid: {number}\nevent: message\ndata: {answer}\n\n".encode()
            return self.answer(200, event, Content_Type="text/event-stream", Mcp_Session_Id="s-1")
        self.answer(200, answer.encode(), Content_Type="application/json; charset=utf-8", Mcp_Session_Id="s-1")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
note("port", str(server.server_port))
sys.stdin.read()
