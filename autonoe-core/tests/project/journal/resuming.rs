//! Which runs are resumed, and where they go on.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{
    Activity, Durability, ExitReason, JournalError, JournalLine, RunControl, RunId, RunJournal,
};
use autonoe_testkit::{ScriptedAgents, TempProject};
use jiff::Timestamp;

use super::{run, scripts, whole_run};

#[tokio::test(start_paused = true)]
async fn a_finished_run_is_not_resumed() {
    let project = TempProject::new();
    whole_run(&project).await;

    assert_eq!(project.journal().broken_off(), None);
}

/// A journal that takes no line.
struct Refuses;

impl RunJournal for Refuses {
    fn append(
        &self,
        _: &RunId,
        _: Timestamp,
        _: &JournalLine,
        _: Durability,
    ) -> Result<(), JournalError> {
        Err(JournalError::new("there is no room"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_broke_off_before_its_first_line_is_not_known_and_starts_anew() {
    let project = TempProject::new();
    let broken = run(&project, ScriptedAgents::new([]))
        .configure(|runner| runner.journal(Arc::new(Refuses)))
        .start(&RunControl::new())
        .await
        .expect("it starts");
    assert!(
        matches!(broken.exit, ExitReason::Failed { .. }),
        "{broken:?}"
    );

    assert_eq!(project.journal().broken_off(), None);
    let report = whole_run(&project).await;

    assert_eq!((report.exit, report.sessions), (ExitReason::AllPassed, 5));
    assert_eq!(project.journal().stories()[0].resumed, 0);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_broke_off_goes_on_until_its_time() {
    let project = TempProject::new();
    let agents = ScriptedAgents::new(scripts()).unverified();
    {
        // The process is gone an hour into the five hours of waiting.
        let control = RunControl::new();
        let broken = run(&project, agents).start(&control);
        let broke_off = tokio::time::timeout(Duration::from_secs(3600), broken).await;
        assert!(broke_off.is_err(), "it waits");
    }
    let why = project.journal().stories()[0].why_did_it_stop().to_string();
    assert_eq!(
        why,
        "it broke off while it waited until 2026-01-01T05:00:00Z"
    );

    // The clock of the test starts again at midnight.
    let report = run(&project, ScriptedAgents::resuming_at(4, scripts()))
        .start(&RunControl::new())
        .await
        .expect("it starts");

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!((report.iterations, report.sessions), (4, 5));
    assert_eq!(report.elapsed, Duration::from_secs(5 * 3600 + 3));
    let stories = project.journal().stories();
    assert_eq!(stories[0].resumed, 1);
    let last = &stories[0].sessions[4];
    assert_eq!(
        last.result.as_ref().map(|result| result.activity),
        Some(Activity::Some)
    );
}
