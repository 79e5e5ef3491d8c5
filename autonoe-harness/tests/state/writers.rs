//! Tests of a file that many writers, connections or processes have open at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use autonoe_harness::shared::{Cursor, NewMemberEvent, SharedContext, SharedError};
use autonoe_harness::strategy::MemberId;
use jiff::Timestamp;
use serde_json::json;
use tokio::task::JoinSet;

use crate::intact::assert_intact;
use crate::state::worker::{Worker, report, worker_config};

const WRITERS: usize = 64;

async fn write(shared: &SharedContext, writer: usize, events: usize) -> Result<(), SharedError> {
    for number in 0..events {
        let event = NewMemberEvent {
            member: Some(MemberId::new(writer.to_string())),
            details: json!(number),
            ..NewMemberEvent::new("progress", Timestamp::UNIX_EPOCH)
        };
        shared.emit_event(&event).await?;
    }
    Ok(())
}

async fn assert_all_there(shared: &SharedContext, events: usize) {
    let expected: Vec<u64> = (0..events as u64).collect();
    let events = shared.events_since(Cursor::START, usize::MAX).await;
    let mut by_writer: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for read in events.expect("it is read") {
        let details = read.event.details.as_u64().expect("a number");
        by_writer
            .entry(read.event.member)
            .or_default()
            .push(details);
    }
    assert_eq!(by_writer.len(), WRITERS);
    assert!(by_writer.values().all(|own| *own == expected));
}

#[tokio::test]
async fn sixty_four_writers_share_one_connection() {
    const EVENTS: usize = 10;
    let dir = tempfile::tempdir().expect("a folder");
    let state = SharedContext::open(dir.path()).await;
    let state = Arc::new(state.expect("it opens"));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let state = Arc::clone(&state);
        writers.spawn(async move { write(&state, writer, EVENTS).await });
    }

    for done in writers.join_all().await {
        done.expect("it is kept");
    }

    assert_all_there(&state, EVENTS).await;
    assert_intact(&dir.path().join("context.db"));
}

#[tokio::test]
async fn sixty_four_writers_have_a_connection_each() {
    // A connection waits for the others for a limited time, in which all of them must have written.
    const EVENTS: usize = 2;
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().to_owned();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let path = path.clone();
        writers.spawn(async move {
            let state = SharedContext::open(&path).await?;
            write(&state, writer, EVENTS).await
        });
    }

    for done in writers.join_all().await {
        done.expect("it is kept");
    }

    let state = SharedContext::open(&path).await.expect("it opens");
    assert_all_there(&state, EVENTS).await;
    assert_intact(&dir.path().join("context.db"));
}

const COUNT_EVENTS: &str = "state::writers::child_process_counts_events";

/// Runs in a process of its own: opens the file, counts its events, and closes it again.
#[test]
fn child_process_counts_events() {
    let Some((file, _)) = worker_config() else {
        return;
    };
    let db = rusqlite::Connection::open(file).expect("it opens");
    let count = db.query_row("SELECT count(*) FROM events", [], |row| row.get(0));
    let count: i64 = count.expect("read");
    report(&format!("{count} events"));
    // The last connection that closes a file removes the write-ahead log.
    db.close().expect("it closes");
}

async fn spawned(shared: &SharedContext) {
    let event = NewMemberEvent::new("spawn", Timestamp::UNIX_EPOCH);
    shared.emit_event(&event).await.expect("it is kept");
}

#[tokio::test]
async fn a_file_opened_twice_loses_nothing_when_another_process_closes_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("context.db");
    let first = SharedContext::open(dir.path()).await.expect("it opens");
    spawned(&first).await;

    let second = SharedContext::open(dir.path()).await.expect("it opens");
    let before = Worker::start(COUNT_EVENTS, &path, "before".to_owned()).wait();
    drop(second);
    let between = Worker::start(COUNT_EVENTS, &path, "between".to_owned()).wait();
    spawned(&first).await;
    let after = Worker::start(COUNT_EVENTS, &path, "after".to_owned()).wait();

    assert_eq!(before, ["1 events"]);
    assert_eq!(between, ["1 events"]);
    assert_eq!(after, ["2 events"]);
}
