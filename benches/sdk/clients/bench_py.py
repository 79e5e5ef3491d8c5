"""The Python SDK in `cargo xtask bench sdk`: `python bench_py.py FAKE`.

Counts the messages that it is handed between the two marks, how often the hook was asked and
how often the tool was called, and prints a line of JSON.
"""

import asyncio
import json
import os
import platform
import resource
import sys
import time

os.environ["CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK"] = "1"
begun_loading = time.perf_counter()
import claude_agent_sdk  # noqa: E402
from claude_agent_sdk import (  # noqa: E402
    ClaudeAgentOptions,
    HookMatcher,
    RateLimitEvent,
    create_sdk_mcp_server,
    query,
    tool,
)

loaded = time.perf_counter() - begun_loading
hooks = 0
calls = 0


@tool("echo", "Gives back what it is given.", {"text": str})
async def echo(arguments):
    global calls
    calls += 1
    return {"content": [{"type": "text", "text": arguments["text"]}]}


async def allow(_input, _tool_use_id, _context):
    global hooks
    hooks += 1
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
        }
    }


def options():
    return ClaudeAgentOptions(
        cli_path=sys.argv[1],
        hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[allow])]},
        mcp_servers={"autonoe": create_sdk_mcp_server("autonoe", tools=[echo])},
        max_buffer_size=64 << 20,
    )


async def main():
    messages, first, start, end = 0, None, None, None
    begun = time.perf_counter()
    async for message in query(prompt="go", options=options()):
        if first is None:
            first = time.perf_counter()
        if isinstance(message, RateLimitEvent):
            if message.rate_limit_info.status == "allowed":
                start = time.perf_counter()
            else:
                end = time.perf_counter()
        elif start is not None and end is None:
            messages += 1
    total = time.perf_counter() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "client": "claude-agent-sdk (Python)",
        "version": claude_agent_sdk.__version__,
        "runtime": "Python " + platform.python_version(),
        "messages": messages,
        "messages_per_s": messages / (end - start),
        "hooks": hooks,
        "calls": calls,
        "load_s": loaded,
        "first_message_ms": (first - begun) * 1e3,
        "total_s": total,
        "peak_rss_mib": used.ru_maxrss / 1024,
        "cpu_s": used.ru_utime + used.ru_stime,
    }
    print(json.dumps(figures))


asyncio.run(main())
