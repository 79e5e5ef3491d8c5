//! A whole run: planning, coding, and what is not allowed, in the sandbox.

use std::fs;

use autonoe_core::ExitReason;
use autonoe_testkit::model_server::anthropic::{Script, Turn};
use serde_json::json;

use super::{Run, bash, passing, planning, told};
use crate::build::{Build, on_both_builds};
use crate::setting::Setting;

const LEDGER: &str = ".autonoe/status.json";

async fn a_project_is_planned_and_built(build: Build) {
    let building = [
        bash("curl example.com"),
        Turn::tool("Write", json!({"file_path": LEDGER, "content": "{}"})),
        bash("echo hello > hello.txt"),
    ];
    let turns = planning().into_iter().chain(building).chain(passing());
    let setting = Setting::new(build, Script::new(turns));

    let (report, ended) = Run::in_project_of(&setting).until_it_ends().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    let greeting = fs::read_to_string(setting.file("hello.txt"));
    assert_eq!(greeting.expect("it was written"), "hello\n");
    let told = told(&setting);
    let told_of = |text: &str| told.iter().any(|result| result.contains(text));
    assert!(
        told_of("Command 'curl' is not in the allowlist"),
        "{told:?}"
    );
    // The program's own rule is faster than the gate here.
    assert!(told_of("denied by your permission settings"), "{told:?}");
    setting.server.verify();
    setting.assert_nothing_is_left();
}

on_both_builds![a_project_is_planned_and_built];
