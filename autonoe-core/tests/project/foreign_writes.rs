//! Foreign writes to the ledger file between a read and a write of ours.

use std::fs;
use std::path::Path;
use std::time::Duration;

use autonoe_core::ledger::{Fence, LedgerState, RepositoryErrorKind, Revision};
use autonoe_core::project::FileDeliverableRepository;
use autonoe_core::time::Epoch;
use autonoe_core::{DeliverableRepository, Project};
use futures::FutureExt;
use jiff::civil::{Date, date};

/// A repository that has saved once, as epoch 1, and the returned revision.
struct Saved {
    dir: tempfile::TempDir,
    ledger: FileDeliverableRepository,
    revision: Revision,
}

async fn saved() -> Saved {
    let dir = tempfile::tempdir().expect("a folder");
    let ledger = open(dir.path());
    let revision = save(&ledger, None, 1).await.expect("it is new");
    Saved {
        dir,
        ledger,
        revision,
    }
}

impl Saved {
    fn text(&self) -> String {
        fs::read_to_string(self.path()).expect("readable")
    }

    fn path(&self) -> std::path::PathBuf {
        self.dir.path().join(".autonoe/status.json")
    }

    /// Changes the file as an editor does.
    fn edit(&self, from: &str, to: &str) {
        let text = self.text();
        assert!(text.contains(from), "{from} does not stand in {text}");
        fs::write(self.path(), text.replace(from, to)).expect("writable");
    }

    /// Saves from the returned revision. The save must be refused and leave the file unchanged.
    async fn refused(&self, epoch: u64) -> RepositoryErrorKind {
        let before = fs::read(self.path()).ok();

        let refused = save(&self.ledger, Some(&self.revision), epoch).await;

        assert_eq!(fs::read(self.path()).ok(), before);
        refused.expect_err("it must be refused").kind()
    }
}

fn open(dir: &Path) -> FileDeliverableRepository {
    let project = Project::find(dir, None).expect("it is there");
    FileDeliverableRepository::open(&project).expect("it can be written to")
}

async fn save(
    ledger: &FileDeliverableRepository,
    base: Option<&Revision>,
    epoch: u64,
) -> Result<Revision, autonoe_core::ledger::RepositoryError> {
    let fence = Fence {
        base: base.cloned(),
        epoch: Epoch(epoch),
    };
    ledger.save(&LedgerState::new(FIRST_DAY), fence).await
}

const FIRST_DAY: Date = date(2026, 1, 1);

#[tokio::test]
async fn an_edit_that_leaves_the_counter_is_a_conflict() {
    let saved = saved().await;
    saved.edit("2026-01-01", "2026-01-02");

    assert_eq!(saved.refused(1).await, RepositoryErrorKind::Conflict);
}

#[tokio::test]
async fn an_edit_of_nothing_but_blanks_is_a_conflict() {
    let saved = saved().await;
    saved.edit("\n}\n", "\n}\n\n");

    assert_eq!(saved.refused(1).await, RepositoryErrorKind::Conflict);
}

#[tokio::test]
async fn a_reverted_edit_is_no_conflict() {
    let saved = saved().await;
    saved.edit("2026-01-01", "2026-01-02");
    saved.edit("2026-01-02", "2026-01-01");

    let retried = save(&saved.ledger, Some(&saved.revision), 1).await;

    assert!(retried.is_ok(), "{retried:?}");
}

#[tokio::test]
async fn an_edit_that_raises_the_epoch_fences_off() {
    let saved = saved().await;
    saved.edit("\"epoch\": 1", "\"epoch\": 2");

    assert_eq!(saved.refused(1).await, RepositoryErrorKind::Fenced);
    assert_eq!(saved.refused(2).await, RepositoryErrorKind::Conflict);
}

#[tokio::test]
async fn a_takeover_by_another_process_fences_off_the_last_writer_here() {
    let saved = saved().await;
    let other = open(saved.dir.path());
    let saved_by_other = save(&other, Some(&saved.revision), 2).await;

    assert!(saved_by_other.is_ok(), "{saved_by_other:?}");
    assert_eq!(saved.refused(1).await, RepositoryErrorKind::Fenced);
    assert_eq!(saved.refused(2).await, RepositoryErrorKind::Conflict);
}

#[tokio::test]
async fn a_writer_that_has_seen_the_takeover_is_fenced_off_too() {
    let mut saved = saved().await;
    let other = open(saved.dir.path());
    saved.revision = save(&other, Some(&saved.revision), 2)
        .await
        .expect("it takes over");

    assert_eq!(saved.refused(1).await, RepositoryErrorKind::Fenced);
}

#[tokio::test]
async fn a_file_that_was_broken_meanwhile_is_corrupt_and_stays() {
    let saved = saved().await;
    saved.edit("\n}\n", "");

    assert_eq!(saved.refused(1).await, RepositoryErrorKind::Corrupt);
}

#[tokio::test]
async fn a_duplicate_field_or_deliverable_is_corrupt() {
    let twice =
        "[{\"id\": \"A\", \"description\": \"x\"}, {\"id\": \"A\", \"description\": \"y\"}]";
    for (from, to) in [
        ("\"epoch\": 1", "\"epoch\": 1, \"epoch\": 0"),
        ("[]", twice),
    ] {
        let saved = saved().await;
        saved.edit(from, to);

        let loaded = saved.ledger.load().await.expect_err(to);

        assert_eq!(loaded.kind(), RepositoryErrorKind::Corrupt, "{to}");
        assert_eq!(saved.refused(1).await, RepositoryErrorKind::Corrupt, "{to}");
    }
}

#[tokio::test]
async fn a_file_that_was_removed_meanwhile_is_a_conflict() {
    let saved = saved().await;
    fs::remove_file(saved.path()).expect("ours");

    assert_eq!(saved.refused(1).await, RepositoryErrorKind::Conflict);
}

#[tokio::test]
async fn a_load_after_an_edit_gives_the_edit_and_a_save_keeps_its_unknown_fields() {
    let saved = saved().await;
    saved.edit("\"createdAt\": \"2026-01-01\"", "\"owner\": \"web\"");

    let snapshot = saved.ledger.load().await.expect("valid").expect("there");
    let fence = Fence {
        base: Some(snapshot.revision),
        epoch: Epoch(1),
    };
    let written = saved.ledger.save(&snapshot.state, fence).await;

    assert_eq!(snapshot.state.ledger.created_at(), None);
    assert!(written.is_ok(), "{written:?}");
    assert!(saved.text().contains("\"owner\": \"web\""));
    assert!(saved.text().contains("\"revision\": 2"), "{}", saved.text());
}

#[tokio::test]
async fn a_dropped_save_completes() {
    let dir = tempfile::tempdir().expect("a folder");
    let ledger = open(dir.path());

    drop(save(&ledger, None, 1).now_or_never());

    let found = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            if let Some(snapshot) = ledger.load().await.expect("whole") {
                return snapshot;
            }
        }
    });
    let found = found.await.expect("it is written");
    assert_eq!(found.state, LedgerState::new(FIRST_DAY));
}
