//! A sync: the ledger follows the specification, and the code is verified against it.

use std::fs;

use autonoe_core::{ExitReason, Mode};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use serde_json::json;

use super::{bash, passing, planning, run_in, status_on_disk, tool_results};
use crate::build::{Build, on_newer_build};
use crate::fixture::Fixture;

async fn a_sync_verifies_existing_code_and_writes_nothing(build: Build) {
    let [passed, done] = passing();
    let verifying = [
        bash("cat hello.txt"),
        bash("echo changed > hello.txt"),
        Turn::tool("Write", json!({"file_path": "new.txt", "content": "new"})),
        passed,
        Turn::tool("mcp__autonoe__verify", json!({"deliverableId": "DL-001"})),
        done,
    ];
    let turns = planning().into_iter().chain(verifying);
    let fixture = Fixture::new(build, ModelScript::new(turns));
    fs::write(fixture.file("hello.txt"), "hello\n").expect("writable");

    let run = run_in(&fixture).with_options(|options| options.mode(Mode::Sync));
    let (report, ended) = run.run().await;

    assert_eq!(report.exit, ExitReason::AllVerified, "{report} {ended:?}");
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((report.sessions, reported.verified), (2, 1));
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    let results = tool_results(&fixture);
    assert!(results.iter().any(|text| text == "hello"), "{results:?}");
    let greeting = fs::read_to_string(fixture.file("hello.txt"));
    assert_eq!(greeting.expect("it is there"), "hello\n", "{results:?}");
    assert_eq!(fixture.files(), ["SPEC.md", "hello.txt"]);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

on_newer_build![a_sync_verifies_existing_code_and_writes_nothing];
