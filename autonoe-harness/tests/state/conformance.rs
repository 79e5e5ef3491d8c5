//! Conformance tests of the state stores.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_harness::conformance;
use autonoe_harness::state::{MetaState, SqliteMeta, SqliteState, StateStore};
use tempfile::TempDir;

/// Creates file names, each a new one.
struct Files {
    dir: TempDir,
    count: AtomicU32,
}

impl Files {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let count = AtomicU32::new(0);
        Self { dir, count }
    }

    fn next(&self) -> PathBuf {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        self.dir.path().join(format!("{number}/state.db"))
    }
}

#[tokio::test]
async fn state_in_memory_keeps_the_contract() {
    let empty = async || {
        let state = SqliteState::in_memory().await.expect("it opens");
        Arc::new(state) as Arc<dyn StateStore>
    };

    conformance::state_store(&empty).await.assert();
}

// Shows: fleets/state/init
#[tokio::test]
async fn state_in_sqlite_keeps_the_contract() {
    let files = Files::new();
    let empty = async || {
        let state = SqliteState::open(&files.next()).await.expect("it opens");
        Arc::new(state) as Arc<dyn StateStore>
    };

    conformance::state_store(&empty).await.assert();
}

#[tokio::test]
async fn a_coordinators_state_in_memory_keeps_the_contract() {
    let empty = async || {
        let meta = SqliteMeta::in_memory().await.expect("it opens");
        Arc::new(meta) as Arc<dyn MetaState>
    };

    conformance::meta_state(&empty).await.assert();
}

// Shows: fleets/state/meta
#[tokio::test]
async fn a_coordinators_state_in_sqlite_keeps_the_contract() {
    let files = Files::new();
    let empty = async || {
        let meta = SqliteMeta::open(&files.next()).await.expect("it opens");
        Arc::new(meta) as Arc<dyn MetaState>
    };

    conformance::meta_state(&empty).await.assert();
}
