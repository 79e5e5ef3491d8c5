//! Runs whose sessions change nothing.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use autonoe_core::agent::SessionProgress;
use autonoe_core::run::{Workspace, WorkspaceSnapshot};
use autonoe_core::{ExitReason, Mode, RunControl, RunEvent, RunEventKind};
use autonoe_testkit::SessionScript;

use crate::behaviour::support::{Fixture, create, idles, passes, plans};

/// Files whose state is a number.
#[derive(Clone, Default)]
struct Files(Arc<AtomicU64>);

impl Files {
    /// Returns a session that changes a file and nothing else.
    fn changed_by_session(&self) -> SessionScript {
        let files = self.clone();
        SessionScript::new("changes a file")
            .performs(move |_| {
                files.0.fetch_add(1, Ordering::SeqCst);
            })
            .says("I changed a file.")
            .ends()
    }
}

impl Workspace for Files {
    fn snapshot(&self) -> io::Result<WorkspaceSnapshot> {
        Ok(WorkspaceSnapshot::new(&self.0.load(Ordering::SeqCst)))
    }
}

fn stalled(sessions: u32, mode: Mode) -> ExitReason {
    ExitReason::Stalled { sessions, mode }
}

/// Returns one session that plans, and others that change nothing.
fn idle_after_plan(sessions: usize) -> Vec<SessionScript> {
    let idle = std::iter::repeat_with(idles).take(sessions);
    [plans(&["A"])].into_iter().chain(idle).collect()
}

// Shows: interfaces/session-runner/exit-reasons
#[tokio::test(start_paused = true)]
async fn an_agent_that_changes_nothing_is_stopped_after_five_sessions() {
    let fixture = Fixture::new(idle_after_plan(5));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let progress = seen.clone();
    let observer = move |event: &RunEvent<'_>| {
        if let RunEventKind::SessionEnded { result, .. } = event.kind {
            progress.lock().expect("not poisoned").push(result.progress);
        }
    };

    let runner = fixture.runner().workspace(Arc::new(Files::default()));
    let report = fixture.run(runner.observer(Arc::new(observer))).await;

    assert_eq!(report.exit, stalled(5, Mode::Run));
    assert_eq!((report.iterations, report.sessions), (6, 6));
    let mut expected = vec![SessionProgress::Some];
    expected.extend([SessionProgress::None; 5]);
    assert_eq!(*seen.lock().expect("not poisoned"), expected);
}

#[tokio::test(start_paused = true)]
async fn the_limit_can_be_changed_and_zero_turns_it_off() {
    let fixture = Fixture::new(idle_after_plan(2));
    let runner = fixture.runner().workspace(Arc::new(Files::default()));
    let report = fixture.run(runner.max_stalled_sessions(2)).await;
    assert_eq!(report.exit, stalled(2, Mode::Run));

    let fixture = Fixture::new(idle_after_plan(20).into_iter().chain([passes("A")]));
    let runner = fixture.runner().workspace(Arc::new(Files::default()));
    let report = fixture.run(runner.max_stalled_sessions(0)).await;
    assert_eq!(report.exit, ExitReason::AllPassed);
}

#[tokio::test(start_paused = true)]
async fn a_changed_file_and_a_changed_ledger_are_progress() {
    let files = Files::default();
    let mut scripts = vec![plans(&["A", "B"])];
    for progress in [files.changed_by_session(), passes("A"), passes("B")] {
        scripts.extend([idles(), idles(), idles(), idles(), progress]);
    }
    let fixture = Fixture::new(scripts);

    let report = fixture
        .run(fixture.runner().workspace(Arc::new(files)))
        .await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

#[tokio::test(start_paused = true)]
async fn a_run_continues_if_its_files_cannot_be_measured() {
    let fails: Arc<dyn Workspace> = Arc::new(|| Err(io::Error::other("too many files")));
    let panics: Arc<dyn Workspace> =
        Arc::new(|| -> io::Result<WorkspaceSnapshot> { panic!("a defect of the plugin") });
    for workspace in [None, Some(fails), Some(panics)] {
        let fixture = Fixture::new(idle_after_plan(9).into_iter().chain([passes("A")]));
        let runner = match workspace {
            Some(workspace) => fixture.runner().workspace(workspace),
            None => fixture.runner(),
        };

        let report = fixture.run(runner).await;

        assert_eq!(report.exit, ExitReason::AllPassed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_sync_that_verifies_nothing_is_stopped_even_if_files_change() {
    let files = Files::default();
    let syncs = SessionScript::new("syncs")
        .uses_tool("mcp__autonoe__create", create(&["A"]))
        .ends();
    // Tests leave files behind, and notes are written.
    let verifies = std::iter::repeat_with(|| files.changed_by_session()).take(5);
    let fixture = Fixture::new([syncs].into_iter().chain(verifies));

    let runner = fixture.runner().mode(Mode::Sync);
    let report = fixture.run(runner.workspace(Arc::new(files.clone()))).await;

    assert_eq!(report.exit, stalled(5, Mode::Sync));
    assert_eq!(report.sessions, 6);
}

#[tokio::test]
async fn a_snapshot_that_takes_long_does_not_delay_a_cancellation() {
    let fixture = Fixture::new([]);
    let (control, (release, hold)) = (RunControl::new(), mpsc::channel::<()>());
    let (cancel, hold) = (control.clone(), Mutex::new(hold));
    let workspace = move || {
        cancel.cancel();
        // Returns when the test drops the other end.
        let _ = hold.lock().expect("not poisoned").recv();
        Ok(WorkspaceSnapshot::new("late"))
    };
    let runner = fixture.runner().workspace(Arc::new(workspace)).build();

    let report = runner.expect("parts fit").run(&control).await;

    assert_eq!(report.exit, ExitReason::Interrupted);
    drop(release);
}
