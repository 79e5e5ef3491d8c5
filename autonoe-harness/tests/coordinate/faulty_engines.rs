//! Tests of failing engines, members that do not end, faulty strategies and invalid names.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{
    Engine, EngineError, LocalEngine, Placement, RunInstruction, RunOutcome, RunSpec, RunView,
};
use autonoe_core::{RunControl, RunId};
use autonoe_harness::coordinate::{CoordinationError, CutShort};
use autonoe_harness::strategy::{Decision, Fleet, Order};
use autonoe_harness::{Coordinator, FleetEvent, Parallel, Race, Strategy};
use autonoe_testkit::VirtualClock;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::coordinate::fixture::{Act, End, Fixture, id};
use crate::coordinate::regressions::{fleet, run};

/// An engine whose first calls fail, a given number of times.
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
        // The run was submitted anyway: only the response was lost.
        let submitted = self.inner.submit(run, place).await;
        self.fail()?;
        submitted
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

fn shaky(fixture: &Arc<Fixture>, failures: usize) -> Coordinator {
    let engine = Arc::new(Shaky {
        inner: LocalEngine::new(fixture.clone()),
        failures_left: AtomicUsize::new(failures),
    });
    Coordinator::new("fleet", engine, Parallel {}).clock(Arc::new(VirtualClock::new()))
}

#[tokio::test(start_paused = true)]
async fn a_call_to_an_engine_that_does_not_answer_is_retried() {
    let fixture = Arc::new(Fixture::default());
    let members = ["a", "b"].map(|name| Act::new(60, End::Succeeds).member(name));

    let report = run(shaky(&fixture, 2).members(members)).await;

    assert!(report.success, "{report:?}");
    assert!(fixture.seen().starts.values().all(|times| *times == 1));
}

#[tokio::test(start_paused = true)]
async fn a_member_that_an_engine_may_have_accepted_is_stopped_and_fails() {
    let fixture = Arc::new(Fixture::default());
    let members = [Act::new(60, End::Succeeds).member("a")];

    let report = run(shaky(&fixture, 3).members(members)).await;

    assert!(!report.success);
    let error = report.results[0].error.as_deref();
    assert_eq!(
        error,
        Some("cannot start the member: the engine failed: the line is bad")
    );
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(fixture.seen().at_work, 0);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_does_not_end_is_left_behind_and_named() {
    let fixture = Arc::new(Fixture::default());
    let members = [
        Act::new(0, End::NeverEnds).member("deaf"),
        Act::new(10, End::Succeeds).member("quick"),
    ];

    let report = run(fleet(&fixture, Race {}).members(members)).await;

    assert_eq!(report.winner, Some(id("quick")));
    assert_eq!(report.unstopped, [id("deaf")]);
    let error = report.results[0].error.as_deref();
    assert_eq!(error, Some("the member did not stop within 2m"));
}

#[tokio::test(start_paused = true)]
async fn a_member_with_an_unknown_job_fails() {
    let fixture = Arc::new(Fixture::default());
    let engine = LocalEngine::by_kind([("other", fixture.clone())]);
    let coordinator = Coordinator::new("fleet", engine, Parallel {})
        .clock(Arc::new(VirtualClock::new()))
        .members([Act::new(1, End::Succeeds).member("a")]);

    let report = run(coordinator).await;

    let error = report.results[0].error.clone().unwrap_or_default();
    assert!(error.contains("no runner for jobs"), "{error}");
}

/// An engine that does not know its runs before they are submitted.
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
async fn a_member_fails_if_its_id_belongs_to_another_run() {
    let fixture = Arc::new(Fixture::default());
    let inner = LocalEngine::new(fixture.clone());
    let other = RunSpec::new(RunId::new("fleet.a"), "other", json!({"something": "else"}));
    let submitted = inner.submit(other, Placement::anywhere()).await;
    submitted.expect("it is the first");
    let engine: Arc<dyn Engine> = Arc::new(Unseen(inner));
    let coordinator = Coordinator::new("fleet", engine, Parallel {})
        .clock(Arc::new(VirtualClock::new()))
        .members([Act::new(1, End::Succeeds).member("a")]);

    let report = run(coordinator).await;

    assert!(!report.success);
    let error = report.results[0].error.clone().unwrap_or_default();
    assert!(
        error.contains("there is already a run fleet.a with a different specification"),
        "{error}"
    );
}

/// Never gives an order.
#[derive(Debug, Serialize, Deserialize)]
struct Mute {}

#[typetag::serde(name = "test-mute")]
impl Strategy for Mute {
    fn decide(&self, _: &Fleet) -> Vec<Order> {
        Vec::new()
    }
}

/// Finishes while its members are running.
#[derive(Debug, Serialize, Deserialize)]
struct Hasty {}

#[typetag::serde(name = "test-hasty")]
impl Strategy for Hasty {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let starts = fleet
            .members()
            .iter()
            .map(|member| Order::start(&member.id));
        let stranger = Order::stop(&id("stranger"), "it is unknown");
        let finish = Order::Finish(Decision::failed());
        starts.chain([stranger, finish]).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_strategy_that_stalls_ends_the_fleet() {
    let fixture = Arc::new(Fixture::default());

    let report =
        run(fleet(&fixture, Mute {}).members([Act::new(1, End::Succeeds).member("a")])).await;

    assert_eq!(report.cut_short, Some(CutShort::StrategyStalled));
    assert!(!report.success);
}

#[tokio::test(start_paused = true)]
async fn orders_about_members_that_changed_are_passed_over() {
    let fixture = Arc::new(Fixture::default());
    let members = ["a", "b"].map(|name| Act::new(60, End::Succeeds).member(name));

    let report = run(fleet(&fixture, Hasty {}).members(members)).await;

    assert_eq!(report.cut_short, None);
    assert_eq!(report.results.len(), 2);
    let seen = fixture.seen();
    assert_eq!(seen.at_work, 0);
    assert!(seen.starts.values().all(|times| *times == 1));
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_an_observer_is_contained() {
    let fixture = Arc::new(Fixture::default());
    let coordinator = fleet(&fixture, Parallel {})
        .members([Act::new(1, End::Succeeds).member("a")])
        .observer(Arc::new(|_: &FleetEvent| panic!("on purpose")));

    let report = run(coordinator).await;

    assert!(report.success);
}

#[tokio::test(start_paused = true)]
async fn a_fleet_needs_a_plain_name() {
    let fixture = Arc::new(Fixture::default());
    let engine: Arc<dyn Engine> = Arc::new(LocalEngine::new(fixture));
    for name in ["", "a.b", "a/b", "a b"] {
        let coordinator = Coordinator::new(name, engine.clone(), Parallel {});

        let refused = coordinator.run(&RunControl::new()).await;

        assert!(
            matches!(refused, Err(CoordinationError::FleetName(_))),
            "{name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_fleet_without_time_is_refused_by_the_name_of_the_call() {
    let engine = LocalEngine::new(Fixture::default());
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
async fn fleet_events_serialise_to_json() {
    let fixture = Arc::new(Fixture::default());
    let lines = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = lines.clone();
    let coordinator = fleet(&fixture, Parallel {}).observer(Arc::new(move |event: &FleetEvent| {
        let line = serde_json::to_value(event).expect("data");
        sink.lock().expect("whole").push(line);
    }));

    run(coordinator).await;

    let lines = lines.lock().expect("whole");
    assert_eq!(
        lines[0],
        json!({
            "fleet": "fleet", "at": "2026-01-01T00:00:00Z",
            "event": "fleetStarted", "strategy": "parallel", "members": []
        })
    );
}

/// An engine that never answers when a run of this name is submitted or cancelled.
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
    let fixture = Arc::new(Fixture::default());
    let members = ["a", "b"].map(|name| Act::new(60, End::Succeeds).member(name));
    let inner = LocalEngine::new(fixture.clone());
    let engine = Arc::new(Deaf { inner, to: "b" });
    let coordinator = Coordinator::new("fleet", engine, Parallel {})
        .clock(Arc::new(VirtualClock::new()))
        .members(members);

    let report = run(coordinator).await;

    let results = &report.results;
    assert!(results[0].success, "{report:?}");
    let error = results[1].error.as_deref().unwrap_or_default();
    assert!(
        error.contains("the engine did not answer in time"),
        "{error}"
    );
}

/// Starts all members, and panics when one has ended.
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
    let fixture = Arc::new(Fixture::default());
    let members = ["a", "b"].map(|name| Act::new(60, End::Succeeds).member(name));
    let engine = Arc::new(LocalEngine::new(fixture.clone()));
    let coordinator = Coordinator::new("fleet", engine, Fragile {})
        .clock(Arc::new(VirtualClock::new()))
        .members(members);

    let report = run(coordinator).await;

    assert!(!report.success);
    assert_eq!(report.results.len(), 2);
    assert_eq!(fixture.seen().at_work, 0);
}
