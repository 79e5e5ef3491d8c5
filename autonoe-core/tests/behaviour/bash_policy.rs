//! The Bash policy of a run has the mode and the project directory of the run.

use autonoe_core::{
    BashSecurity, BashValidator, BuildError, DenyAll, Destructive, ExitReason, GateDecision, Mode,
    Policy, PolicyConfig, PolicyScope, SessionRunner, SessionRunnerBuilder, ToolCall, Verdict,
};
use autonoe_testkit::SessionScript;
use serde_json::json;

use crate::behaviour::support::{Bench, PROJECT, create};

const WRITES: &str = "echo done > notes.md";

fn validator(mode: Mode, project: &str) -> BashValidator {
    let scope = PolicyScope {
        mode,
        ..PolicyScope::new(project)
    };
    BashValidator::new(Policy::new(scope, PolicyConfig::default()).expect("a good policy"))
}

async fn decides(builder: SessionRunnerBuilder, command: &str) -> GateDecision {
    let gate = builder.build_gate().expect("parts fit");
    let call = ToolCall::new("Bash", json!({ "command": command })).in_dir(PROJECT);
    gate.decide(&call).await
}

#[tokio::test(start_paused = true)]
async fn a_sync_run_does_not_let_the_shell_write() {
    let bench = Bench::new([
        SessionScript::new("plans")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .is_denied("Bash", json!({ "command": WRITES }))
            .uses_tool("Bash", json!({"command": "cargo test"}))
            .ends(),
        SessionScript::new("verifies")
            .uses_tool("mcp__autonoe__verify", json!({"deliverableId": "A"}))
            .ends(),
    ]);
    let runner = bench
        .runner()
        .bash_policy(PolicyConfig::default())
        .mode(Mode::Sync);

    let report = bench.run(runner).await;

    assert_eq!(report.exit, ExitReason::AllVerified);
}

#[tokio::test]
async fn a_policy_has_the_directories_and_the_mode_of_its_run_whatever_is_set_first() {
    let config = || PolicyConfig {
        destructive: Destructive::Allowed,
        ..PolicyConfig::default()
    };
    let builder = || SessionRunner::builder(PROJECT);

    for (mode, is_allowed) in [(Mode::Run, true), (Mode::Sync, false)] {
        for builder in [
            builder().mode(mode).bash_policy(config()),
            builder().bash_policy(config()).mode(mode),
        ] {
            assert_eq!(decides(builder, WRITES).await.is_allowed(), is_allowed);
        }
    }
    for (command, is_allowed) in [
        ("rm -r /srv/project/target", true),
        ("rm -r /srv/other/target", false),
        ("rm -r /link/target", true),
        ("cat /elsewhere/ada/.ssh/id_ed25519", false),
    ] {
        let builder = builder()
            .bash_policy(config())
            .project_link("/link")
            .home("/elsewhere/ada");
        assert_eq!(
            decides(builder, command).await.is_allowed(),
            is_allowed,
            "{command}"
        );
    }
}

#[test]
fn a_validator_of_another_mode_or_directory_is_refused() {
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
        DenyAll.and(validator(Mode::Run, PROJECT).when(|_: &str| true))
    ))));

    let error = refusal(Box::new(|builder| {
        builder.bash_security(validator(Mode::Run, PROJECT))
    }));
    assert_eq!(
        error.expect("another mode").to_string(),
        "the Bash policy is for mode run in \"/srv/project\", and the run has mode sync in \
         \"/srv/project\"; call .bash_policy(..) instead of .bash_security(..), which takes both \
         from the run",
    );
}
