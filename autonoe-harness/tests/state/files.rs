//! Files that are damaged, somebody else's, older or newer.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_harness::{
    Cursor, HarnessId, HarnessPlan, NewHarnessEvent, ProgressSample, ProgressSignal, SqliteMeta,
    SqliteState, StateError, StateStore, Task, TaskPlan, TaskStatus,
};
use jiff::Timestamp;
use tempfile::TempDir;

/// A file of version 1, made by the code of that version: a harness with a task that is completed,
/// one in progress and one that waits, an execution and an event.
const VERSION_1: &[u8] = include_bytes!("../fixtures/state-version-1.db");

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

async fn file_with_a_task(dir: &Path) -> PathBuf {
    let path = dir.join("state.db");
    let state = SqliteState::open(&path).await.expect("it opens");
    let task = TaskPlan::new(Task::new("a", "Do it.").expect("an id"));
    let plan = HarnessPlan::new(HarnessId::new("h"), [task]);
    let now = Timestamp::UNIX_EPOCH;
    state.init_harness(&plan, now).await.expect("it is kept");
    for _ in 0..200 {
        let event = NewHarnessEvent::new("spawn", now).with_details("x".repeat(100).into());
        state.append_event(&event).await.expect("it is kept");
    }
    drop(state);
    wait_until_closed(&path);
    path
}

/// Who closes a file last writes the log of changes back and removes it.
fn wait_until_closed(path: &Path) {
    let log = path.with_extension("db-wal");
    let begun = std::time::Instant::now();
    while log.exists() {
        assert!(begun.elapsed().as_secs() < 120, "it stays open");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Opens a file that must be refused and left as it is.
async fn refused(path: &Path) -> StateError {
    let before = fs::read(path).expect("readable");

    let error = SqliteState::open(path).await.expect_err("it is refused");

    assert!(fs::read(path).expect("readable") == before, "{error}");
    error
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_kept() {
    let dir = folder();
    let path = dir.path().join("state.db");
    for bytes in [b"{}".as_slice(), &[0; 4096], &[b'x'; 5000]] {
        fs::write(&path, bytes).expect("writable");

        let error = refused(&path).await;

        assert!(matches!(error, StateError::Foreign { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_database_of_something_else_is_refused_and_kept() {
    let dir = folder();
    let path = dir.path().join("meta_state.db");
    drop(SqliteMeta::open(&path).await.expect("it opens"));
    wait_until_closed(&path);
    let other = dir.path().join("other.db");
    rusqlite::Connection::open(&other)
        .and_then(|other| other.execute_batch("CREATE TABLE mine (what TEXT)"))
        .expect("a database");

    for path in [path, other] {
        let error = refused(&path).await;
        let said = error.to_string();
        let expected = "is a database of something else, not the state of a harness";
        assert!(said.contains(expected), "{said}");
    }
}

#[tokio::test]
async fn a_damaged_database_is_refused_and_kept() {
    let dir = folder();
    let path = file_with_a_task(dir.path()).await;
    let whole = fs::read(&path).expect("readable");
    let mut cut = whole.clone();
    cut.truncate(whole.len() / 2);
    let mut overwritten = whole.clone();
    for byte in overwritten.iter_mut().skip(4096).take(8192) {
        *byte = 0xa5;
    }
    for bytes in [&whole[..60], &cut, &overwritten] {
        fs::write(&path, bytes).expect("writable");

        let error = refused(&path).await;

        assert!(matches!(error, StateError::Corrupt { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_newer_version_is_refused_and_kept() {
    let dir = folder();
    let path = file_with_a_task(dir.path()).await;
    let newer = rusqlite::Connection::open(&path).expect("a database");
    newer
        .pragma_update(None, "user_version", 99)
        .expect("writable");
    newer.close().expect("it closes");

    let error = refused(&path).await;

    let said = error.to_string();
    assert!(
        said.contains("is of version 99, and this program knows versions up to 3"),
        "{said}"
    );
}

#[tokio::test]
async fn who_has_a_file_open_stops_writing_when_it_is_made_newer() {
    let dir = folder();
    let path = dir.path().join("state.db");
    let state = SqliteState::open(&path).await.expect("it opens");
    let newer = rusqlite::Connection::open(&path).expect("a database");
    newer
        .pragma_update(None, "user_version", 99)
        .expect("writable");

    let event = NewHarnessEvent::new("spawn", Timestamp::UNIX_EPOCH);
    let told = state.append_event(&event).await;

    assert!(
        matches!(told, Err(StateError::NewerVersion { found: 99, .. })),
        "{told:?}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_file_is_refused() {
    let dir = folder();
    let path = file_with_a_task(dir.path()).await;
    let link = dir.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).expect("a link");

    for path in [link.as_path(), dir.path()] {
        let error = SqliteState::open(path).await.expect_err("it is refused");
        assert!(matches!(error, StateError::Foreign { .. }), "{error}");
    }
}

#[tokio::test]
async fn an_empty_file_is_what_a_kill_leaves_and_is_used() {
    let dir = folder();
    let path = dir.path().join("state.db");
    fs::write(&path, "").expect("writable");

    let state = SqliteState::open(&path).await.expect("it opens");

    assert_eq!(state.tasks().await.expect("it is read"), []);
}

#[tokio::test]
async fn a_file_of_version_1_is_brought_up_to_date() {
    let dir = folder();
    let path = dir.path().join("state.db");
    fs::write(&path, VERSION_1).expect("writable");

    let state = SqliteState::open(&path).await.expect("it opens");

    state.integrity_check().await.expect("it is whole");
    let harness = state.harness().await.expect("it is read").expect("its own");
    assert_eq!(harness.id, HarnessId::new("first"));
    let tasks = state.tasks().await.expect("it is read");
    let stand: Vec<_> = tasks
        .iter()
        .map(|task| (task.task.id.as_str(), task.status))
        .collect();
    let expected = [
        ("parser", TaskStatus::Completed),
        ("shell", TaskStatus::InProgress),
        ("docs", TaskStatus::Pending),
    ];
    assert_eq!(stand, expected);
    let shell = &tasks[1].task.id;
    assert_eq!(tasks[1].depends, [tasks[0].task.id.clone()]);
    assert_eq!(state.attempts(shell).await.expect("it is read").len(), 1);
    let parser = &tasks[0].task.id;
    assert_eq!(state.executions(parser).await.expect("it is read").len(), 1);
    let events = state.events_since(Cursor::START, 9).await;
    assert_eq!(events.expect("it is read").len(), 1);
    let (now, signal) = (Timestamp::UNIX_EPOCH, ProgressSignal::default());
    let sample = ProgressSample::new(shell.clone(), 1, 0.5, signal, now);
    state.save_progress(&sample).await.expect("it is new");
    assert_eq!(
        state.progress_of(shell).await.expect("it is read"),
        [sample]
    );
}
