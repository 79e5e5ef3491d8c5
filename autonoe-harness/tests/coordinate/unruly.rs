//! Engines that fail, members that do not end, strategies and names that are wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Engine, EngineError, LocalEngine, Placement, RunControl, RunId, RunInstruction, RunOutcome,
    RunSpec, RunView,
};
use autonoe_harness::{
    CoordinationError, Coordinator, CutShort, Decision, Fleet, FleetEvent, Order, Parallel, Race,
    Strategy,
};
use autonoe_testkit::VirtualClock;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::coordinate::lessons::{fleet, run};
use crate::coordinate::scripted::{Act, End, Stage, id};

/// An engine that fails the first so many times that it is asked.
struct Shaky {
    inner: LocalEngine,
    failures_left: AtomicUsize,
}

impl Shaky {
    fn fail(&self) -> Result<(), EngineError> {
        let left = &self.failures_left;
        let failing = left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| {
            left.checked_sub(1)
        });
        match failing {
            Ok(_) => Err(EngineError::Failed {
                reason: "the line is bad".to_owned(),
                source: None,
            }),
            Err(_) => Ok(()),
        }
    }
}

#[async_trait]
impl Engine for Shaky {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        // It was taken all the same: the answer is what got lost.
        let taken = self.inner.submit(run, place).await;
        self.fail()?;
        taken
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        self.inner.cancel(run, reason).await
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        self.inner.instruct(run, instruction).await
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        self.inner.status(run).await
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        self.fail()?;
        self.inner.wait(run).await
    }
}

fn shaky(stage: &Arc<Stage>, failures: usize) -> Coordinator {
    let engine = Arc::new(Shaky {
        inner: LocalEngine::new(stage.clone()),
        failures_left: AtomicUsize::new(failures),
    });
    Coordinator::new("fleet", engine, Parallel {}).clock(Arc::new(VirtualClock::new()))
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_does_not_answer_is_asked_again() {
    let stage = Arc::new(Stage::default());
    let members = ["a", "b"].map(|name| Act::new(60, End::Succeeds).member(name));

    let report = run(shaky(&stage, 2).members(members)).await;

    assert!(report.result.success, "{report:?}");
    assert!(stage.seen().begun.values().all(|times| *times == 1));
}

#[tokio::test(start_paused = true)]
async fn a_member_that_an_engine_may_have_taken_is_ended_and_has_failed() {
    let stage = Arc::new(Stage::default());
    let members = [Act::new(60, End::Succeeds).member("a")];

    let report = run(shaky(&stage, 3).members(members)).await;

    assert!(!report.result.success);
    let error = report.result.results[0].error.as_deref();
    assert_eq!(
        error,
        Some("it could not be started: the engine failed: the line is bad")
    );
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(stage.seen().at_work, 0);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_does_not_end_is_left_behind_and_named() {
    let stage = Arc::new(Stage::default());
    let members = [
        Act::new(0, End::NeverEnds).member("deaf"),
        Act::new(10, End::Succeeds).member("quick"),
    ];

    let report = run(fleet(&stage, Race {}).members(members)).await;

    assert_eq!(report.result.winner, Some(id("quick")));
    assert_eq!(report.left_behind, [id("deaf")]);
    let error = report.result.results[0].error.as_deref();
    assert_eq!(
        error,
        Some("it was told to stop and had not ended after 2m")
    );
}

#[tokio::test(start_paused = true)]
async fn a_member_of_a_kind_that_nobody_carries_out_fails_with_that() {
    let stage = Arc::new(Stage::default());
    let engine = LocalEngine::by_kind([("other", stage.clone())]);
    let coordinator = Coordinator::new("fleet", engine, Parallel {})
        .clock(Arc::new(VirtualClock::new()))
        .members([Act::new(1, End::Succeeds).member("a")]);

    let report = run(coordinator).await;

    let error = report.result.results[0].error.clone().unwrap_or_default();
    assert!(error.contains("nobody carries out jobs"), "{error}");
}

/// An engine whose runs nobody has seen before they are submitted.
struct Unseen(LocalEngine);

#[async_trait]
impl Engine for Unseen {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        self.0.submit(run, place).await
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        self.0.cancel(run, reason).await
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        self.0.instruct(run, instruction).await
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        Err(EngineError::Unknown(run.clone()))
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        self.0.wait(run).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_member_whose_id_has_another_run_fails_with_that() {
    let stage = Arc::new(Stage::default());
    let inner = LocalEngine::new(stage.clone());
    let other = RunSpec::new(RunId::new("fleet.a"), "other", json!({"something": "else"}));
    let taken = inner.submit(other, Placement::anywhere()).await;
    taken.expect("it is the first");
    let engine: Arc<dyn Engine> = Arc::new(Unseen(inner));
    let coordinator = Coordinator::new("fleet", engine, Parallel {})
        .clock(Arc::new(VirtualClock::new()))
        .members([Act::new(1, End::Succeeds).member("a")]);

    let report = run(coordinator).await;

    assert!(!report.result.success);
    let error = report.result.results[0].error.clone().unwrap_or_default();
    assert!(error.contains("another run fleet.a already"), "{error}");
}

/// Says nothing at all.
#[derive(Debug, Serialize, Deserialize)]
struct Mute {}

#[typetag::serde(name = "test-mute")]
impl Strategy for Mute {
    fn decide(&self, _: &Fleet) -> Vec<Order> {
        Vec::new()
    }
}

/// Finishes while its members work.
#[derive(Debug, Serialize, Deserialize)]
struct Hasty {}

#[typetag::serde(name = "test-hasty")]
impl Strategy for Hasty {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let starts = fleet
            .members()
            .iter()
            .map(|member| Order::start(&member.id));
        let stranger = Order::stop(&id("stranger"), "nobody knows it");
        let finish = Order::Finish(Decision::failed());
        starts.chain([stranger, finish]).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_strategy_that_waits_for_nobody_ends_the_fleet() {
    let stage = Arc::new(Stage::default());

    let report =
        run(fleet(&stage, Mute {}).members([Act::new(1, End::Succeeds).member("a")])).await;

    assert_eq!(report.cut_short, Some(CutShort::NothingOrdered));
    assert!(!report.result.success);
}

#[tokio::test(start_paused = true)]
async fn orders_about_members_that_changed_are_passed_over() {
    let stage = Arc::new(Stage::default());
    let members = ["a", "b"].map(|name| Act::new(60, End::Succeeds).member(name));

    let report = run(fleet(&stage, Hasty {}).members(members)).await;

    assert_eq!(report.cut_short, None);
    assert_eq!(report.result.results.len(), 2);
    let seen = stage.seen();
    assert_eq!(seen.at_work, 0);
    assert!(seen.begun.values().all(|times| *times == 1));
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_panics_disturbs_nobody() {
    let stage = Arc::new(Stage::default());
    let coordinator = fleet(&stage, Parallel {})
        .members([Act::new(1, End::Succeeds).member("a")])
        .observer(Arc::new(|_: &FleetEvent| panic!("on purpose")));

    let report = run(coordinator).await;

    assert!(report.result.success);
}

#[tokio::test(start_paused = true)]
async fn a_fleet_needs_a_plain_name_and_an_account() {
    let stage = Arc::new(Stage::default());
    let engine: Arc<dyn Engine> = Arc::new(LocalEngine::new(stage));
    for name in ["", "a.b", "a/b", "a b"] {
        let coordinator = Coordinator::new(name, engine.clone(), Parallel {});

        let refused = coordinator.run(&RunControl::new()).await;

        assert!(
            matches!(refused, Err(CoordinationError::FleetName(_))),
            "{name}"
        );
    }
    let accounts = autonoe_harness::Accounts::new("one", Default::default());
    let coordinator = Coordinator::new("fleet", engine, Parallel {}).paid_from(accounts, "other");
    let refused = coordinator.run(&RunControl::new()).await;
    assert!(matches!(refused, Err(CoordinationError::NoAccount(_))));
}

#[tokio::test(start_paused = true)]
async fn a_fleet_without_time_is_refused_by_the_name_of_the_call() {
    let engine = LocalEngine::new(Stage::default());
    let coordinator = Coordinator::new("fleet", engine, Parallel {}).time(Duration::ZERO);

    let refused = coordinator.run(&RunControl::new()).await;

    let error = refused.expect_err("it has no time");
    assert!(
        matches!(error, CoordinationError::InvalidValue(_)),
        "{error}"
    );
    assert!(error.to_string().starts_with(".time(0): "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn events_are_data() {
    let stage = Arc::new(Stage::default());
    let lines = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = lines.clone();
    let coordinator = fleet(&stage, Parallel {}).observer(Arc::new(move |event: &FleetEvent| {
        let line = serde_json::to_value(event).expect("data");
        kept.lock().expect("whole").push(line);
    }));

    run(coordinator).await;

    let lines = lines.lock().expect("whole");
    assert_eq!(
        lines[0],
        json!({
            "fleet": "fleet", "at": "2026-01-01T00:00:00Z",
            "event": "began", "strategy": "parallel", "members": []
        })
    );
}

/// An engine that never answers when it is asked to take or to end a run of that name.
struct Deaf {
    inner: LocalEngine,
    to: &'static str,
}

impl Deaf {
    async fn listen(&self, run: &RunId) {
        if run.as_str().ends_with(self.to) {
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl Engine for Deaf {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        self.listen(&run.id).await;
        self.inner.submit(run, place).await
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        self.listen(run).await;
        self.inner.cancel(run, reason).await
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        self.inner.instruct(run, instruction).await
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        self.inner.status(run).await
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        self.inner.wait(run).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_never_answers_does_not_stop_the_fleet() {
    let stage = Arc::new(Stage::default());
    let members = ["a", "b"].map(|name| Act::new(60, End::Succeeds).member(name));
    let inner = LocalEngine::new(stage.clone());
    let engine = Arc::new(Deaf { inner, to: "b" });
    let coordinator = Coordinator::new("fleet", engine, Parallel {})
        .clock(Arc::new(VirtualClock::new()))
        .members(members);

    let report = run(coordinator).await;

    let results = &report.result.results;
    assert!(results[0].success, "{report:?}");
    let error = results[1].error.as_deref().unwrap_or_default();
    assert!(error.contains("it does not answer"), "{error}");
}

/// Starts all, and panics when one has ended.
#[derive(Debug, Serialize, Deserialize)]
struct Fragile {}

#[typetag::serde(name = "test-fragile")]
impl Strategy for Fragile {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        assert!(fleet.results().next().is_none(), "as it must");
        let starts = fleet.waiting().map(Order::start);
        starts.collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_strategy_that_panics_leaves_no_run_behind() {
    let stage = Arc::new(Stage::default());
    let members = ["a", "b"].map(|name| Act::new(60, End::Succeeds).member(name));
    let engine = Arc::new(LocalEngine::new(stage.clone()));
    let coordinator = Coordinator::new("fleet", engine, Fragile {})
        .clock(Arc::new(VirtualClock::new()))
        .members(members);

    let report = run(coordinator).await;

    assert!(!report.result.success);
    assert_eq!(report.result.results.len(), 2);
    assert_eq!(stage.seen().at_work, 0);
}
