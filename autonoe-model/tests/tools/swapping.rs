//! Somebody who changes directories into links while they are used.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::tools::yard::Yard;

/// Exchanges `src` and a link to the neighbour, until it is told to stop.
fn swap(yard: &Yard, stop: Arc<AtomicBool>) -> thread::JoinHandle<u32> {
    let (directory, link) = (yard.root().join("src"), yard.root().join("trap"));
    symlink(yard.neighbour(), &link).expect("free");
    thread::spawn(move || {
        let mut swaps = 0;
        // An even number of them, so that it is as before.
        while swaps % 2 == 1 || !stop.load(Ordering::Relaxed) {
            renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE).expect("ours");
            swaps += 1;
            thread::yield_now();
        }
        swaps
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_turns_into_a_link_leads_nowhere() {
    let yard = Yard::new();
    yard.file("src/key", "harmless\n");
    let stop = Arc::new(AtomicBool::new(false));
    let swapping = swap(&yard, stop.clone());

    let mut reads = 0;
    for round in 0..400 {
        if let Ok(output) = yard.call("Read", json!({"file_path": "src/key"})).await {
            assert!(output.output.contains("harmless"), "{}", output.output);
            reads += 1;
        }
        let name = format!("src/new{round}");
        let _ = yard
            .call("Write", json!({"file_path": name, "content": "x"}))
            .await;
        let edit =
            json!({"file_path": "src/key", "old_string": "harmless", "new_string": "harmless too"});
        let _ = yard.call("Edit", edit).await;
        let back =
            json!({"file_path": "src/key", "old_string": "harmless too", "new_string": "harmless"});
        let _ = yard.call("Edit", back).await;
        let found = yard.call("Grep", json!({"pattern": "secret"})).await;
        if let Ok(found) = found {
            assert_eq!(found.output, "[no matches]\n");
        }
        let found = yard.call("Glob", json!({"pattern": "**/*"})).await;
        assert!(found.is_ok());
    }

    stop.store(true, Ordering::Relaxed);
    let swaps = swapping.join().expect("no panic");
    assert!(swaps > 100 && reads > 0, "{swaps} swaps, {reads} reads");
    let names: Vec<_> = fs::read_dir(yard.neighbour())
        .expect("there")
        .flatten()
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let key = fs::read_to_string(yard.neighbour().join("key"));
    assert_eq!(key.expect("there"), "secret\n");
}
