//! Traces across several processes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::metrics::metrics;
use super::receiver::Receiver;
use super::spans::spans;
use super::{EXPORT_LIMIT, exported, script};
use crate::runs::support::autonoe::{CommandOutput, autonoe};
use crate::runs::support::project::Project;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const ABOVE: &str = "b7ad6b7169203331";

#[test]
fn a_run_belongs_to_the_trace_that_it_was_started_in() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let mut command = exported(&project, &script(), &receiver);
    command
        .env("TRACEPARENT", format!("00-{TRACE}-{ABOVE}-01"))
        .env("TRACESTATE", "vendor=1");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let spans = spans(&receiver);
    assert_eq!(spans.len(), 7);
    let roots: Vec<_> = spans.iter().filter(|span| span.parent == ABOVE).collect();
    assert!(matches!(roots[..], [run] if run.name == "invoke_workflow run"));
    for span in &spans {
        assert_eq!((&*span.trace, &*span.state), (TRACE, "vendor=1"));
    }
}

#[test]
fn a_trace_that_is_not_recorded_is_not_exported_but_measured() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let mut command = exported(&project, &script(), &receiver);
    command.env("TRACEPARENT", format!("00-{TRACE}-{ABOVE}-00"));

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(receiver.at("/v1/traces").is_empty());
    assert!(metrics(&receiver).contains_key("autonoe.sessions"));
}

#[test]
fn invalid_trace_parent_starts_a_new_trace() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let mut command = exported(&project, &script(), &receiver);
    command.env("TRACEPARENT", "something else");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(spans(&receiver)[0].parent, "");
}

#[test]
fn agent_process_receives_trace_parent_of_session() {
    let (project, receiver) = (Project::new(), Receiver::start());
    project.write(".autonoe/agent.json", r#"{"mcpServers": {}}"#);
    let (program, traceparent) = (project.sibling_path("claude"), project.sibling_path("told"));
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo '2.1.325 (Claude Code)'; exit 0;; esac\n\
         printf '%s' \"$TRACEPARENT\" > '{}'\nexit 1\n",
        traceparent.display()
    );
    fs::write(&program, script).expect("writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    let backend = json!({"type": "claude", "program": program});
    let backend = format!("--backend={backend}");
    let mut command = autonoe(
        &project,
        &[
            "run",
            "--no-sandbox",
            "--max-retries=0",
            "--pause=0s",
            &backend,
        ],
    );
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url())
        .envs([EXPORT_LIMIT])
        .env("ANTHROPIC_API_KEY", "nobody checks it");

    let ended = CommandOutput::run(command);

    assert_ne!(ended.code, Some(0), "{ended:?}");
    let spans = spans(&receiver);
    let mut sessions = spans
        .iter()
        .filter(|span| span.name.starts_with("invoke_agent"));
    let session = sessions.next_back().expect("there was one");
    let traceparent =
        fs::read_to_string(traceparent).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert_eq!(
        traceparent,
        format!("00-{}-{}-01", session.trace, session.id)
    );
    assert!(session.is_error, "{session:?}");
}
