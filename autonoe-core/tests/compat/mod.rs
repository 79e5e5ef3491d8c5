//! Files of each format version, as a release wrote them. They are never written again: a later
//! release must read these bytes, or change the version and say so in STABILITY.md.
#![cfg(feature = "project")]

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::Ledger;
use autonoe_core::project::{
    AgentConfig, AllowCommandsConfig, FileDeliverableRepository, Journal, RunStopReason,
    RunTimeline, TieredCommandsConfig,
};
use autonoe_core::time::Epoch;
use autonoe_core::tool::McpServer;
use autonoe_core::{CostUsd, DeliverableRepository, DeliverableStatus, ExitReason, Project};
use jiff::civil::date;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/compat/v1/{name}"))
}

/// Loads a ledger, and checks that its bytes stay the same.
async fn ledger(name: &str) -> (Ledger, Epoch) {
    let dir = tempfile::tempdir().expect("a folder");
    let project = Project::find(dir.path(), None).expect("it is there");
    let repository = FileDeliverableRepository::open(&project).expect("writable");
    let path = dir.path().join(".autonoe/status.json");
    fs::copy(fixture(name), &path).expect("writable");

    let loaded = repository.load().await.expect("it is valid");

    let bytes = |path: &Path| fs::read(path).expect("readable");
    assert_eq!(bytes(&path), bytes(&fixture(name)));
    let snapshot = loaded.expect("it is there");
    (snapshot.state.ledger, snapshot.epoch)
}

/// Returns ID, description, first criterion and status of each deliverable.
fn listed(ledger: &Ledger) -> Vec<(&str, &str, &str, DeliverableStatus)> {
    let deliverables = ledger.deliverables().iter();
    deliverables
        .map(|it| {
            let criterion = it.acceptance_criteria()[0].as_str();
            (it.id().as_str(), it.description(), criterion, it.status())
        })
        .collect()
}

#[tokio::test]
async fn a_ledger_is_read() {
    let (ledger, epoch) = ledger("status.json").await;

    assert_eq!(epoch, Epoch(1));
    assert_eq!(ledger.created_at(), Some(date(2026, 11, 18)));
    assert_eq!(ledger.updated_at(), Some(date(2026, 11, 18)));
    use DeliverableStatus::{Blocked, Passed};
    assert_eq!(
        listed(&ledger),
        [
            ("DL-001", "Login", "a user can log in", Passed),
            ("DL-002", "Search", "a product is found by its name", Passed),
            ("DL-003", "Payment", "a card is charged", Blocked),
        ]
    );
}

#[tokio::test]
async fn a_ledger_of_the_original_autonoe_is_read() {
    let (ledger, epoch) = ledger("original-status.json").await;

    assert_eq!(epoch, Epoch(0));
    assert_eq!(ledger.created_at(), Some(date(2026, 1, 10)));
    assert_eq!(ledger.updated_at(), Some(date(2026, 1, 24)));
    use DeliverableStatus::{Blocked, Passed, Pending};
    assert_eq!(
        listed(&ledger)[..3],
        [
            ("DL-001", "User Auth", "a user can log in", Passed),
            ("DL-002", "Payment", "a card is charged", Blocked),
            (
                "DL-003",
                "Search",
                "a product is found by its name",
                Pending
            ),
        ]
    );
}

#[test]
fn a_journal_is_read() {
    let journal = Journal::read(&fixture("journal.jsonl")).expect("it is valid");

    assert_eq!(journal.entries().len(), 21);
    assert!(journal.interrupted_run().is_none());
    let histories = journal.run_histories();
    let [history] = &histories[..] else {
        panic!("one run: {histories:?}");
    };
    assert_eq!(history.run.as_str(), "c10124556432a3da776d1f42e0f677fb");
    assert_eq!(history.cost().known_usd, CostUsd::from_cents(60));
    let timeline = RunTimeline::from_journal(&journal, &history.run).expect("it has lines");
    let sessions: Vec<_> = timeline
        .sessions
        .iter()
        .map(|session| (session.number, &session.instruction, session.denied))
        .collect();
    let (initializer, coding) = (&InstructionName::Initializer, &InstructionName::Coding);
    assert_eq!(
        sessions,
        [
            (1, initializer, 0),
            (2, coding, 1),
            (3, coding, 0),
            (4, coding, 0)
        ]
    );
    let denied = &timeline.denied[0];
    assert_eq!(
        (
            denied.tool.as_str(),
            denied.target.as_deref(),
            denied.by.as_str()
        ),
        ("Bash", Some("rm -rf /"), "bash-security")
    );
    let RunStopReason::Ended(report) = history.stop_reason() else {
        panic!("it ended: {history:?}");
    };
    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!((report.iterations, report.sessions), (4, 4));
    let counts = report.deliverables.as_ref().expect("they were counted");
    assert_eq!((counts.passed, counts.total, counts.blocked), (2, 3, 1));
}

#[test]
fn a_journal_that_is_cut_in_a_session_is_read() {
    let text = fs::read_to_string(fixture("journal.jsonl")).expect("readable");
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("journal.jsonl");
    let lines: Vec<_> = text.split_inclusive('\n').take(10).collect();
    fs::write(&path, lines.concat()).expect("writable");

    let journal = Journal::read(&path).expect("it is valid");

    assert!(journal.interrupted_run().is_some());
    let histories = journal.run_histories();
    let reason = histories[0].stop_reason().to_string();
    assert_eq!(reason, "it was killed in session 2");
}

#[test]
fn a_configuration_is_read() {
    let config = AgentConfig::load(fixture("agent.json"))
        .expect("it is valid")
        .expect("it is there");

    assert_eq!(config.warnings(), [""; 0]);
    let hooks = serde_json::to_value(&config.hooks).expect("it serialises");
    assert_eq!(
        hooks,
        serde_json::json!([
            {"type": "core-deny-tool", "rule": "WebSearch", "reason": "work offline"},
        ])
    );
    assert_eq!(
        config.backend.as_ref().map(|backend| backend.name()),
        Some("scripted:agents.json")
    );
    assert_common_settings(&config);
}

#[test]
fn a_configuration_of_the_original_autonoe_is_read() {
    let config = AgentConfig::load(fixture("original-agent.json"))
        .expect("it is valid")
        .expect("it is there");

    let [sandbox, hooks] = config.warnings() else {
        panic!("two warnings: {:?}", config.warnings());
    };
    assert!(sandbox.contains("/sandbox:") && hooks.contains("/hooks:"));
    assert!(config.hooks.is_empty());
    assert!(config.backend.is_none());
    assert_common_settings(&config);
}

/// Checks the settings that both configurations have.
fn assert_common_settings(config: &AgentConfig) {
    let profile = serde_json::to_value(&config.profile).expect("it serialises");
    assert_eq!(profile, serde_json::json!(["node", "python"]));
    let Some(AllowCommandsConfig::Tiered(TieredCommandsConfig { base, run, sync })) =
        &config.allow_commands
    else {
        panic!("tiers: {:?}", config.allow_commands);
    };
    assert_eq!(base[..], ["make"]);
    assert_eq!(run[0], "docker");
    assert_eq!(sync[..], ["shellcheck"]);
    assert_eq!(config.allow_pkill_targets, ["custom-server"]);
    let permissions = serde_json::to_value(&config.permissions).expect("it serialises");
    assert_eq!(
        permissions,
        serde_json::json!({"allow": ["WebFetch(https://api.example.com/*)"]})
    );
    assert_eq!(config.allowed_tools[0].to_string(), "Task");
    let servers = config.mcp_servers.as_ref().expect("one is listed");
    let McpServer::Stdio { command, args, .. } = &servers["custom-tool"] else {
        panic!("a program: {servers:?}");
    };
    assert_eq!(
        (command.as_str(), &args[..]),
        ("npx", &["custom-mcp-server".to_owned()][..])
    );
}
