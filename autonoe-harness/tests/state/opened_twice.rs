//! Test of a file that is open several times in one process, while other processes open and close
//! it.

use autonoe_harness::shared::{NewMemberEvent, SharedContext};
use jiff::Timestamp;

use crate::state::worker::{Worker, report, worker_config};

const LOOKS_AT_EVENTS: &str = "state::opened_twice::child_process_counts_events";

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
    let before = Worker::start(LOOKS_AT_EVENTS, &path, "before".to_owned()).wait();
    drop(second);
    let between = Worker::start(LOOKS_AT_EVENTS, &path, "between".to_owned()).wait();
    spawned(&first).await;
    let after = Worker::start(LOOKS_AT_EVENTS, &path, "after".to_owned()).wait();

    assert_eq!(before, ["1 events"]);
    assert_eq!(between, ["1 events"]);
    assert_eq!(after, ["2 events"]);
}
