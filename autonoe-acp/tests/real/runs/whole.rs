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
    let setting = Fixture::new(ModelScript::new(turns));

    let (report, ended) = run_in(&setting).run().await;

    assert_eq!(
        report.exit,
        ExitReason::AllPassed,
        "{report} {ended:?} {:?}",
        setting.tool_results()
    );
    let greeting = fs::read_to_string(setting.file("hello.txt"));
    assert_eq!(greeting.expect("it was written"), "hello\n");
    assert!(!setting.file("trace.txt").exists());
    assert!(!setting.file(".autonoe/trace.txt").exists());
    assert_eq!(status_on_disk(&setting.project())["passed"], true);
    let told = setting.tool_results();
    let refused = told
        .iter()
        .filter(|told| told.contains("canceled by the user"));
    assert!(refused.count() >= 3, "{told:?}");
    setting.server.verify();
    setting.assert_nothing_is_left();
}

#[tokio::test]
async fn a_run_without_an_outer_sandbox_does_not_start() {
    let setting = Fixture::new(ModelScript::new::<Turn>([]));

    let (report, ended) = run_without_walls(&setting).run().await;

    assert!(report.to_string().contains("outer sandbox"), "{report}");
    assert_eq!(ended, Vec::<serde_json::Value>::new());
    setting.assert_nothing_is_left();
}
