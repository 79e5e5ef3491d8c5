//! Sync runs: update the ledger, then verify.

use autonoe_core::gate::policy::PolicyConfig;
use autonoe_core::{DeliverableStatus, ExitReason, Mode};
use autonoe_testkit::SessionScript;
use serde_json::json;

use crate::behaviour::support::{Fixture, create, passes, plans, status};

fn verifies(ids: &[&str]) -> SessionScript {
    let script = SessionScript::new("verifies");
    ids.iter()
        .fold(script, |script, id| {
            script.uses_tool("mcp__autonoe__verify", json!({ "deliverableId": id }))
        })
        .ends()
}

// Shows: interfaces/session-runner/result-verified-count-verified-total
// Shows: interfaces/session-runner/exit-all-verified, spec/9.5/there-match
#[tokio::test(start_paused = true)]
async fn syncs_verifies_and_ends_when_all_are_verified() {
    let fixture = Fixture::new([
        SessionScript::new("syncs")
            .uses_tool("mcp__autonoe__create", create(&["A", "B", "C"]))
            .uses_tool("mcp__autonoe__deprecate", json!({"deliverableId": "C"}))
            .ends(),
        SessionScript::new("verifies one")
            .uses_tool("mcp__autonoe__set_status", status("A", "passed"))
            .uses_tool("mcp__autonoe__verify", json!({"deliverableId": "A"}))
            .ends(),
        verifies(&["B"]),
    ]);

    let report = fixture.run(fixture.runner().mode(Mode::Sync)).await;

    assert_eq!(report.exit, ExitReason::AllVerified);
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((reported.verified, reported.verified_total), (2, 2));
    assert_eq!((reported.passed, reported.total), (1, 2));
    let instructions: Vec<_> = fixture
        .agents
        .received()
        .iter()
        .map(|session| session.instruction.to_string())
        .collect();
    assert_eq!(instructions, ["sync", "verify", "verify"]);
}

// Shows: interfaces/tools/tool-usage-by-phase, spec/a.3/instruction-name
// Shows: framework/tools/registry-tools, spec/3.2/tool-names, spec/3.3/deliverable-tools
#[tokio::test(start_paused = true)]
async fn each_instruction_has_its_tools() {
    let fixture = Fixture::new([plans(&["A"]), passes("A")]);
    fixture.run(fixture.runner()).await;
    let synced = Fixture::new([
        SessionScript::new("syncs")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        verifies(&["A"]),
    ]);
    synced.run(synced.runner().mode(Mode::Sync)).await;

    let tools: Vec<_> = [fixture.agents.received(), synced.agents.received()]
        .into_iter()
        .flatten()
        .map(|session| (session.instruction.to_string(), session.tools.join(" ")))
        .collect();

    let expected = [
        ("initializer", "create"),
        ("coding", "set_status list"),
        ("sync", "create deprecate list"),
        ("verify", "set_status verify list"),
    ];
    assert_eq!(
        tools,
        expected.map(|(name, tools)| (name.to_owned(), tools.to_owned()))
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_another_instruction_is_denied() {
    let fixture = Fixture::new([
        SessionScript::new("tries to mark in planning")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .is_denied_by("grants", "mcp__autonoe__set_status", status("A", "passed"))
            .ends(),
        passes("A"),
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

// Shows: spec/6.4/sync-writes-autonoe-note.md-only, spec/9.7/sync-read-yes-write-edit
// Shows: spec/5.3/note
#[tokio::test(start_paused = true)]
async fn in_sync_mode_only_the_note_may_be_written() {
    let write = |path: &str| json!({"file_path": path, "content": "x"});
    let fixture = Fixture::new([
        SessionScript::new("syncs")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .uses_tool("Write", write("/srv/project/.autonoe-note.md"))
            .is_denied_by(
                "autonoe-protection",
                "Write",
                write("/srv/project/src/main.rs"),
            )
            .is_denied_by("autonoe-protection", "Edit", write("/tmp/x"))
            .is_denied_by("autonoe-protection", "Write", write(".autonoe/status.json"))
            .ends(),
        verifies(&["A"]),
    ]);

    let report = fixture.run(fixture.runner().mode(Mode::Sync)).await;

    assert_eq!(report.exit, ExitReason::AllVerified);
}

// Shows: spec/9.7/sync-read-yes-write-edit, spec/9.7/sync-git, spec/9.7/sync-deliverable-tools
#[tokio::test(start_paused = true)]
async fn a_sync_can_read_all_files_inspect_git_and_update_the_ledger() {
    let file = |path: &str| json!({ "file_path": path });
    let bash = |command: &str| json!({ "command": command });
    let one = |id: &str| json!({ "deliverableId": id });
    let fixture = Fixture::new([
        SessionScript::new("syncs")
            .uses_tool("mcp__autonoe__create", create(&["A", "B"]))
            .uses_tool("mcp__autonoe__deprecate", one("B"))
            .uses_tool("mcp__autonoe__list", json!({}))
            .ends(),
        SessionScript::new("verifies")
            .uses_tool("Read", file("/srv/project/src/main.rs"))
            .uses_tool("Glob", json!({"pattern": "src/**"}))
            .uses_tool("Grep", json!({"pattern": "main"}))
            .uses_tool("Bash", bash("npm test && git status && git log -n 3"))
            .uses_tool("Bash", bash("git diff HEAD"))
            .is_denied_by("bash-security", "Bash", bash("npm install"))
            .is_denied_by("bash-security", "Bash", bash("git checkout -- src"))
            .uses_tool("mcp__autonoe__set_status", status("A", "passed"))
            .uses_tool("mcp__autonoe__verify", one("A"))
            .ends(),
    ]);

    let report = fixture
        .run(
            fixture
                .runner()
                .mode(Mode::Sync)
                .bash_policy(PolicyConfig::default()),
        )
        .await;

    assert_eq!(report.exit, ExitReason::AllVerified);
}

// Shows: spec/9.5/there-new, spec/8.3/sync-strategy
#[tokio::test(start_paused = true)]
async fn a_sync_adds_new_deliverables_as_pending_and_keeps_the_others() {
    let fixture = Fixture::new([plans(&["A", "B"]), passes("A")]);
    fixture.run(fixture.runner().max_iterations(2)).await;
    let synced = Fixture {
        repository: fixture.repository.clone(),
        ..Fixture::new([SessionScript::new("syncs")
            .uses_tool("mcp__autonoe__create", create(&["C"]))
            .ends()])
    };

    synced
        .run(synced.runner().mode(Mode::Sync).max_iterations(1))
        .await;

    assert_eq!(
        synced.statuses().await,
        [
            ("A".to_owned(), DeliverableStatus::Passed),
            ("B".to_owned(), DeliverableStatus::Pending),
            ("C".to_owned(), DeliverableStatus::Pending),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_sync_keeps_its_progress_and_a_finished_one_starts_afresh() {
    let fixture = Fixture::new([
        SessionScript::new("syncs")
            .uses_tool("mcp__autonoe__create", create(&["A", "B"]))
            .ends(),
        verifies(&["A"]),
    ]);
    let report = fixture
        .run(fixture.runner().mode(Mode::Sync).max_iterations(2))
        .await;
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((reported.verified, reported.verified_total), (1, 2));

    // A new run verifies the rest.
    let second = Fixture {
        repository: fixture.repository.clone(),
        ..Fixture::new([
            SessionScript::new("finds nothing new")
                .says("unchanged")
                .ends(),
            verifies(&["B"]),
        ])
    };
    let report = second.run(second.runner().mode(Mode::Sync)).await;
    assert_eq!(report.exit, ExitReason::AllVerified);

    // The next run verifies everything again.
    let third = Fixture {
        repository: fixture.repository.clone(),
        ..Fixture::new([
            SessionScript::new("finds nothing new")
                .says("unchanged")
                .ends(),
            verifies(&["A"]),
            verifies(&["B"]),
        ])
    };
    let report = third.run(third.runner().mode(Mode::Sync)).await;
    assert_eq!(
        (report.exit, report.iterations),
        (ExitReason::AllVerified, 3)
    );
}

// Shows: spec/9.5/there-removed
#[tokio::test(start_paused = true)]
async fn a_removed_deliverable_keeps_its_record_and_no_longer_counts() {
    let fixture = Fixture::new([plans(&["A", "B"]), passes("A")]);
    fixture.run(fixture.runner().max_iterations(2)).await;
    let synced = Fixture {
        repository: fixture.repository.clone(),
        ..Fixture::new([
            SessionScript::new("syncs")
                .uses_tool("mcp__autonoe__deprecate", json!({"deliverableId": "B"}))
                .ends(),
            verifies(&["A"]),
        ])
    };

    let report = synced.run(synced.runner().mode(Mode::Sync)).await;

    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((reported.total, reported.passed), (1, 1));
    let ledger = synced.ledger().await;
    assert_eq!(ledger.deliverables().len(), 2);
    assert_eq!(
        ledger.deliverables()[1].deprecated_at(),
        Some(jiff::civil::date(2026, 1, 1))
    );
}
