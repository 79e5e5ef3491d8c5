//! Optional MCP servers of a run.

use autonoe_core::ExitReason;
use autonoe_core::tool::McpServer;
use autonoe_testkit::model_server::ModelScript;
use serde_json::json;

use super::{passing, planning, run_in};
use crate::fixture::Fixture;

/// Returns a server whose program exits without output.
fn broken() -> McpServer {
    let server = json!({"command": "/bin/sh", "args": ["-c", "echo no browser >&2; exit 3"]});
    serde_json::from_value(server).expect("a server")
}

/// Returns the exit reason and the warnings of a run with such a server, which is optional or not.
async fn run_with(fixture: &Fixture, is_optional: bool) -> (ExitReason, Vec<String>) {
    let run = run_in(fixture).configure(move |runner| {
        let runner = runner.max_retries(0);
        if is_optional {
            runner.optional_mcp_server("playwright", broken())
        } else {
            runner.mcp_server("playwright", broken())
        }
    });
    let log = run.log();
    let (report, _) = run.run().await;
    let warnings = log
        .json()
        .into_iter()
        .filter(|event| event["event"] == "warning")
        .filter_map(|event| Some(event["message"].as_str()?.to_owned()))
        .filter(|message| message.contains("playwright"))
        .collect();
    (report.exit, warnings)
}

#[tokio::test]
async fn a_run_works_without_an_optional_server_that_does_not_start_and_warns_once() {
    // Two sessions: one plans, one builds.
    let turns = planning().into_iter().chain(passing());
    let fixture = Fixture::new(ModelScript::new(turns)).sandboxed();

    let (exit, warnings) = run_with(&fixture, true).await;

    assert_eq!(exit, ExitReason::AllPassed, "{warnings:?}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let start = "sessions start without the MCP server \"playwright\": ";
    assert!(warnings[0].starts_with(start), "{warnings:?}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_session_does_not_start_without_a_server_that_it_needs() {
    let fixture = Fixture::new(ModelScript::new(planning()))
        .unverified()
        .sandboxed();

    let (exit, warnings) = run_with(&fixture, false).await;

    assert!(!matches!(exit, ExitReason::AllPassed), "{exit:?}");
    assert_eq!(warnings, Vec::<String>::new());
    assert!(fixture.server.log().main_requests().is_empty());
    fixture.assert_nothing_is_left();
}
