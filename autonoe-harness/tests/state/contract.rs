use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_harness::{
    MemoryMeta, MemoryState, MetaState, SqliteMeta, SqliteState, StateStore, conformance,
};
use tempfile::TempDir;

/// Gives each file another name.
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
    let empty = async || Arc::new(MemoryState::new()) as Arc<dyn StateStore>;

    conformance::state_store(&empty).await.assert();
}

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
    let empty = async || Arc::new(MemoryMeta::new()) as Arc<dyn MetaState>;

    conformance::meta_state(&empty).await.assert();
}

#[tokio::test]
async fn a_coordinators_state_in_sqlite_keeps_the_contract() {
    let files = Files::new();
    let empty = async || {
        let meta = SqliteMeta::open(&files.next()).await.expect("it opens");
        Arc::new(meta) as Arc<dyn MetaState>
    };

    conformance::meta_state(&empty).await.assert();
}
