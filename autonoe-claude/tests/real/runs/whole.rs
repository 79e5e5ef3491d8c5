//! A whole run in the sandbox: planning, coding, and denied calls.

use std::fs;
use std::sync::Arc;

use autonoe_backend::SandboxConfig;
use autonoe_claude::ClaudeBackend;
use autonoe_core::agent::OuterSandbox;
use autonoe_core::{ExitReason, Project, ProjectRun, RunControl};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use autonoe_testkit::program::WatchedRun;
use serde_json::json;

use super::{bash, passing, planning, run_in, run_planned_in, tool_results};
use crate::build::{Build, on_both_builds};
use crate::fixture::{Fixture, within};

/// A file beside the ledger.
const PROTECTED: &str = ".autonoe/notes.txt";

async fn a_project_is_planned_and_built(build: Build) {
    let fixture = Fixture::new(
        build,
        ModelScript::new(planning().into_iter().chain(building())),
    );
    let run = run_in(&fixture);

    assert_built(&fixture, run).await;
}

async fn a_project_is_built_in_the_outer_sandbox(build: Build) {
    let fixture = Fixture::new(build, ModelScript::new(building()));
    let run =
        run_planned_in(&fixture).configure(|run| run.outer_sandbox(OuterSandbox::bubblewrap()));

    assert_built(&fixture, run).await;
}

/// Returns the model turns of the coding session: two calls are denied.
fn building() -> impl Iterator<Item = Turn> {
    let calls = [
        bash("curl example.com"),
        Turn::tool("Write", json!({"file_path": PROTECTED, "content": "{}"})),
        bash("echo hello > hello.txt"),
    ];
    calls.into_iter().chain(passing())
}

async fn assert_built(fixture: &Fixture, run: WatchedRun) {
    let (report, ended) = run.run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    let greeting = fs::read_to_string(fixture.file("hello.txt"));
    assert_eq!(greeting.expect("it was written"), "hello\n");
    let results = tool_results(fixture);
    let has_result = |text: &str| results.iter().any(|result| result.contains(text));
    assert!(has_result("curl may reach another machine"), "{results:?}");
    assert!(has_result("use the autonoe tools"), "{results:?}");
    assert!(!fixture.file(PROTECTED).exists());
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

async fn a_run_does_nothing_if_its_outer_sandbox_cannot_be_created(build: Build) {
    let fixture = Fixture::new(build, ModelScript::new(planning())).unverified();
    fs::write(fixture.file("SPEC.md"), "# A greeting\n").expect("writable");
    let project = Project::find(&fixture.project(), None).expect("a project");
    let mut options = fixture.options();
    options.program.sandbox = SandboxConfig::new(Some("/bin/false".into()));
    let agents = ClaudeBackend::new(options);
    let run = ProjectRun::new(project, Arc::new(agents))
        .configure(|runner| runner.outer_sandbox(OuterSandbox::bubblewrap()));

    let report = within(run.run(&RunControl::new())).await.expect("a report");

    let description = format!("{report:?}");
    assert!(
        description.contains("backend_not_available"),
        "{description}"
    );
    assert!(fixture.server.log().main_requests().is_empty());
    fixture.assert_nothing_is_left();
}

on_both_builds![
    a_project_is_planned_and_built;
    newer_only:
    a_project_is_built_in_the_outer_sandbox,
    a_run_does_nothing_if_its_outer_sandbox_cannot_be_created,
];
