//! What a backend keeps from one session of a run for the next.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{ExitReason, FlowExit, FlowStart, Kept, RunControl, SessionOrder, SessionSpec};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::json;

use crate::behaviour::own_backend::{Item, MINUTE, OwnBackend, call, done, run_with, says_after};
use crate::behaviour::support::{Bench, create, status};

/// How often something was ended, and dropped.
#[derive(Clone, Default)]
struct Ends {
    ended: Arc<AtomicU32>,
    dropped: Arc<AtomicU32>,
}

impl Ends {
    fn both(&self) -> (u32, u32) {
        let read = |count: &AtomicU32| count.load(Ordering::Relaxed);
        (read(&self.ended), read(&self.dropped))
    }
}

/// A program that is none, and takes a second to end.
struct Warm(Ends);

#[async_trait]
impl Kept for Warm {
    async fn end(self: Box<Self>) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// What sessions found: whether something was kept for them.
type Found = Arc<Mutex<Vec<bool>>>;

/// Takes what is kept, or makes it, and keeps it again.
fn warm(spec: &SessionSpec, ends: &Ends, found: &Found) {
    let warm = spec.keeping.take(|_: &Warm| true);
    found.lock().expect("no panic").push(warm.is_some());
    let warm = warm.unwrap_or_else(|| Box::new(Warm(ends.clone())));
    let _ = spec.keeping.keep(warm);
}

/// Plans, works for a while, and says in its third session that all is done.
fn backend(ends: &Ends, found: &Found) -> OwnBackend {
    let (ends, found) = (ends.clone(), found.clone());
    OwnBackend::new(move |spec| -> BoxStream<'static, Item> {
        warm(&spec, &ends, &found);
        let number = spec.key.number;
        let work = async move {
            match number {
                1 => call(spec, "create", create(&["A"])).await,
                3 => call(spec, "set_status", status("A", "passed")).await,
                _ => tokio::time::sleep(MINUTE).await,
            }
        };
        says_after(work, vec![done()])
    })
}

#[tokio::test(start_paused = true)]
async fn sessions_of_a_run_share_what_is_kept_and_its_end_is_waited_for() {
    let (ends, found) = (Ends::default(), Found::default());
    let bench = Bench::new([]);
    let runner = bench.runner().agents(Arc::new(backend(&ends, &found)));

    let report = run_with(runner, async |_| {}).await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report}");
    assert_eq!(*found.lock().expect("no panic"), [false, true, true]);
    assert_eq!(ends.both(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_ends_what_is_kept() {
    let (ends, found) = (Ends::default(), Found::default());
    let bench = Bench::new([]);
    let runner = bench.runner().agents(Arc::new(backend(&ends, &found)));

    let report = run_with(runner, async |control| {
        tokio::time::sleep(MINUTE / 2).await;
        control.cancel();
    })
    .await;

    assert_eq!(report.exit, ExitReason::Interrupted, "{report}");
    assert_eq!(ends.both(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_backend_fails_ends_what_is_kept() {
    let (ends, found) = (Ends::default(), Found::default());
    let (told, counted) = (ends.clone(), found.clone());
    let failing = OwnBackend::new(move |spec| {
        warm(&spec, &told, &counted);
        stream::empty().boxed()
    });
    let bench = Bench::new([]);
    let runner = bench.runner().agents(Arc::new(failing));

    let report = run_with(runner, async |_| {}).await;

    assert!(!report.exit.is_success(), "{report}");
    assert_eq!(ends.both(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_drops_what_is_kept() {
    let (ends, found) = (Ends::default(), Found::default());
    let bench = Bench::new([]);
    let runner = bench.runner().agents(Arc::new(backend(&ends, &found)));
    let runner = runner.build().expect("parts fit");
    let control = RunControl::new();

    let run = tokio::time::timeout(MINUTE / 2, runner.run(&control)).await;

    assert!(run.is_err(), "it was still under way");
    assert_eq!(ends.both(), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_flow_keeps_something_if_it_says_so_and_until_it_says_that_it_is_over() {
    for is_kept in [false, true] {
        let (ends, found) = (Ends::default(), Found::default());
        let (told, counted) = (ends.clone(), found.clone());
        let backend = OwnBackend::new(move |spec| {
            warm(&spec, &told, &counted);
            stream::iter([done()]).boxed()
        });
        let bench = Bench::new([]);
        let sessions = bench.runner().agents(Arc::new(backend)).build_sessions();
        let sessions = sessions.expect("parts fit");
        let control = RunControl::new();
        let open = sessions.open(FlowStart::new("review"), &control).await;
        let mut open = open.expect("it begins");
        if is_kept {
            open.keep_between_sessions();
        }

        for name in ["one", "two"] {
            open.run(SessionOrder::new("Do it.").named(name)).await;
        }
        let before = ends.both();
        open.end_kept().await;
        open.close(FlowExit::Completed, json!({}));

        assert_eq!(*found.lock().expect("no panic"), [false, is_kept]);
        match is_kept {
            true => assert_eq!((before, ends.both()), ((0, 0), (1, 1))),
            false => assert_eq!((before, ends.both()), ((0, 2), (0, 2))),
        }
    }
}
