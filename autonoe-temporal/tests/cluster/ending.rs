//! Recording of a run's end on its host.

use std::time::Duration;

use autonoe_core::engine::{Engine, Placement, RunEnding, RunPhase};
use autonoe_temporal::{Timeouts, WorkerSettings};
use autonoe_temporal_support::{
    DevServer, Host, RunningWorker, Site, TestHosts, Work, engine, eventually, outcome,
    short_timeouts, submit, submit_to, wait_for_status,
};

use crate::assertions::{assert_all_done_once, assert_end_recorded, run_ends};

fn held(session: u32) -> Work {
    Work {
        held: Some(session),
        ..Work::new(1)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_is_recorded_even_if_another_run_has_the_only_slot() {
    let server = DevServer::start().await;
    let timeouts = Timeouts {
        host: Timeouts::default().host,
        ..short_timeouts()
    };
    let settings = server.settings_with(timeouts);
    let site = Site::create();
    let (first_work, other_work) = (held(2), held(1));
    let (first, other) = (
        site.run("first", &first_work),
        site.run("other", &other_work),
    );
    let (test_hosts, log) = (TestHosts::new(&site, "one"), site.log());
    let worker = WorkerSettings {
        slots: 1,
        ..WorkerSettings::for_host("one")
    };
    let worker = RunningWorker::start(settings.clone(), worker, |worker| {
        worker.sessions(test_hosts)
    });
    submit(&settings, &first).await;
    eventually("the last session", || log.started("first", 2).len() == 1).await;
    submit(&settings, &other).await;
    // Its session waits for the slot.
    let engine = engine(&settings).await;
    wait_for_status(&engine, &other.id, |view| view.host.is_some()).await;

    site.release(&first);
    let first_outcome = outcome(&settings, &first).await;

    assert_end_recorded(&site.journal(&first), &first_outcome);
    eventually("the other session", || log.started("other", 1).len() == 1).await;
    assert!(log.ended("other", 1).is_empty());
    site.release(&other);
    let other_outcome = outcome(&settings, &other).await;
    drop(worker);
    assert_all_done_once(&site, &first, &first_work, &first_outcome).await;
    assert_all_done_once(&site, &other, &other_work, &other_outcome).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_host_does_not_prevent_the_end_of_a_run() {
    let server = DevServer::start().await;
    let timeouts = Timeouts {
        end: Duration::from_secs(3),
        ..short_timeouts()
    };
    let settings = server.settings_with(timeouts);
    let site = Site::create();
    let run = site.run("shop", &held(2));
    let log = site.log();
    let one = Host::start(&site, &settings, "one");
    submit_to(&settings, &run, Placement::on_host("one")).await;
    eventually("the second session", || log.started("shop", 2).len() == 1).await;

    one.kill();
    let two = Host::start(&site, &settings, "two");
    let engine = engine(&settings).await;
    let cancelled = engine.cancel(&run.id, "enough").await;
    cancelled.expect("it is told");
    let outcome = outcome(&settings, &run).await;

    let reason = "enough".to_owned();
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
    let view = engine.status(&run.id).await.expect("it is known");
    assert_eq!(view.phase, RunPhase::Ended);
    // There was no worker to record it.
    assert_eq!(run_ends(&site.journal(&run)), []);
    two.kill();
}
