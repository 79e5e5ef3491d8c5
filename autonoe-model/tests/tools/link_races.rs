//! Tests of directories that are concurrently replaced by links.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::tools::fixture::Fixture;

/// Exchanges `src` with a link to the neighbour, until stopped.
fn swap(fixture: &Fixture, stop: Arc<AtomicBool>) -> thread::JoinHandle<u32> {
    let (directory, link) = (fixture.root().join("src"), fixture.root().join("trap"));
    symlink(fixture.neighbour(), &link).expect("free");
    thread::spawn(move || {
        let mut swaps = 0;
        // An even number of swaps, to restore the original state.
        while swaps % 2 == 1 || !stop.load(Ordering::Relaxed) {
            renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE).expect("ours");
            swaps += 1;
            thread::yield_now();
        }
        swaps
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_becomes_a_symlink_is_not_followed() {
    let fixture = Fixture::new();
    fixture.file("src/key", "harmless\n");
    let stop = Arc::new(AtomicBool::new(false));
    let swapping = swap(&fixture, stop.clone());

    let mut reads = 0;
    for round in 0..400 {
        if let Ok(output) = fixture.call("Read", json!({"file_path": "src/key"})).await {
            assert!(output.output.contains("harmless"), "{}", output.output);
            reads += 1;
        }
        let name = format!("src/new{round}");
        let _ = fixture
            .call("Write", json!({"file_path": name, "content": "x"}))
            .await;
        let edit =
            json!({"file_path": "src/key", "old_string": "harmless", "new_string": "harmless too"});
        let _ = fixture.call("Edit", edit).await;
        let back =
            json!({"file_path": "src/key", "old_string": "harmless too", "new_string": "harmless"});
        let _ = fixture.call("Edit", back).await;
        let found = fixture.call("Grep", json!({"pattern": "secret"})).await;
        if let Ok(found) = found {
            assert_eq!(found.output, "[no matches]\n");
        }
        let found = fixture.call("Glob", json!({"pattern": "**/*"})).await;
        assert!(found.is_ok());
    }

    stop.store(true, Ordering::Relaxed);
    let swaps = swapping.join().expect("no panic");
    assert!(swaps > 100 && reads > 0, "{swaps} swaps, {reads} reads");
    let names: Vec<_> = fs::read_dir(fixture.neighbour())
        .expect("there")
        .flatten()
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let key = fs::read_to_string(fixture.neighbour().join("key"));
    assert_eq!(key.expect("there"), "secret\n");
}
