//! An MCP server that the user's project configures.

use serde_json::json;

use crate::backends::run_script::calls_mcp_tool;
use crate::everyday::chore::Chore;

/// A server on standard input and output that stores notes in a file.
const SERVER: &str = r"
const fs = require('fs');
const { createInterface } = require('readline');
const schema = { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] };
const tools = ['remember', 'forget'].map(name => ({
  name, description: `Makes the file ${name} a note`, inputSchema: schema,
}));
const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: { note } }) => {
    fs.appendFileSync('notes.log', `${name} ${note}\n`);
    return { content: [{ type: 'text', text: `${name}: ${note}` }] };
  },
};
createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = handlers[method]?.(params) ?? {};
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
}).on('close', () => process.exit(0));
";

/// Calls a granted tool and one that is not granted.
pub(crate) fn mcp_server() -> Chore {
    let calls = [
        calls_mcp_tool("notes", "remember", json!({"note": "buy milk"}))
            .expects_text("remember: buy milk"),
        calls_mcp_tool("notes", "forget", json!({"note": "buy milk"})).denied(),
    ];
    Chore::new("The notes are kept", calls)
        .file("tools/notes.js", SERVER)
        .settings(json!({
            "mcpServers": {"notes": {"command": "node", "args": ["tools/notes.js"]}},
            "allowedTools": ["mcp__notes__remember"],
        }))
        .leaves(["notes.log", "tools"])
        .check(|workplace, findings| {
            let notes = workplace.read("notes.log");
            findings.same("the notes", notes, "remember buy milk\n");
        })
}
