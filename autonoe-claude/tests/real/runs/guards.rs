//! Calls that the guards of a run deny.

use autonoe_core::ExitReason;
use autonoe_testkit::model_server::anthropic::{ModelScript, ScriptedMessage};
use serde_json::{Value, json};

use super::{passing, run_planned_in, status_on_disk};
use crate::build::{Build, on_newer_build};
use crate::fixture::Fixture;

/// Calls that no run allows: each would leave a file, or change the ledger.
fn refused() -> [(&'static str, Value); 7] {
    let bash = |command: &str| {
        let input = json!({"command": command, "description": "as the script says"});
        ("Bash", input)
    };
    let ledger = ".autonoe/status.json";
    [
        bash("wget -O trace.txt example.com"),
        bash("echo before > trace.txt; curl example.com"),
        bash("bash -c 'wget -O trace.txt example.com'"),
        bash("echo '{}' > .autonoe/status.json"),
        bash("cd .autonoe && echo 1 > trace.txt"),
        ("Write", json!({"file_path": ledger, "content": "{}"})),
        (
            "Write",
            json!({"file_path": ".autonoe/trace.txt", "content": "1"}),
        ),
    ]
}

async fn calls_that_the_guards_deny_leave_no_trace(build: Build) {
    let calls = refused().into_iter().enumerate();
    let calls = calls.map(|(number, (name, input))| {
        ScriptedMessage::new()
            .uses_tool_as(format!("refused-{number}"), name, input)
            .into()
    });
    let turns = calls.chain(passing());
    let fixture = Fixture::new(build, ModelScript::new(turns));

    let (report, ended) = run_planned_in(&fixture).run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    let requests = fixture.server.log().main_requests();
    let results = requests.last().expect("there are some").tool_results();
    for (number, (name, input)) in refused().iter().enumerate() {
        let id = format!("refused-{number}");
        let result = results.iter().find(|result| result.tool_use_id == id);
        let is_refused = result.is_some_and(|result| result.is_error);
        assert!(is_refused, "{name} {input}: {result:?}");
    }
    assert_eq!(fixture.files(), ["SPEC.md"]);
    assert!(!fixture.file(".autonoe/trace.txt").exists());
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

on_newer_build![calls_that_the_guards_deny_leave_no_trace];
