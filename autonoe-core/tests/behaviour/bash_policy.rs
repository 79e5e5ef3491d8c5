//! Bash policies have the mode and the project directory of their run.

use std::path::Path;

use autonoe_core::gate::policy::{
    BashSecurity, BashValidator, DenyAll, Destructive, Policy, PolicyConfig, PolicyScope, Verdict,
};
use autonoe_core::run::{BuildError, SessionRunnerBuilder};
use autonoe_core::{ExitReason, Mode, SessionRunner, ToolCall};
use autonoe_testkit::SessionScript;
use serde_json::json;

use crate::behaviour::support::{Fixture, PROJECT, create};

const WRITES: &str = "echo done > notes.md";

fn validator(mode: Mode, project: &str) -> BashValidator {
    let scope = PolicyScope {
        mode,
        ..PolicyScope::new(project)
    };
    BashValidator::new(Policy::new(scope, PolicyConfig::default()).expect("a good policy"))
}

async fn is_allowed(builder: SessionRunnerBuilder, project: &Path, command: &str) -> bool {
    let gate = builder.build_gate().expect("parts fit");
    let call = ToolCall::new("Bash", json!({ "command": command })).in_dir(project);
    gate.decide(&call).await.is_allowed()
}

#[tokio::test(start_paused = true)]
async fn a_sync_run_does_not_let_the_shell_write() {
    let fixture = Fixture::new([
        SessionScript::new("plans")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .is_denied_by("bash-security", "Bash", json!({ "command": WRITES }))
            .uses_tool("Bash", json!({"command": "cargo test"}))
            .ends(),
        SessionScript::new("verifies")
            .uses_tool("mcp__autonoe__verify", json!({"deliverableId": "A"}))
            .ends(),
    ]);
    let runner = fixture
        .runner()
        .bash_policy(PolicyConfig::default())
        .mode(Mode::Sync);

    let report = fixture.run(runner).await;

    assert_eq!(report.exit, ExitReason::AllVerified);
}

#[tokio::test]
async fn builder_order_does_not_affect_the_policy_mode() {
    let dir = tempfile::tempdir().expect("a directory can be made");
    let builder = || SessionRunner::builder(dir.path());
    let config = PolicyConfig::default;

    for (mode, expected) in [(Mode::Run, true), (Mode::Sync, false)] {
        for builder in [
            builder().mode(mode).bash_policy(config()),
            builder().bash_policy(config()).mode(mode),
        ] {
            assert_eq!(is_allowed(builder, dir.path(), WRITES).await, expected);
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_policy_has_the_directories_of_its_run() {
    let dir = tempfile::tempdir().expect("a directory can be made");
    let (project, link) = (dir.path().join("project"), dir.path().join("link"));
    std::fs::create_dir(&project).expect("it can be made");
    std::os::unix::fs::symlink(&project, &link).expect("it can be made");
    let config = || PolicyConfig {
        destructive: Destructive::Allowed,
        ..PolicyConfig::default()
    };

    for (command, expected) in [
        ("rm -r DIR/project/target", true),
        ("rm -r DIR/link/target", true),
        ("rm -r DIR/other/target", false),
        ("cat DIR/home/.ssh/id_ed25519", false),
        ("cat DIR/home/notes.md", true),
    ] {
        let builder = SessionRunner::builder(&project)
            .bash_policy(config())
            .project_link(&link)
            .home(dir.path().join("home"));
        let command = command.replace("DIR", &dir.path().to_string_lossy());
        assert_eq!(
            is_allowed(builder, &project, &command).await,
            expected,
            "{command}"
        );
    }
}

#[test]
fn a_validator_of_another_mode_directory_or_home_is_refused() {
    let refusal = |judge: Box<dyn Fn(SessionRunnerBuilder) -> SessionRunnerBuilder>| {
        let builder = SessionRunner::builder(PROJECT).mode(Mode::Sync);
        judge(builder).build_gate().err()
    };
    let fits = |judge| match refusal(judge) {
        None => true,
        Some(BuildError::BashScope(_)) => false,
        Some(error) => panic!("{error}"),
    };

    assert!(fits(Box::new(
        |builder| builder.bash_security(validator(Mode::Sync, "/srv/project/"))
    )));
    assert!(!fits(Box::new(
        |builder| builder.bash_security(validator(Mode::Run, PROJECT))
    )));
    assert!(!fits(Box::new(
        |builder| builder.bash_security(validator(Mode::Sync, "/srv/other"))
    )));
    assert!(!fits(Box::new(|builder| builder.bash_security(
        (|_: &str| Verdict::Allow).and(validator(Mode::Run, PROJECT))
    ))));
    assert!(!fits(Box::new(|builder| builder.bash_security(
        DenyAll.and_when(|_: &str| true, validator(Mode::Run, PROJECT))
    ))));

    assert!(!fits(Box::new(|builder| builder
        .home("/home/ada")
        .bash_security(validator(Mode::Sync, PROJECT)))));

    let error = refusal(Box::new(|builder| {
        builder.bash_security(validator(Mode::Run, PROJECT))
    }));
    assert_eq!(
        error.expect("another mode").to_string(),
        "the Bash policy is for mode run in \"/srv/project\" with no home, and the run has mode sync \
         in \"/srv/project\" with no home; call .bash_policy(..) instead of .bash_security(..), which \
         takes them from the run",
    );
}
