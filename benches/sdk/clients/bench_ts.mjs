// The TypeScript SDK in `cargo xtask bench sdk`: `node bench_ts.mjs FAKE`.
//
// Counts the messages that it is handed between the two marks, how often the hook was asked and
// how often the tool was called, and prints a line of JSON.

import { readFileSync } from 'node:fs';
import { z } from 'zod';

const begunLoading = performance.now();
const { createSdkMcpServer, query, tool } = await import('@anthropic-ai/claude-agent-sdk');
const loaded = performance.now() - begunLoading;

let hooks = 0;
let calls = 0;

const echo = tool('echo', 'Gives back what it is given.', { text: z.string() }, async ({ text }) => {
  calls += 1;
  return { content: [{ type: 'text', text }] };
});

const allow = async () => {
  hooks += 1;
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } };
};

const options = {
  pathToClaudeCodeExecutable: process.argv[2],
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [allow] }] },
  mcpServers: { autonoe: createSdkMcpServer({ name: 'autonoe', version: '1.0.0', tools: [echo] }) },
};

let messages = 0;
let first, start, end;
const begun = performance.now();
for await (const message of query({ prompt: 'go', options })) {
  first ??= performance.now();
  if (message.type === 'rate_limit_event') {
    if (message.rate_limit_info.status === 'allowed') start = performance.now();
    else end = performance.now();
  } else if (start !== undefined && end === undefined) {
    messages += 1;
  }
}
const total = performance.now() - begun;

const manifest = new URL('node_modules/@anthropic-ai/claude-agent-sdk/package.json', import.meta.url);
const used = process.resourceUsage();
const figures = {
  client: 'claude-agent-sdk (TypeScript)',
  version: JSON.parse(readFileSync(manifest, 'utf8')).version,
  runtime: `Node.js ${process.version}`,
  messages,
  messages_per_s: messages / ((end - start) / 1000),
  hooks,
  calls,
  load_s: loaded / 1000,
  first_message_ms: first - begun,
  total_s: total / 1000,
  peak_rss_mib: used.maxRSS / 1024,
  cpu_s: (used.userCPUTime + used.systemCPUTime) / 1e6,
};
console.log(JSON.stringify(figures));
