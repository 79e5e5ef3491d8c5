//! Databases of a member, of the coordinator and of the shared context, as SQL.

use std::fs;
use std::path::Path;

use autonoe_core::CostUsd;
use autonoe_harness::shared::{Cursor, Scope, SharedContext};
use autonoe_harness::state::{SqliteMeta, SqliteState, TaskStatus};
use autonoe_harness::strategy::{MemberId, MemberState};
use rusqlite::Connection;
use serde_json::json;

use super::fixture;
use crate::intact::assert_intact;

/// Creates the database of a dump.
fn restore(dump: &str, path: &Path) {
    let sql = fs::read_to_string(fixture(dump)).expect("readable");
    let database = Connection::open(path).expect("a database");
    // A dump creates tables in the order of their names.
    let off = database.pragma_update(None, "foreign_keys", false);
    off.expect("a pragma");
    database.execute_batch(&sql).expect("valid SQL");
    database.close().expect("it closes");
}

#[tokio::test]
async fn the_state_of_a_member_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("state.db");
    restore("state.sql", &path);

    let state = SqliteState::open(&path).await.expect("it opens");

    assert_intact(&path);
    let tasks = state.tasks().await.expect("readable");
    let [stored] = &tasks[..] else {
        panic!("one task: {tasks:?}");
    };
    assert_eq!(stored.task.id.as_str(), "parser");
    assert_eq!(stored.task.goal, "Read sums and products.");
    assert_eq!(stored.task.timeout_seconds, 1200);
    assert_eq!((stored.order, &stored.depends[..]), (0, &[][..]));
    assert_eq!(stored.status, TaskStatus::Completed);
    assert_eq!(
        stored.output.as_deref(),
        Some("Sums and products are read.")
    );
    assert_eq!(
        stored.updated_at.to_string(),
        "2026-11-18T20:08:59.239338616Z"
    );
    let executions = state.executions(&stored.task.id).await.expect("readable");
    let [execution] = &executions[..] else {
        panic!("one execution: {executions:?}");
    };
    assert_eq!((execution.attempt, execution.success), (1, true));
    assert_eq!(execution.duration.as_nanos(), 4_059_136);
}

#[tokio::test]
async fn the_state_of_a_coordinator_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("meta_state.db");
    restore("meta_state.sql", &path);

    let meta = SqliteMeta::open(&path).await.expect("it opens");

    assert_intact(&path);
    let fleet = meta.fleet("roadmap").await.expect("readable");
    let fleet = fleet.expect("it is there");
    assert_eq!(fleet.spec["objective"], "A calculator for the terminal.");
    assert_eq!(
        fleet.spec["strategy"],
        json!({"type": "graph", "after": {"shell": ["parser"]}})
    );
    assert_eq!(fleet.epoch, 1);
    let members: Vec<_> = fleet
        .members
        .iter()
        .map(|member| match &member.state {
            MemberState::Ended { place, result } => {
                (member.id.as_str(), *place, result.cost.known_usd)
            }
            other => panic!("{} ended: {other:?}", member.id),
        })
        .collect();
    assert_eq!(
        members,
        [
            ("parser", 1, CostUsd::from_cents(20)),
            ("shell", 2, CostUsd::from_cents(30)),
            ("manual", 0, CostUsd::from_cents(10)),
        ]
    );
    let result = fleet.result.expect("it ended");
    assert_eq!((result.strategy.as_str(), result.success), ("graph", true));
    assert_eq!(result.results.len(), 3);
    let decisions = meta.decisions("roadmap").await.expect("readable");
    assert_eq!(decisions.len(), 10);
    assert_eq!(decisions[2].decision["event"], "started");
    assert_eq!((decisions[2].number, decisions[2].epoch), (3, 1));
}

#[tokio::test]
async fn the_shared_context_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    restore("context.sql", &dir.path().join("context.db"));
    let name = "roadmap.parser.md";
    let hash = "e2116f2ed33b32c7bc472fe45d8ebcef4c541d56c3b1b2145d537204e27d5b24";
    let published = dir.path().join("artifacts").join(hash);
    fs::create_dir_all(&published).expect("writable");
    let content = fixture("artifacts").join(hash).join(name);
    fs::copy(content, published.join(name)).expect("writable");

    let shared = SharedContext::open(dir.path()).await.expect("it opens");

    assert_intact(&dir.path().join("context.db"));
    let parser = MemberId::new("roadmap.parser");
    let port = shared.get(&Scope::Global, "port").await.expect("readable");
    assert_eq!(port, Some(json!(8080)));
    let scope = Scope::Member(parser.clone());
    let state = shared.get(&scope, "state").await.expect("readable");
    assert_eq!(state, Some(json!({"step": 2})));
    let artifact = name.parse().expect("a name");
    let artifact = shared
        .consume_artifact(&artifact)
        .await
        .expect("it is there");
    assert_eq!((artifact.version, &artifact.source_member), (2, &parser));
    assert_eq!(artifact.metadata, json!({"success": true}));
    let text = fs::read_to_string(&artifact.path).expect("readable");
    assert_eq!(text, "Sums and products are read.");
    let events = shared
        .events_since(Cursor::START, 100)
        .await
        .expect("readable");
    let kinds: Vec<_> = events.iter().map(|it| it.event.kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "spawn", "spawn", "progress", "progress", "complete", "complete", "spawn", "progress",
            "complete",
        ]
    );
    assert_eq!(events[1].event.member.as_ref(), Some(&parser));
    assert_eq!(events[1].event.details, json!({"run": "roadmap.parser"}));
}
