//! Runs that are driven session by session.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{
    Engine, Placement, RunEnding, RunId, RunInstruction, RunPhase, RunSpec, RunView,
};
use autonoe_temporal::{Pace, TemporalEngine, TemporalSettings, WorkerSettings};
use autonoe_temporal_support::{DevServer, Working, is_at};
use autonoe_testkit::{ScriptedAgents, SessionScript, TempProject};
use jiff::Timestamp;

use crate::afterwards::is_written_down;
use crate::project::{OneProject, agents, passes, plans, records, run};

const AT_ONCE: Duration = Duration::ZERO;

/// A server, a worker and a project.
struct Stand {
    engine: TemporalEngine,
    project: TempProject,
    _worker: Working,
    _server: DevServer,
}

impl Stand {
    async fn with(played: &Arc<ScriptedAgents>) -> Self {
        Self::at(Pace::default(), played).await
    }

    async fn at(pace: Pace, played: &Arc<ScriptedAgents>) -> Self {
        let server = DevServer::start().await;
        let project = TempProject::new().spec("# Shop");
        let hosts = OneProject::of(&project, played);
        let pace = Pace {
            beat: Duration::from_millis(500),
            ..pace
        };
        let settings: TemporalSettings = server.settings().pace(pace);
        let host = WorkerSettings::on("here");
        let worker = Working::start(settings.clone(), host, |worker| worker.sessions(hosts));
        Self {
            engine: TemporalEngine::connect(settings).await.expect("it answers"),
            project,
            _worker: worker,
            _server: server,
        }
    }

    async fn submit(&self, run: &RunSpec) {
        let taken = self.engine.submit(run.clone(), Placement::anywhere()).await;
        assert_eq!(taken.expect("it is taken"), run.id);
    }

    async fn tell(&self, run: &RunId, instruction: RunInstruction) {
        let told = self.engine.instruct(run, instruction).await;
        told.expect("it is told");
    }

    async fn look_until(&self, run: &RunId, is_so: impl Fn(&RunView) -> bool) {
        let looking = async {
            loop {
                let view = self.engine.status(run).await.expect("it is known");
                if is_so(&view) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let looked = tokio::time::timeout(Duration::from_secs(90), looking).await;
        looked.expect("it comes to that");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_until_all_has_passed() {
    let played = agents([
        plans(),
        passes("DL-001", AT_ONCE),
        passes("DL-002", AT_ONCE),
    ]);
    let stand = Stand::with(&played).await;
    let run = run("shop");

    stand.submit(&run).await;
    let outcome = stand.engine.wait(&run.id).await.expect("it ends");

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(outcome.output["deliverablesPassedCount"], 2);
    assert_eq!(outcome.output["sessions"], 3);
    assert_eq!(outcome.spent.cost.to_string(), "$0.15");
    assert_eq!(records(&stand.project), 3);
    is_written_down(&stand.project.journal(), &outcome);
    played.verify();
    // The same run again is the same run.
    stand.submit(&run).await;
    assert_eq!(stand.engine.wait(&run.id).await.expect("it ended"), outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_quota_is_a_timer_and_the_history_may_begin_anew() {
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
    let pace = Pace {
        sessions_in_history: 1,
        ..Pace::default()
    };
    let stand = Stand::at(pace, &played).await;
    let mut run = run("shop");
    run.input["limits"]["onQuota"] = "wait".into();

    stand.submit(&run).await;
    let outcome = stand.engine.wait(&run.id).await.expect("it ends");

    assert!(outcome.is_success(), "{outcome:?}");
    assert!(Timestamp::now() >= resets_at);
    assert_eq!(outcome.output["sessions"], 4);
    assert_eq!(outcome.output["iterations"], 3);
    played.verify();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_holds_the_next_session_and_what_is_said_reaches_it() {
    let second = passes("DL-002", AT_ONCE).expects_in_prompt("The tests come first.");
    let played = agents([plans(), passes("DL-001", Duration::from_secs(3)), second]);
    let stand = Stand::with(&played).await;
    let run = run("shop");
    stand.submit(&run).await;
    stand
        .look_until(&run.id, |view| is_at(view, |at| at.iteration == 2))
        .await;

    stand.tell(&run.id, RunInstruction::Pause).await;
    let say = RunInstruction::Say("The tests come first.".to_owned());
    stand.tell(&run.id, say).await;
    stand
        .look_until(&run.id, |view| is_at(view, |at| at.progress == 0.5))
        .await;
    stand
        .look_until(&run.id, |view| view.phase == RunPhase::Paused)
        .await;
    assert_eq!(played.received().len(), 2);
    stand.tell(&run.id, RunInstruction::Resume).await;
    let outcome = stand.engine.wait(&run.id).await.expect("it ends");

    assert!(outcome.is_success(), "{outcome:?}");
    played.verify();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_ends_its_session_and_records_that() {
    let hangs = SessionScript::new("hangs").says("I begin.").hangs();
    let played = agents([plans(), hangs]);
    let stand = Stand::with(&played).await;
    let run = run("shop");
    stand.submit(&run).await;
    stand
        .look_until(&run.id, |_| played.received().len() == 2)
        .await;

    stand
        .engine
        .cancel(&run.id, "enough of it")
        .await
        .expect("it is told");
    let outcome = stand.engine.wait(&run.id).await.expect("it ends");

    let RunEnding::Cancelled { reason } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(reason, "enough of it");
    is_written_down(&stand.project.journal(), &outcome);
    assert_eq!((records(&stand.project), played.alive()), (2, 0));
}
