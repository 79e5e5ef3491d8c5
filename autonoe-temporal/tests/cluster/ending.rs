//! What a host is told when a run has ended.

use std::time::Duration;

use autonoe_core::{Engine, Placement, RunEnding, RunPhase};
use autonoe_temporal::{Pace, WorkerSettings};
use autonoe_temporal_support::{
    Crew, DevServer, Host, Site, Work, Working, engine, eventually, hasty, outcome, seen, submit,
    submit_to,
};

use crate::afterwards::{all_is_done_once, is_written_down, run_ends};

fn held(session: u32) -> Work {
    Work {
        held: Some(session),
        ..Work::new(1)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_is_written_down_also_where_another_run_has_taken_the_only_slot() {
    let server = DevServer::start().await;
    let pace = Pace {
        host: Pace::default().host,
        ..hasty()
    };
    let settings = server.settings().pace(pace);
    let site = Site::make();
    let (first_work, other_work) = (held(2), held(1));
    let (first, other) = (
        site.run("first", &first_work),
        site.run("other", &other_work),
    );
    let (crew, log) = (Crew::of(&site, "one"), site.log());
    let worker = WorkerSettings::on("one").slots(1);
    let worker = Working::start(settings.clone(), worker, |worker| worker.sessions(crew));
    submit(&settings, &first).await;
    eventually("the last session", || log.began("first", 2).len() == 1).await;
    submit(&settings, &other).await;
    // Its session waits for the slot.
    let engine = engine(&settings).await;
    seen(&engine, &other.id, |view| view.host.is_some()).await;

    site.release(&first);
    let first_outcome = outcome(&settings, &first).await;

    is_written_down(&site.journal(&first), &first_outcome);
    eventually("the other session", || log.began("other", 1).len() == 1).await;
    assert!(log.ended("other", 1).is_empty());
    site.release(&other);
    let other_outcome = outcome(&settings, &other).await;
    drop(worker);
    all_is_done_once(&site, &first, &first_work, &first_outcome).await;
    all_is_done_once(&site, &other, &other_work, &other_outcome).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_gone_does_not_keep_a_run_from_its_end() {
    let server = DevServer::start().await;
    let pace = Pace {
        end: Duration::from_secs(3),
        ..hasty()
    };
    let settings = server.settings().pace(pace);
    let site = Site::make();
    let run = site.run("shop", &held(2));
    let log = site.log();
    let one = Host::start(&site, &settings, "one");
    submit_to(&settings, &run, Placement::on("one")).await;
    eventually("the second session", || log.began("shop", 2).len() == 1).await;

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
    // Nobody was there to write it down.
    assert_eq!(run_ends(&site.journal(&run)), []);
    two.kill();
}
