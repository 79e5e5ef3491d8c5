//! A run that is cancelled during a tool call.

use autonoe_core::agent::SessionEnd;
use autonoe_core::engine::{Engine, RunEnding};
use autonoe_temporal::{Timeouts, WorkerSettings};
use autonoe_temporal_support::{
    BUILDING, DevServer, RunningWorker, Site, Starts, TestHosts, Work, engine, eventually, outcome,
    processes_in, short_timeouts, submit, wait_for_no_processes,
};

use crate::assertions::{assert_end_recorded, ends};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_in_a_tool_leaves_no_process_and_has_its_end_recorded() {
    let server = DevServer::start().await;
    let timeouts = Timeouts {
        heartbeat: Timeouts::default().heartbeat,
        ..short_timeouts()
    };
    let settings = server.settings_with(timeouts);
    let site = Site::create();
    let work = Work {
        held: Some(2),
        starts: Starts::Tool,
        ..Work::new(2)
    };
    let run = site.run("shop", &work);
    let test_hosts = TestHosts::new(&site, "one");
    let worker = RunningWorker::start(
        settings.clone(),
        WorkerSettings::for_host("one"),
        |worker| worker.sessions(test_hosts),
    );
    submit(&settings, &run).await;
    let folder = site.project_path(&run);
    eventually("the tool", || folder.join(BUILDING).exists()).await;
    assert!(
        processes_in(&folder).len() >= 2,
        "{:?}",
        processes_in(&folder)
    );

    let cancelled = engine(&settings).await.cancel(&run.id, "enough").await;
    cancelled.expect("it is told");
    let outcome = outcome(&settings, &run).await;

    // It has ended with everything that it started, although the worker is alive.
    wait_for_no_processes(&folder).await;
    let reason = "enough".to_owned();
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
    assert_eq!(outcome.output["deliverablesPassedCount"], 0);
    let ends = ends(&site, &run);
    let [(1, planned), (2, SessionEnd::Cancelled)] = &ends[..] else {
        panic!("{ends:?}");
    };
    assert!(planned.is_completed());
    assert_end_recorded(&site.journal(&run), &outcome);
    let log = site.log();
    assert_eq!(log.started("shop", 2), ["one"]);
    assert!(log.ended("shop", 2).is_empty() && log.started("shop", 3).is_empty());
    drop(worker);
}
