//! Runs of the local engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use autonoe_core::RunId;
use autonoe_core::engine::{
    Engine, EngineError, JobContext, JobRunner, LocalEngine, Placement, RunEnding, RunInstruction,
    RunOutcome, RunPhase, RunSpec,
};
use autonoe_testkit::conformance;
use serde_json::{Value, json};

/// Works until it is cancelled.
#[derive(Default)]
struct Endless {
    has_started: AtomicBool,
    has_ended: Arc<AtomicBool>,
}

#[async_trait]
impl JobRunner for Endless {
    async fn run(&self, _: &RunSpec, context: &JobContext) -> RunOutcome {
        self.has_started.store(true, Ordering::Release);
        context.control().cancelled().await;
        self.has_ended.store(true, Ordering::Release);
        RunOutcome::cancelled("")
    }
}

fn run(job: &str) -> RunSpec {
    RunSpec::new(RunId::new("run"), job, Value::Null)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn local_engine_conforms_on_several_threads_in_real_time() {
    let make = async |runner| Arc::new(LocalEngine::new(runner)) as Arc<_>;

    conformance::engine(make).await.assert();
}

#[tokio::test(start_paused = true)]
async fn dropping_the_engine_cancels_its_runs() {
    let runner = Arc::new(Endless::default());
    let has_ended = runner.has_ended.clone();
    let engine = LocalEngine::new(runner);
    let submitted = engine.submit(run("endless"), Placement::anywhere()).await;
    submitted.expect("it is taken");
    tokio::task::yield_now().await;

    drop(engine);

    tokio::time::timeout(std::time::Duration::from_secs(1), async {
        while !has_ended.load(Ordering::Acquire) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it ends");
}

#[tokio::test(start_paused = true)]
async fn a_run_cancelled_before_its_start_reaches_no_runner() {
    let runner = Arc::new(Endless::default());
    let engine = LocalEngine::new(runner.clone());
    let id = engine
        .submit(run("endless"), Placement::anywhere())
        .await
        .expect("it is taken");
    assert_eq!(
        engine.status(&id).await.expect("known").phase,
        RunPhase::Waiting
    );

    engine.cancel(&id, "a mistake").await.expect("known");

    let outcome = engine.wait(&id).await.expect("known");
    assert_eq!(outcome, RunOutcome::cancelled("a mistake"));
    assert!(!runner.has_started.load(Ordering::Acquire));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_accepts_no_instruction() {
    let engine = LocalEngine::new(Arc::new(Endless::default()));
    let id = engine
        .submit(run("endless"), Placement::anywhere())
        .await
        .expect("it is taken");
    tokio::task::yield_now().await;
    engine.cancel(&id, "enough").await.expect("known");
    assert_eq!(
        engine.status(&id).await.expect("known").phase,
        RunPhase::Stopping
    );

    let result = engine.instruct(&id, RunInstruction::Pause).await;

    assert!(
        matches!(result, Err(EngineError::Refused { .. })),
        "{result:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_for_another_host_is_refused() {
    let nameless = LocalEngine::new(Arc::new(Endless::default()));
    let named = LocalEngine::new(Arc::new(Endless::default())).on_host("here");
    for (engine, host, is_accepted) in [
        (&nameless, "here", false),
        (&named, "here", true),
        (&named, "there", false),
    ] {
        let submitted = engine
            .submit(run("endless"), Placement::on_host(host))
            .await;

        match submitted {
            Ok(_) => assert!(is_accepted, "{host}"),
            Err(EngineError::Refused { reason, .. }) => {
                assert!(!is_accepted);
                assert!(reason.contains(host), "{reason}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_without_a_name_is_refused_by_the_name_of_its_call() {
    let engine = LocalEngine::new(Endless::default()).on_host(" ");

    let submitted = engine.submit(run("endless"), Placement::anywhere()).await;

    let error = submitted.expect_err("it is refused").to_string();
    assert!(error.contains(".on_host(..): "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_engine_accepts_shared_runners_of_different_types() {
    let endless: Arc<dyn JobRunner> = Arc::new(Endless::default());
    let other: Arc<dyn JobRunner> = Arc::new(LocalEngineRunner);
    let engine = LocalEngine::by_kind([("endless", endless), ("other", other)]);

    let submitted = engine.submit(run("other"), Placement::anywhere()).await;

    let id = submitted.expect("there is a runner");
    assert_eq!(
        engine.wait(&id).await.expect("it ends").output,
        json!("other")
    );
}

struct LocalEngineRunner;

#[async_trait]
impl JobRunner for LocalEngineRunner {
    async fn run(&self, _: &RunSpec, _: &JobContext) -> RunOutcome {
        RunOutcome::succeeded(json!("other"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_of_a_kind_without_a_runner_is_refused() {
    let engine = LocalEngine::by_kind([("endless", Endless::default())]);

    let submitted = engine.submit(run("quick"), Placement::anywhere()).await;

    let message = submitted.expect_err("it is refused").to_string();
    assert_eq!(
        message,
        "the run run cannot be executed: this engine has no runner for jobs of the kind \
         \"quick\"; known kinds are endless"
    );
    // It was not accepted: the ID is free.
    let other = RunSpec::new(RunId::new("run"), "endless", json!(1));
    let submitted = engine.submit(other, Placement::anywhere()).await;
    submitted.expect("it is taken");
}

#[test]
fn a_run_fails_when_its_runtime_is_dropped() {
    let engine = LocalEngine::new(Arc::new(Endless::default()));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("there is room");
    // One run has started, and the task of the other one was never polled.
    let started = RunSpec::new(RunId::new("started"), "endless", json!(1));
    runtime.block_on(async {
        let submitted = engine.submit(started.clone(), Placement::anywhere()).await;
        submitted.expect("it is taken");
        tokio::task::yield_now().await;
        let submitted = engine.submit(run("endless"), Placement::anywhere()).await;
        submitted.expect("it is taken");
    });

    drop(runtime);

    for id in [started.id, RunId::new("run")] {
        let outcome = futures::executor::block_on(engine.wait(&id)).expect("known");
        let RunEnding::Failed { failure } = outcome.ending else {
            panic!("{outcome:?}");
        };
        assert_eq!(failure.code, "broken_off");
    }
}

#[test]
fn without_a_runtime_no_run_is_accepted() {
    let engine = LocalEngine::new(Arc::new(Endless::default()));

    let submitted =
        futures::executor::block_on(engine.submit(run("endless"), Placement::anywhere()));

    assert!(matches!(submitted, Err(EngineError::Failed { .. })));
    let known = futures::executor::block_on(engine.status(&RunId::new("run")));
    assert!(matches!(known, Err(EngineError::Unknown(_))));
}
