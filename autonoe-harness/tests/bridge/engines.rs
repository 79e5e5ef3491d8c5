//! Engines at the other end of a pipe.

use std::sync::Arc;

use autonoe_core::{
    Engine, EngineError, JobRunner, LocalEngine, Placement, RunEnding, RunId, RunSpec,
};
use autonoe_harness::{ProgramEngine, serve_engine};
use autonoe_testkit::conformance::engine;
use serde_json::json;

use crate::bridge::stage::{Stage, within};

async fn at_the_other_end(runner: Arc<dyn JobRunner>) -> Arc<dyn Engine> {
    let (here, there) = tokio::io::duplex(256);
    tokio::spawn(async move {
        let engine = LocalEngine::new(runner);
        let (input, output) = tokio::io::split(there);
        serve_engine(&engine, input, output).await
    });
    let (input, output) = tokio::io::split(here);
    let engine = ProgramEngine::over(input, output).await;
    Arc::new(engine.expect("somebody is there"))
}

#[tokio::test(start_paused = true)]
async fn an_engine_at_the_other_end_of_a_pipe_conforms() {
    let report = engine(at_the_other_end).await;

    report.assert();
    assert_eq!(report.passed().len(), 22, "{report}");
    assert!(report.skipped().is_empty(), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_in_another_process_drives_runs() {
    let stage = Stage::new();
    let program = stage.role("bridge::roles::engine", stage.path());
    let engine = within(ProgramEngine::start(&program)).await;
    let engine = engine.expect("it has an engine");
    let run = RunSpec::new(RunId::new("greeting"), "echo", json!("hello"));
    let held = RunSpec::new(RunId::new("held"), "hold", json!(null));

    let id = engine.submit(run.clone(), Placement::anywhere()).await;
    let id = id.expect("it is taken");
    engine
        .submit(held.clone(), Placement::anywhere())
        .await
        .expect("it is taken");
    let (outcome, cancelled, ended) = within(async {
        tokio::join!(
            engine.wait(&id),
            engine.cancel(&held.id, "enough"),
            engine.wait(&held.id)
        )
    })
    .await;

    let outcome = outcome.expect("it ends");
    assert_eq!(outcome.output["given"], "hello");
    assert_ne!(outcome.output["by"], std::process::id());
    cancelled.expect("it is there");
    let reason = "enough".to_owned();
    assert_eq!(
        ended.expect("it ends").ending,
        RunEnding::Cancelled { reason }
    );
    let unknown = engine.status(&RunId::new("nobody")).await;
    assert!(
        matches!(unknown, Err(EngineError::Unknown(_))),
        "{unknown:?}"
    );
    let elsewhere = RunSpec::new(RunId::new("elsewhere"), "echo", json!(null));
    let refused = engine.submit(elsewhere, Placement::on("build-7")).await;
    let Err(EngineError::Refused { run, reason }) = refused else {
        panic!("it is told as {refused:?}");
    };
    assert_eq!(run, RunId::new("elsewhere"));
    assert!(reason.contains("build-7"), "{reason}");

    drop(engine);

    stage.nothing_is_left().await;
}
