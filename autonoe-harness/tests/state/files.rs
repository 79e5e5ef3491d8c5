//! Tests of database files that are damaged, foreign, older or newer.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_harness::Task;
use autonoe_harness::roadmap::PlannedTask;
use autonoe_harness::shared::SharedContext;
use autonoe_harness::state::{MemberPlan, SqliteMeta, SqliteState, StateError};
use autonoe_harness::strategy::MemberId;
use jiff::Timestamp;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

async fn file_with_a_task(dir: &Path) -> PathBuf {
    let path = dir.join("state.db");
    let state = SqliteState::open(&path).await.expect("it opens");
    let task = |number| {
        let task = Task::new(&format!("t{number}"), "x".repeat(100));
        PlannedTask::new(task.expect("an id"))
    };
    let plan = MemberPlan::new(MemberId::new("m"), (0..200).map(task));
    let now = Timestamp::UNIX_EPOCH;
    state.init_member(&plan, now).await.expect("it is kept");
    drop(state);
    wait_until_closed(&path);
    path
}

/// The last connection that closes a file writes the write-ahead log back and removes it.
fn wait_until_closed(path: &Path) {
    let log = path.with_extension("db-wal");
    let started = std::time::Instant::now();
    while log.exists() {
        assert!(started.elapsed().as_secs() < 120, "it stays open");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Opens a file that must be refused and left unchanged.
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
        let message = error.to_string();
        let expected = "is a database of another program, not the state of a member";
        assert!(message.contains(expected), "{message}");
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
async fn another_version_is_refused_and_kept() {
    for version in [1, 99] {
        let dir = folder();
        let path = file_with_a_task(dir.path()).await;
        let other = rusqlite::Connection::open(&path).expect("a database");
        other
            .pragma_update(None, "user_version", version)
            .expect("writable");
        other.close().expect("it closes");

        let error = refused(&path).await;

        let message = error.to_string();
        let expected = format!("has version {version}, and this program reads version 4");
        assert!(message.contains(&expected), "{message}");
    }
}

#[tokio::test]
async fn another_version_of_the_coordinator_or_the_shared_context_is_refused_and_kept() {
    let dir = folder();
    let meta = dir.path().join("meta_state.db");
    drop(SqliteMeta::open(&meta).await.expect("it opens"));
    let shared = dir.path().join("context.db");
    drop(SharedContext::open(dir.path()).await.expect("it opens"));
    for (path, known) in [(&meta, 2), (&shared, 4)] {
        wait_until_closed(path);
        for version in [known - 1, known + 1, 99] {
            let other = rusqlite::Connection::open(path).expect("a database");
            other
                .pragma_update(None, "user_version", version)
                .expect("writable");
            other.close().expect("it closes");
            let before = fs::read(path).expect("readable");

            let message = if path == &meta {
                let error = SqliteMeta::open(path).await.expect_err("it is refused");
                error.to_string()
            } else {
                let opened = SharedContext::open(dir.path()).await;
                opened.expect_err("it is refused").to_string()
            };

            let expected =
                format!("{path:?} has version {version}, and this program reads version {known}");
            assert!(message.starts_with(&expected), "{message}");
            assert!(fs::read(path).expect("readable") == before, "{message}");
        }
    }
}

#[tokio::test]
async fn an_open_store_stops_writing_when_the_file_gets_a_newer_version() {
    let dir = folder();
    let path = dir.path().join("state.db");
    let state = SqliteState::open(&path).await.expect("it opens");
    let newer = rusqlite::Connection::open(&path).expect("a database");
    newer
        .pragma_update(None, "user_version", 99)
        .expect("writable");

    let task = PlannedTask::new(Task::new("a", "Do it.").expect("an id"));
    let saved = state.save_task(&task, Timestamp::UNIX_EPOCH).await;

    assert!(
        matches!(saved, Err(StateError::OtherVersion { found: 99, .. })),
        "{saved:?}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_path_that_is_no_file_is_refused() {
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
async fn an_empty_file_left_by_a_kill_is_used() {
    let dir = folder();
    let path = dir.path().join("state.db");
    fs::write(&path, "").expect("writable");

    let state = SqliteState::open(&path).await.expect("it opens");

    assert_eq!(state.tasks().await.expect("it is read"), []);
}
