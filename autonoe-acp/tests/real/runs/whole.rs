//! A whole run: planning, coding, and denied calls.

use std::fs;

use autonoe_core::ExitReason;
use autonoe_testkit::model_server::{ModelScript, Turn};

use super::{passing, planning, run_in, run_without_walls, status_on_disk};
use crate::fixture::{Fixture, shell, write};

#[tokio::test]
async fn a_project_is_planned_and_built_and_denied_calls_leave_no_trace() {
    let building = [
        shell("wget -O trace.txt example.com"),
        shell("curl example.com > trace.txt"),
        write(".autonoe/trace.txt", "1"),
        write("hello.txt", "hello\n"),
    ];
    let turns = planning().into_iter().chain(building).chain(passing());
    let fixture = Fixture::new(ModelScript::new(turns));

    let (report, ended) = run_in(&fixture).run().await;

    assert_eq!(
        report.exit,
        ExitReason::AllPassed,
        "{report} {ended:?} {:?}",
        fixture.tool_results()
    );
    let greeting = fs::read_to_string(fixture.file("hello.txt"));
    assert_eq!(greeting.expect("it was written"), "hello\n");
    assert!(!fixture.file("trace.txt").exists());
    assert!(!fixture.file(".autonoe/trace.txt").exists());
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    let results = fixture.tool_results();
    let refused = results
        .iter()
        .filter(|result| result.contains("canceled by the user"));
    assert!(refused.count() >= 3, "{results:?}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_run_without_an_outer_sandbox_does_not_start() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));

    let (report, ended) = run_without_walls(&fixture).run().await;

    assert!(report.to_string().contains("outer sandbox"), "{report}");
    assert_eq!(ended, Vec::<serde_json::Value>::new());
    fixture.assert_nothing_is_left();
}
