//! Compares the tools of the real browser server with the granted ones.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use autonoe_core::Mode;
use autonoe_core::project::{EffectiveConfig, PLAYWRIGHT_MCP_TOOLS, SandboxSwitch};
use autonoe_core::tool::McpServer;
use serde_json::{Value, json};

use crate::browser::programs;

/// Returns the tools that the real server lists.
fn offered_tools(arguments: &[String]) -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let mut server = Command::new("node")
        .arg(programs::playwright())
        .args(arguments)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is Node.js");
    let mut input = server.stdin.take().expect("it is piped");
    let mut output = BufReader::new(server.stdout.take().expect("it is piped")).lines();
    let mut ask = |id: u32, method: &str, params: Value| -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").expect("it listens");
        let line = output.next().expect("it answers").expect("in text");
        let answer: Value = serde_json::from_str(&line).expect("and JSON");
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    };
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    ask(1, "initialize", hello);
    let list = ask(2, "tools/list", json!({}));
    drop(input);
    assert!(server.wait().expect("it ends").success());
    let tools = list["tools"].as_array().expect("a list").iter();
    let names = tools.map(|tool| tool["name"].as_str().expect("a name"));
    names
        .map(|name| format!("mcp__playwright__{name}"))
        .collect()
}

fn granted() -> BTreeSet<String> {
    let tools = PLAYWRIGHT_MCP_TOOLS.iter();
    tools.map(|tool| (*tool).to_owned()).collect()
}

/// Returns the arguments with which a run starts the built-in server, without the package that
/// `npx` fetches.
fn arguments_of_runs() -> Vec<String> {
    let config = EffectiveConfig::merge(None, Mode::Run, SandboxSwitch::default())
        .expect("nothing is configured");
    match &config.mcp_servers()["playwright"] {
        McpServer::Stdio { args, .. } => args[1..].to_vec(),
        other => panic!("{other:?}"),
    }
}

// Shows: spec/4.1/tools
#[test]
fn every_tool_of_the_built_in_server_is_granted_but_the_one_that_runs_code_in_it() {
    let offered = offered_tools(&arguments_of_runs());

    let refused: Vec<_> = offered.difference(&granted()).cloned().collect();

    assert_eq!(refused, ["mcp__playwright__browser_run_code_unsafe"]);
}

// Shows: spec/4.1/allowed-tools, spec/4.2/flow
#[test]
fn every_tool_that_is_granted_is_there() {
    let offered = offered_tools(&arguments_of_runs());

    let unknown: Vec<_> = granted().difference(&offered).cloned().collect();

    assert_eq!(unknown, Vec::<String>::new());
}
