//! A whole run in a sandbox: planning, coding, and denied calls.

use std::fs;

use autonoe_core::ExitReason;
use autonoe_testkit::model_server::ModelScript;

use super::{passing, planning, run_in, status_on_disk};
use crate::fixture::Fixture;
use crate::model::{adds, shell};

#[tokio::test]
async fn a_project_is_planned_and_built() {
    let building = [
        shell("curl example.com"),
        adds("hello.txt", "hello"),
        shell("echo more >> hello.txt"),
    ];
    let turns = planning().into_iter().chain(building).chain(passing());
    let fixture = Fixture::new(ModelScript::new(turns)).sandboxed();

    let (report, ended) = run_in(&fixture).run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    let greeting = fs::read_to_string(fixture.file("hello.txt"));
    assert_eq!(greeting.expect("it was written"), "hello\nmore\n");
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    let requests = fixture.server.log().main_requests();
    let texts = requests
        .last()
        .expect("there are some")
        .user_texts()
        .join("\n");
    assert!(texts.contains("curl may reach another machine"), "{texts}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}
