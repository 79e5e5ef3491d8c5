//! Runs from the first session to the report.

use std::time::Duration;

use autonoe_core::agent::{AgentErrorKind, SessionOutcome, TokenUsage};
use autonoe_core::gate::policy::PolicyConfig;
use autonoe_core::run::Models;
use autonoe_core::{CostUsd, DeliverableStatus, ExitReason};
use autonoe_testkit::SessionScript;

use crate::behaviour::support::{Fixture, idles, passes, plans, status};

// Shows: interfaces/session-runner/status-reader, interfaces/session-runner/result-iterations
// Shows: interfaces/session-runner/exit-all-passed, interfaces/session-runner/run
// Shows: spec/3.3/agent-client
#[tokio::test(start_paused = true)]
async fn plans_codes_and_ends_when_all_have_passed() {
    let fixture = Fixture::new([
        plans(&["DL-001", "DL-002"]).costs(CostUsd::from_cents(10)),
        passes("DL-001"),
        passes("DL-002"),
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!((report.iterations, report.sessions), (3, 3));
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!(
        (reported.passed, reported.total, reported.blocked),
        (2, 2, 0)
    );
    // Two pauses of three seconds; scripted sessions take no time.
    assert_eq!(report.elapsed, Duration::from_secs(6));
    assert_eq!(fixture.agents.disposed(), 3);
    let instructions: Vec<_> = fixture
        .agents
        .received()
        .iter()
        .map(|session| session.instruction.to_string())
        .collect();
    assert_eq!(instructions, ["initializer", "coding", "coding"]);
}

// Shows: spec/6.2/deliverable-tools, spec/9.2/read-write-bash-deliverable-tools, spec/9.2/git
#[tokio::test(start_paused = true)]
async fn a_run_can_read_and_write_the_project_use_commands_and_git_and_mark_deliverables() {
    let file = |path: &str| serde_json::json!({"file_path": path, "content": "x"});
    let bash = |command: &str| serde_json::json!({ "command": command });
    let session = SessionScript::new("works")
        .uses_tool("Read", file("/srv/project/src/main.rs"))
        .uses_tool("Glob", serde_json::json!({"pattern": "src/**"}))
        .uses_tool("Grep", serde_json::json!({"pattern": "main"}))
        .uses_tool("Write", file("/srv/project/src/new.rs"))
        .uses_tool("Edit", file("src/main.rs"))
        .uses_tool("Bash", bash("ls src && npm install && npm test"))
        .uses_tool("Bash", bash("git add src && git commit -m 'Add it'"))
        .uses_tool("Bash", bash("git push origin main"))
        .is_denied_by("bash-security", "Bash", bash("shutdown now"))
        .uses_tool("mcp__autonoe__list", serde_json::json!({}))
        .uses_tool("mcp__autonoe__set_status", status("A", "passed"))
        .ends();
    let fixture = Fixture::new([plans(&["A"]), session]);

    let report = fixture
        .run(fixture.runner().bash_policy(PolicyConfig::default()))
        .await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

// Shows: interfaces/session-runner/option-on-stream-event, spec/3.3/output-capture
#[tokio::test(start_paused = true)]
async fn the_log_of_a_run_is_readable() {
    let fixture = Fixture::new([
        SessionScript::new("plans")
            .thinks("what is there to do?")
            .uses_tool(
                "mcp__autonoe__create",
                crate::behaviour::support::create(&["DL-001", "DL-002"]),
            )
            .says("planned")
            .ends(),
        SessionScript::new("works")
            .uses_tool("Bash", serde_json::json!({"command": "ls"}))
            .is_denied_by(
                "file-scope",
                "Write",
                serde_json::json!({"file_path": "/etc/passwd", "content": ""}),
            )
            .uses_tool("mcp__autonoe__set_status", status("DL-001", "passed"))
            .uses_tool("mcp__autonoe__set_status", status("DL-002", "blocked"))
            .ends(),
    ]);

    fixture.run(fixture.runner()).await;

    insta::assert_snapshot!(fixture.log.render());
}

// Shows: spec/9.1/all-passed-any
#[tokio::test(start_paused = true)]
async fn a_finished_ledger_needs_no_session() {
    let fixture = Fixture::new([plans(&["DL-001"]), passes("DL-001")]);
    fixture.run(fixture.runner()).await;

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(
        (report.sessions, report.cost.exact()),
        (0, Some(CostUsd::ZERO))
    );
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((reported.passed, reported.total), (1, 1));
}

// Shows: interfaces/session-runner/result-deliverables-passed-count-deliverables
// Shows: spec/3.4/success-even-if-some-are
#[tokio::test(start_paused = true)]
async fn blocked_work_does_not_keep_the_rest_from_success() {
    let fixture = Fixture::new([
        plans(&["DL-001", "DL-002"]),
        SessionScript::new("blocks one")
            .uses_tool("mcp__autonoe__set_status", status("DL-001", "blocked"))
            .ends(),
        passes("DL-002"),
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!(
        (reported.passed, reported.blocked, reported.total),
        (1, 1, 2)
    );
}

// Shows: interfaces/session-runner/exit-all-blocked
#[tokio::test(start_paused = true)]
async fn all_blocked_ends_without_success() {
    let fixture = Fixture::new([
        plans(&["DL-001"]),
        SessionScript::new("blocks")
            .uses_tool("mcp__autonoe__set_status", status("DL-001", "blocked"))
            .ends(),
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::AllBlocked);
    assert!(!report.exit.is_success());
}

// Shows: interfaces/session-runner/option-max-iterations
// Shows: interfaces/session-runner/exit-max-iterations
#[tokio::test(start_paused = true)]
async fn max_iterations_ends_the_run_in_part() {
    let fixture = Fixture::new([plans(&["DL-001"]), idles()]);

    let report = fixture.run(fixture.runner().max_iterations(2)).await;

    assert_eq!(report.exit, ExitReason::MaxIterations);
    assert_eq!(report.iterations, 2);
}

// Shows: interfaces/session/result
#[tokio::test(start_paused = true)]
async fn costs_and_tokens_add_up_and_unknown_is_not_zero() {
    let tokens = TokenUsage {
        input: 100,
        output: 20,
        ..TokenUsage::default()
    };
    let fixture = Fixture::new([
        SessionScript::new("plans")
            .costs("0.1".parse().expect("an amount"))
            .uses_tokens(tokens, None)
            .uses_tool(
                "mcp__autonoe__create",
                crate::behaviour::support::create(&["DL-001"]),
            )
            .ends(),
        SessionScript::new("is unknown")
            .costs_unknown()
            .uses_tokens(tokens, None)
            .says("x")
            .ends(),
        SessionScript::new("is known by its reports")
            .costs_unknown()
            .uses_tokens(tokens, Some("0.2".parse().expect("an amount")))
            .uses_tool("mcp__autonoe__set_status", status("DL-001", "passed"))
            .ends(),
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.cost.to_string(), "at least $0.30 (1 cost unknown)");
    assert_eq!(report.cost.exact(), None);
    assert_eq!(report.tokens.total(), 360);
}

// Shows: interfaces/agent-client/options-model, interfaces/session-runner/option-model
#[tokio::test(start_paused = true)]
async fn each_phase_has_its_own_model() {
    let models = Models {
        planning: Some("large".into()),
        implementation: Some("small".into()),
    };
    let fixture = Fixture::new([plans(&["DL-001"]), passes("DL-001")]);

    fixture.run(fixture.runner().models(models)).await;

    let used: Vec<_> = fixture
        .agents
        .received()
        .into_iter()
        .map(|session| session.model)
        .collect();
    assert_eq!(used, [Some("large".to_owned()), Some("small".to_owned())]);
}

// Shows: interfaces/session-runner/exit-max-retries-exceeded-error, spec/3.4/error-message
#[tokio::test(start_paused = true)]
async fn errors_in_a_row_end_the_run_with_the_last_one() {
    let broken = || SessionScript::new("breaks").fails(AgentErrorKind::Crashed, "it crashed");
    let fixture = Fixture::new([plans(&["DL-001"]), broken(), broken()]);

    let report = fixture.run(fixture.runner().max_retries(1)).await;

    let ExitReason::MaxRetriesExceeded { error } = &report.exit else {
        panic!("it ended otherwise: {report:?}");
    };
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("crashed", "it crashed")
    );
    assert_eq!(fixture.agents.disposed(), 3);
}

// Shows: interfaces/session-runner/exit-reasons
#[tokio::test(start_paused = true)]
async fn an_authentication_error_is_not_retried() {
    let fixture = Fixture::new([
        SessionScript::new("is refused").fails(AgentErrorKind::Authentication, "bad key")
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit.code(), "failed");
    assert_eq!(report.sessions, 1);
}

// Shows: interfaces/session/max-turns
#[tokio::test(start_paused = true)]
async fn max_turns_is_neither_an_error_nor_a_success() {
    let tired = || {
        SessionScript::new("tires")
            .says("x")
            .ends_with(SessionOutcome::MaxTurns)
    };
    let fixture = Fixture::new([plans(&["DL-001"]), tired(), tired(), passes("DL-001")]);

    let report = fixture.run(fixture.runner().max_retries(0)).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

// Shows: spec/a.3/instruction-resolver.resolve-name
#[tokio::test(start_paused = true)]
async fn the_prompt_is_the_instruction() {
    let fixture = Fixture::new([plans(&["DL-001"]), passes("DL-001")]);

    fixture.run(fixture.runner()).await;

    assert_eq!(
        fixture.agents.prompts(),
        ["Do the initializer work.", "Do the coding work."]
    );
}

#[tokio::test(start_paused = true)]
async fn a_deliverable_passes_through_its_statuses() {
    let set = |to: &str| ("mcp__autonoe__set_status", status("DL-001", to));
    let (tool, blocked) = set("blocked");
    let fixture = Fixture::new([
        plans(&["DL-001"]),
        SessionScript::new("passes and fails again")
            .uses_tool(tool, set("passed").1)
            .fails_tool(tool, blocked.clone())
            .uses_tool(tool, set("pending").1)
            .uses_tool(tool, blocked)
            .ends(),
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::AllBlocked);
    assert_eq!(
        fixture.statuses().await,
        [("DL-001".to_owned(), DeliverableStatus::Blocked)]
    );
}
