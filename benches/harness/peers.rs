//! Equivalents of the strategies, written with plain tokio.

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// The output of each task.
pub(crate) const TASK_OUTPUT: &str = "done";

async fn works() -> String {
    tokio::task::yield_now().await;
    TASK_OUTPUT.to_owned()
}

/// Waits for all tasks, of which `at_once` run concurrently.
pub(crate) fn all(runtime: &Runtime, tasks: usize, at_once: usize) {
    runtime.block_on(async {
        let (mut set, mut outputs) = (JoinSet::new(), Vec::new());
        for _ in 0..tasks {
            if set.len() == at_once {
                outputs.extend(set.join_next().await);
            }
            set.spawn(works());
        }
        while let Some(one) = set.join_next().await {
            outputs.push(one);
        }
        assert_eq!(outputs.len(), tasks);
    });
}

/// Passes the output of each task to the next one.
pub(crate) fn chain(runtime: &Runtime, tasks: usize, _: usize) {
    runtime.block_on(async {
        let mut set = JoinSet::new();
        let mut before = String::new();
        for _ in 0..tasks {
            let input = std::mem::take(&mut before);
            set.spawn(async move {
                drop(input);
                works().await
            });
            before = set.join_next().await.expect("one").expect("no panic");
        }
        assert_eq!(before, TASK_OUTPUT);
    });
}

/// Starts each task when its parent is done.
pub(crate) fn tree(runtime: &Runtime, tasks: usize, _: usize) {
    runtime.block_on(async {
        let mut set = JoinSet::new();
        let spawn = |set: &mut JoinSet<usize>, n: usize| {
            set.spawn(async move {
                works().await;
                n
            });
        };
        spawn(&mut set, 0);
        let mut done = 0;
        while let Some(one) = set.join_next().await {
            let n = one.expect("no panic");
            done += 1;
            let below = [2 * n, 2 * n + 1];
            for next in below.into_iter().filter(|next| *next > 0 && *next < tasks) {
                spawn(&mut set, next);
            }
        }
        assert_eq!(done, tasks);
    });
}

/// Finishes the first task, then stops the others and waits for them.
pub(crate) fn first(runtime: &Runtime, tasks: usize, _: usize) {
    runtime.block_on(async {
        let mut set = JoinSet::new();
        set.spawn(works());
        for _ in 1..tasks {
            set.spawn(std::future::pending());
        }
        let first = set.join_next().await.expect("one").expect("no panic");
        assert_eq!(first, TASK_OUTPUT);
        set.shutdown().await;
    });
}
