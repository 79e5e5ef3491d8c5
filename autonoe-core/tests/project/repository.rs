//! Ledger in a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::ledger::{Fence, LedgerState};
use autonoe_core::project::{FileDeliverableRepository, RunLock};
use autonoe_core::time::Epoch;
use autonoe_core::{DeliverableRepository, Project};
use autonoe_testkit::conformance;
use jiff::Timestamp;
use jiff::civil::date;
use serde_json::json;

/// Opens a repository in `dir`.
fn repository(dir: &Path) -> Arc<dyn DeliverableRepository> {
    let project = Project::find(dir, None).expect("it is there");
    Arc::new(FileDeliverableRepository::open(&project).expect("it can be written to"))
}

/// Folders for repositories, deleted at the end of the test.
#[derive(Default)]
struct Folders(std::sync::Mutex<Vec<tempfile::TempDir>>);

impl Folders {
    fn new_one(&self) -> PathBuf {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().to_owned();
        self.0.lock().expect("not poisoned").push(dir);
        path
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn file_repository_conforms() {
    let folders = Arc::new(Folders::default());
    let fresh = {
        let folders = folders.clone();
        async move || repository(&folders.new_one())
    };

    conformance::deliverable_repository(fresh).await.assert();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_of_a_run_that_holds_the_lock_conforms() {
    let folders = Arc::new(Folders::default());
    // Kept until the end of the test: the run owns the ledger as long as it holds its lock.
    let locks = std::sync::Mutex::new(Vec::new());
    let fresh = async || {
        let project = Project::find(&folders.new_one(), None).expect("it is there");
        let lock = RunLock::acquire(&project, Timestamp::UNIX_EPOCH).expect("the lock is free");
        let ledger = FileDeliverableRepository::open(&project).expect("writable");
        let owned = ledger.owned_by_run(&lock, &project).expect("readable");
        locks.lock().expect("not poisoned").push(lock);
        Arc::new(owned) as Arc<dyn DeliverableRepository>
    };

    conformance::deliverable_repository(fresh).await.assert();
}

#[tokio::test(flavor = "multi_thread")]
async fn reopened_repositories_conform() {
    let dir = tempfile::tempdir().expect("a folder");
    let open = async |place: usize| {
        let place = dir.path().join(place.to_string());
        fs::create_dir_all(&place).expect("writable");
        repository(&place)
    };

    conformance::reopened_repository(open).await.assert();
}

// Shows: spec/5.2/corrupt
#[tokio::test]
async fn file_repository_keeps_a_corrupt_ledger() {
    let folders = Folders::default();
    let broken = async || {
        let dir = folders.new_one();
        let ledger = repository(&dir);
        fs::write(dir.join(".autonoe/status.json"), "{\"deliverables\": [").expect("writable");
        ledger
    };

    conformance::corrupt_repository(broken).await.assert();
}

// Shows: spec/5.1/files
#[tokio::test]
async fn a_file_of_the_typescript_version_is_accepted_and_keeps_its_fields() {
    let dir = tempfile::tempdir().expect("a folder");
    let ledger = repository(dir.path());
    let path = dir.path().join(".autonoe/status.json");
    fs::write(
        &path,
        json!({
            "createdAt": "2025-01-01",
            "updatedAt": "2025-01-10",
            "deliverables": [{
                "id": "DL-001", "description": "User Authentication",
                "acceptanceCriteria": ["User can login"], "passed": true, "blocked": false,
                "owner": "web",
            }],
            "projectName": "a field that nobody here knows",
        })
        .to_string(),
    )
    .expect("writable");

    let snapshot = ledger
        .load()
        .await
        .expect("it is valid")
        .expect("it is there");
    assert_eq!(snapshot.epoch, Epoch(0));
    let fence = Fence {
        base: Some(snapshot.revision),
        epoch: Epoch(1),
    };
    ledger
        .save(&snapshot.state, fence)
        .await
        .expect("no other writer saves");

    let text = fs::read_to_string(&path).expect("readable");
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn nothing_but_the_file_its_lock_and_the_git_ignore_is_left_behind() {
    let dir = tempfile::tempdir().expect("a folder");
    let ledger = repository(dir.path());
    // As left by a kill in the middle of a write.
    fs::write(dir.path().join(".autonoe/status.json.tmp"), "half a led").expect("writable");

    let state = LedgerState::new(date(2026, 1, 1));
    ledger
        .save(
            &state,
            Fence {
                base: None,
                epoch: Epoch(1),
            },
        )
        .await
        .expect("it is new");

    let mut names: Vec<_> = fs::read_dir(dir.path().join(".autonoe"))
        .expect("readable")
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .into_string()
                .expect("text")
        })
        .collect();
    names.sort();
    assert_eq!(names, [".gitignore", "status.json", "status.lock"]);
}

#[cfg(unix)]
#[tokio::test]
async fn the_permissions_of_the_file_stay() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().expect("a folder");
    let ledger = repository(dir.path());
    let state = LedgerState::new(date(2026, 1, 1));
    let revision = ledger
        .save(
            &state,
            Fence {
                base: None,
                epoch: Epoch(1),
            },
        )
        .await
        .expect("it is new");
    let path = dir.path().join(".autonoe/status.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");

    let fence = Fence {
        base: Some(revision),
        epoch: Epoch(1),
    };
    ledger
        .save(&state, fence)
        .await
        .expect("no other writer saves");

    let mode = fs::metadata(&path).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[tokio::test]
async fn a_symlink_in_the_place_of_the_temporary_file_is_not_followed() {
    let dir = tempfile::tempdir().expect("a folder");
    let ledger = repository(dir.path());
    let foreign = dir.path().join("foreign");
    fs::write(&foreign, "somebody's data").expect("writable");
    let temporary = dir.path().join(".autonoe/status.json.tmp");
    std::os::unix::fs::symlink(&foreign, temporary).expect("writable");

    let state = LedgerState::new(date(2026, 1, 1));
    let first = Fence {
        base: None,
        epoch: Epoch(1),
    };
    ledger.save(&state, first).await.expect("it is new");

    let content = fs::read_to_string(&foreign).expect("readable");
    assert_eq!(content, "somebody's data");
}
