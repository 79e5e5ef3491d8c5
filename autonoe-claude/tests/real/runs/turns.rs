//! Sessions that exceed their limit of turns.

use autonoe_core::ExitReason;
use autonoe_testkit::model_server::anthropic::ModelScript;

use super::{bash, passing, run_planned_in, status_on_disk};
use crate::build::{Build, on_newer_build};
use crate::fixture::Fixture;

async fn a_session_that_takes_too_many_turns_is_followed_by_another(build: Build) {
    let too_many = ["echo 1 > one", "echo 2 > two", "echo 3 > three"].map(bash);
    let turns = too_many.into_iter().chain(passing());
    let fixture = Fixture::new(build, ModelScript::new(turns));

    let run = run_planned_in(&fixture).configure(|runner| runner.max_turns(3));
    let (report, ended) = run.run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report}");
    let cut_short = &ended[0]["result"];
    assert_eq!(cut_short["outcome"], "max_turns", "{cut_short}");
    assert_eq!(report.sessions, 2, "{ended:?}");
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    assert!(fixture.file("three").exists());
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

on_newer_build![a_session_that_takes_too_many_turns_is_followed_by_another];
