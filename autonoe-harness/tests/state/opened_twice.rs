//! One file that is open several times in one process, while others come and go.

use autonoe_harness::{NewHarnessEvent, SqliteState, StateStore};
use jiff::Timestamp;

use crate::state::worker::{Worker, orders, tell};

const LOOKS_AT_EVENTS: &str = "state::opened_twice::looks_at_events_when_it_is_told_to";

/// Runs in a process of its own: opens the file, counts what is there, and closes it again.
#[test]
fn looks_at_events_when_it_is_told_to() {
    let Some((file, _)) = orders() else {
        return;
    };
    let db = rusqlite::Connection::open(file).expect("it opens");
    let count = db.query_row("SELECT count(*) FROM events", [], |row| row.get(0));
    let count: i64 = count.expect("read");
    tell(&format!("{count} events"));
    // Who closes a file last removes the log of changes.
    db.close().expect("it closes");
}

async fn spawned(state: &SqliteState) {
    let event = NewHarnessEvent::new("spawn", Timestamp::UNIX_EPOCH);
    state.append_event(&event).await.expect("it is kept");
}

#[tokio::test]
async fn who_opens_a_file_twice_loses_nothing_when_another_process_closes_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("state.db");
    let first = SqliteState::open(&path).await.expect("it opens");
    spawned(&first).await;

    let second = SqliteState::open(&path).await.expect("it opens");
    let before = Worker::start(LOOKS_AT_EVENTS, &path, "before".to_owned()).wait();
    drop(second);
    let between = Worker::start(LOOKS_AT_EVENTS, &path, "between".to_owned()).wait();
    spawned(&first).await;
    let after = Worker::start(LOOKS_AT_EVENTS, &path, "after".to_owned()).wait();

    assert_eq!(before, ["1 events"]);
    assert_eq!(between, ["1 events"]);
    assert_eq!(after, ["2 events"]);
}
