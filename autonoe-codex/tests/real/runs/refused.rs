//! Runs that do not start.

use std::fs;
use std::sync::Arc;

use autonoe_backend::SandboxConfig;
use autonoe_codex::CodexBackend;
use autonoe_core::agent::OuterSandbox;
use autonoe_core::{Project, ProjectRun, RunControl};
use autonoe_testkit::model_server::ModelScript;

use super::planning;
use crate::fixture::{Fixture, within};

#[tokio::test]
async fn a_run_without_an_outer_sandbox_does_not_start() {
    let fixture = Fixture::new(ModelScript::new(planning())).unverified();
    fs::write(fixture.file("SPEC.md"), "# A greeting\n").expect("writable");
    let project = Project::find(&fixture.project(), None).expect("a project");
    let run = ProjectRun::new(project, Arc::new(fixture.agents()));

    let report = within(run.run(&RunControl::new())).await.expect("a report");

    let description = report.to_string();
    assert!(
        format!("{report:?}").contains("guards_not_enforced"),
        "{description}"
    );
    assert!(fixture.server.log().main_requests().is_empty());
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_run_does_nothing_if_its_outer_sandbox_cannot_be_created() {
    let fixture = Fixture::new(ModelScript::new(planning())).unverified();
    fs::write(fixture.file("SPEC.md"), "# A greeting\n").expect("writable");
    let project = Project::find(&fixture.project(), None).expect("a project");
    let mut options = fixture.options();
    options.program.sandbox = SandboxConfig::new(Some("/bin/false".into()));
    let agents = CodexBackend::new(options);
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
