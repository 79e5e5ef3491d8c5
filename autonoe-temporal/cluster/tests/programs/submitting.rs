//! Runs that are submitted through the engine and executed by the program.

use std::fs;

use autonoe_core::engine::{Engine, EngineError, Placement, RunEnding};
use autonoe_temporal_support::within;

use crate::cluster::{Cluster, passes, plans, run};

#[tokio::test]
async fn a_run_is_executed_in_the_project_of_its_name() {
    let cluster = Cluster::start().await;
    cluster.script(&[plans(), passes()]);
    let worker = cluster.worker("here", &[]);
    let project = cluster.path("here/shop");
    fs::create_dir(&project).expect("a folder");
    fs::write(project.join("SPEC.md"), "# A greeting\n").expect("writable");
    let engine = cluster.engine().await;

    let run = run("greeting");
    let submitted = engine.submit(run.clone(), Placement::anywhere()).await;
    submitted.expect("it is taken");
    let outcome = within("the end of the run", engine.wait(&run.id))
        .await
        .expect("it ends");

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(outcome.output["sessions"], 2);
    assert_eq!(outcome.output["deliverablesPassedCount"], 1);
    assert_eq!(outcome.spent.cost.to_string(), "$0.10");
    let written = fs::read_to_string(project.join("greeting.txt"));
    assert_eq!(written.expect("it is there"), "Hello.\n");
    assert_eq!(worker.stop(), Some(0));
}

#[tokio::test]
async fn run_on_invalid_project_fails_with_reason() {
    let cluster = Cluster::start().await;
    cluster.script(&[plans()]);
    let _worker = cluster.worker("here", &[]);
    let engine = cluster.engine().await;
    let mut run = run("escape");
    run.input["work"]["project"] = "../../etc".into();

    let submitted = engine.submit(run.clone(), Placement::anywhere()).await;
    submitted.expect("the server does not know of projects");
    let outcome = within("the end of the run", engine.wait(&run.id))
        .await
        .expect("it ends");

    let RunEnding::Failed { failure } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert!(
        failure.message.contains("not a valid project name"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_run_that_the_server_does_not_know_is_unknown() {
    let cluster = Cluster::start().await;
    let engine = cluster.engine().await;

    let unknown = engine.status(&run("nobody").id).await;

    assert!(
        matches!(unknown, Err(EngineError::Unknown(_))),
        "{unknown:?}"
    );
}
