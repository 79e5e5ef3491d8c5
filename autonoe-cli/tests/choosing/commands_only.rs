//! A run on an agent that supports only MCP servers on standard input and output: it starts
//! `autonoe mcp`.

use crate::choosing::fixture::{Fixture, passed, plan};

/// An agent without HTTP support for MCP servers, which it indicates by omitting the capability. It
/// plans in its first session, and finishes in the next.
const AGENT: &str = r#"
const { spawn } = require('child_process');
const { createInterface } = require('readline');
const fs = require('fs');
const lines = (input, hear) => createInterface({ input }).on('line', line => hear(JSON.parse(line)));
const say = (to, message) => to.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
let server, number = 0;
const asked = {};
const ask = (method, params) => new Promise(answered => {
  asked[++number] = answered;
  say(server.stdin, { id: number, method, params });
});
const handlers = {
  initialize: async () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': async ({ mcpServers: [{ command, args, env }] }) => {
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    server = spawn(command, args, { env: { ...process.env, ...own }, stdio: ['pipe', 'pipe', 'inherit'] });
    lines(server.stdout, answer => asked[answer.id]?.(answer));
    const clientInfo = { name: 'agent', version: '1' };
    await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    say(server.stdin, { method: 'notifications/initialized' });
    return { sessionId: 's' };
  },
  'session/prompt': async () => {
    const isPlanned = fs.existsSync('planned.txt');
    fs.writeFileSync('planned.txt', 'yes');
    const { result } = await ask('tools/call', isPlanned
      ? { name: 'set_status', arguments: PASSED }
      : { name: 'create', arguments: PLAN });
    const content = { type: 'text', text: JSON.stringify(result) };
    const update = { sessionUpdate: 'agent_message_chunk', content };
    say(process.stdout, { method: 'session/update', params: { sessionId: 's', update } });
    return { stopReason: 'end_turn' };
  },
};
lines(process.stdin, async ({ id, method, params }) => {
  const result = await handlers[method]?.(params);
  if (result) say(process.stdout, { id, result });
}).on('close', () => { server?.stdin.end(); process.exit(0); });
"#;

#[test]
fn an_agent_that_knows_commands_only_works_on_the_ledger_of_the_run() {
    let fixture = Fixture::new();
    let script = format!(
        "const PLAN = {};\nconst PASSED = {};\n{AGENT}",
        plan(),
        passed()
    );
    let agent = fixture.root().with_file_name("agent.js");
    std::fs::write(&agent, script).expect("writable");
    let backend = format!("--backend=acp:node {}", agent.display());

    let run = fixture.autonoe(&["run", "--pause=0s", &backend]);

    assert_eq!(run.code, Some(0), "{run:?}");
    let summary = "1 of 1 deliverables passed; 2 iterations";
    assert!(run.stdout.contains(summary), "{run:?}");
    fixture.wait_for_processes();
}
