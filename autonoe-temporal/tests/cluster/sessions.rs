//! Runs that are driven session by session.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::{
    Engine, Placement, RunEnding, RunInstruction, RunPhase, RunSpec, RunView,
};
use autonoe_temporal::{TemporalEngine, TemporalSettings, Timeouts, WorkerSettings};
use autonoe_temporal_support::{DevServer, RunningWorker, is_at};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject};
use jiff::Timestamp;

use crate::assertions::assert_end_recorded;
use crate::project::{OneProject, agents, passes, plans, records, run};

const AT_ONCE: Duration = Duration::ZERO;

/// A server, a worker and a project.
struct Fixture {
    engine: TemporalEngine,
    project: TempProject,
    _worker: RunningWorker,
    _server: DevServer,
}

impl Fixture {
    async fn with(played: &Arc<ScriptedBackend>) -> Self {
        Self::at(Timeouts::default(), played).await
    }

    async fn at(timeouts: Timeouts, played: &Arc<ScriptedBackend>) -> Self {
        let server = DevServer::start().await;
        let project = TempProject::new().spec("# Shop");
        let hosts = OneProject::new(&project, played);
        let timeouts = Timeouts {
            heartbeat_interval: Duration::from_millis(500),
            ..timeouts
        };
        let settings: TemporalSettings = server.settings_with(timeouts);
        let host = WorkerSettings::for_host("here");
        let worker = RunningWorker::start(settings.clone(), host, |worker| worker.sessions(hosts));
        Self {
            engine: TemporalEngine::connect(settings).await.expect("it answers"),
            project,
            _worker: worker,
            _server: server,
        }
    }

    async fn submit(&self, run: &RunSpec) {
        let submitted = self.engine.submit(run.clone(), Placement::anywhere()).await;
        assert_eq!(submitted.expect("it is taken"), run.id);
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) {
        let instructed = self.engine.instruct(run, instruction).await;
        instructed.expect("it is told");
    }

    async fn wait_until(&self, run: &RunId, is_so: impl Fn(&RunView) -> bool) {
        let polling = async {
            loop {
                let view = self.engine.status(run).await.expect("it is known");
                if is_so(&view) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let polled = tokio::time::timeout(Duration::from_secs(90), polling).await;
        polled.expect("it comes to that");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_continues_until_all_deliverables_have_passed() {
    let played = agents([
        plans(),
        passes("DL-001", AT_ONCE),
        passes("DL-002", AT_ONCE),
    ]);
    let fixture = Fixture::with(&played).await;
    let run = run("shop");

    fixture.submit(&run).await;
    let outcome = fixture.engine.wait(&run.id).await.expect("it ends");

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(outcome.output["deliverablesPassedCount"], 2);
    assert_eq!(outcome.output["sessions"], 3);
    assert_eq!(outcome.spent.cost.to_string(), "$0.15");
    assert_eq!(records(&fixture.project), 3);
    assert_end_recorded(&fixture.project.journal(), &outcome);
    played.verify();
    // Submitting the same run again finds the same run.
    fixture.submit(&run).await;
    assert_eq!(
        fixture.engine.wait(&run.id).await.expect("it ended"),
        outcome
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_quota_is_a_timer_and_a_new_history_may_start() {
    let resets_at = Timestamp::now() + Duration::from_secs(20);
    let out_of_quota = SessionScript::new("quota")
        .says("So?")
        .hits_quota(Some(resets_at));
    let played = agents([
        plans(),
        out_of_quota,
        passes("DL-001", AT_ONCE),
        passes("DL-002", AT_ONCE),
    ]);
    let timeouts = Timeouts {
        sessions_in_history: 1,
        ..Timeouts::default()
    };
    let fixture = Fixture::at(timeouts, &played).await;
    let mut run = run("shop");
    run.input["limits"]["onQuota"] = "wait".into();

    fixture.submit(&run).await;
    let outcome = fixture.engine.wait(&run.id).await.expect("it ends");

    assert!(outcome.is_success(), "{outcome:?}");
    assert!(Timestamp::now() >= resets_at);
    assert_eq!(outcome.output["sessions"], 4);
    assert_eq!(outcome.output["iterations"], 3);
    played.verify();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_holds_the_next_session_and_a_message_reaches_it() {
    let second = passes("DL-002", AT_ONCE).expects_in_prompt("The tests come first.");
    let played = agents([plans(), passes("DL-001", Duration::from_secs(3)), second]);
    let fixture = Fixture::with(&played).await;
    let run = run("shop");
    fixture.submit(&run).await;
    fixture
        .wait_until(&run.id, |view| is_at(view, |at| at.iteration == 2))
        .await;

    fixture.instruct(&run.id, RunInstruction::Pause).await;
    let message = RunInstruction::Message("The tests come first.".to_owned());
    fixture.instruct(&run.id, message).await;
    fixture
        .wait_until(&run.id, |view| is_at(view, |at| at.progress == 0.5))
        .await;
    fixture
        .wait_until(&run.id, |view| view.phase == RunPhase::Paused)
        .await;
    assert_eq!(played.received().len(), 2);
    fixture.instruct(&run.id, RunInstruction::Resume).await;
    let outcome = fixture.engine.wait(&run.id).await.expect("it ends");

    assert!(outcome.is_success(), "{outcome:?}");
    played.verify();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_ends_its_session_and_records_that() {
    let hangs = SessionScript::new("hangs").says("I begin.").hangs();
    let played = agents([plans(), hangs]);
    let fixture = Fixture::with(&played).await;
    let run = run("shop");
    fixture.submit(&run).await;
    fixture
        .wait_until(&run.id, |_| played.received().len() == 2)
        .await;

    fixture
        .engine
        .cancel(&run.id, "enough of it")
        .await
        .expect("it is told");
    let outcome = fixture.engine.wait(&run.id).await.expect("it ends");

    let RunEnding::Cancelled { reason } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(reason, "enough of it");
    assert_end_recorded(&fixture.project.journal(), &outcome);
    assert_eq!((records(&fixture.project), played.open_clients()), (2, 0));
}
