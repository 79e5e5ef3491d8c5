//! Tests of `autonoe mcp`, started as agents start it.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{LedgerStore, MemoryRepository, deliverable_tools};
use autonoe_core::time::{Epoch, SessionKey, SystemClock};
use autonoe_core::tool::{McpServer, ServedTools, ToolServer, Toolbox};
use autonoe_mcp::HttpToolServer;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{RunningService, serve_client};
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::commands::fixture::Fixture;

const SOON: Duration = Duration::from_secs(60);

/// Waits for `work`, within the time limit.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    timeout(SOON, work).await.expect("it happens soon")
}

/// The tools of a planning session, served as in a run.
async fn served() -> (ServedTools, LedgerStore) {
    let repository = Arc::new(MemoryRepository::new());
    let store = LedgerStore::new(repository, Arc::new(SystemClock), Epoch(1));
    let tools = Toolbox::new(deliverable_tools(&store, &InstructionName::Sync));
    let session = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let server = HttpToolServer::new().by_command(env!("CARGO_BIN_EXE_autonoe"));
    let served = server.serve(&session, tools).await.expect("it serves");
    (served, store)
}

/// Starts the command of a server, as an agent does.
fn start(at: &McpServer) -> Child {
    let McpServer::Stdio {
        command, args, env, ..
    } = at
    else {
        panic!("it is not named by a command: {at:?}");
    };
    Command::new(command)
        .args(args)
        .env_clear()
        .envs(env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts")
}

async fn greet(child: &mut Child) -> RunningService<RoleClient, ClientConfig> {
    let pipes = (
        child.stdout.take().expect("it is piped"),
        child.stdin.take().expect("it is piped"),
    );
    let us = ClientConfig::default().with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
    soon(serve_client(us, pipes)).await.expect("it greets")
}

async fn call(
    agent: &RunningService<RoleClient, ClientConfig>,
    tool: &'static str,
    input: Value,
) -> Value {
    let input = input.as_object().cloned().unwrap_or_default();
    let params = CallToolRequestParams::new(tool).with_arguments(input);
    let result = soon(agent.peer().call_tool(params)).await;
    serde_json::to_value(result.expect("it is answered")).expect("it serialises")
}

#[tokio::test]
async fn an_agent_that_knows_only_commands_writes_the_ledger_of_the_run() {
    let (served, store) = served().await;
    let mut child = start(&served.server);
    let agent = greet(&mut child).await;

    let tools = soon(agent.peer().list_all_tools())
        .await
        .expect("they are told");
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});
    let created = call(&agent, "create", plan.clone()).await;
    let second = call(&agent, "create", plan).await;
    let listed = call(&agent, "list", json!({})).await;

    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["create", "deprecate", "list"]);
    let schemas = serde_json::to_string(&tools).expect("it serialises");
    assert!(
        !schemas.contains("$ref") && !schemas.contains("$defs"),
        "{schemas}"
    );
    assert_eq!(
        created["structuredContent"],
        json!({"success": true, "created": ["DL-001"]})
    );
    assert_eq!(second["isError"], json!(true));
    assert_eq!(listed["structuredContent"]["total"], json!(1));
    let state = store.read().await.expect("it can be read");
    assert_eq!(state.map(|state| state.ledger.counts().total), Some(1));

    let _ = agent.cancel().await;
    let ended = soon(child.wait_with_output()).await.expect("it ends");
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[tokio::test]
async fn agent_gets_error_after_run_ended() {
    let (served, _) = served().await;
    let server = served.server.clone();
    let mut child = start(&server);
    let agent = greet(&mut child).await;

    drop(served);

    let params = CallToolRequestParams::new("list");
    let refused = soon(agent.peer().call_tool(params))
        .await
        .expect_err("nobody is there")
        .to_string();
    assert!(refused.contains("the run"), "{refused}");
    let _ = agent.cancel().await;
    soon(child.wait()).await.expect("it ends");

    let mut late = start(&server);
    let mut input = late.stdin.take().expect("it is piped");
    let greeting = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25"}});
    let line = format!("{greeting}\n");
    tokio::io::AsyncWriteExt::write_all(&mut input, line.as_bytes())
        .await
        .expect("it listens");

    // Its standard input is still open, so it ended on its own.
    let ended = soon(late.wait_with_output()).await.expect("it ends");

    drop(input);
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(stderr.contains("the run has ended"), "{stderr}");
    let answer: Value = serde_json::from_slice(&ended.stdout).expect("it is one line");
    assert_eq!(answer["error"]["code"], json!(-32000));
}

#[test]
fn invalid_mcp_arguments_are_usage_errors() {
    let here = "http://127.0.0.1:9/sessions/1/mcp";
    for (args, token, expected) in [
        (&["mcp"][..], Some("x"), "--url"),
        (
            &["mcp", "--url", here],
            None,
            "AUTONOE_MCP_TOKEN is not set",
        ),
        (&["mcp", "--url", here], Some(""), "a header cannot contain"),
        (
            &["mcp", "--url", "http://example.com:80/"],
            Some("secret-of-the-run"),
            "a local one",
        ),
    ] {
        let fixture = Fixture::new();
        let mut command = fixture.command(args);
        command.envs(token.map(|token| ("AUTONOE_MCP_TOKEN", token)));

        let output = command.output().expect("it starts");

        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
        assert!(!stderr.contains("secret-of-the-run"), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}
