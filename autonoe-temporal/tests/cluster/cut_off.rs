//! A live worker that is cut off from the server.

use std::time::Duration;

use autonoe_core::time::Epoch;
use autonoe_temporal::{TemporalSettings, Timeouts, WorkerSettings};
use autonoe_temporal_support::{
    DevServer, Proxy, RunningWorker, Site, Starts, TestHosts, Work, eventually, outcome,
    short_timeouts, submit,
};

use crate::assertions::assert_all_done_once;

fn worker(site: &Site, settings: &TemporalSettings, host: &str) -> RunningWorker {
    let test_hosts = TestHosts::new(site, host);
    RunningWorker::start(settings.clone(), WorkerSettings::for_host(host), |worker| {
        worker.sessions(test_hosts)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_cut_off_abandons_its_session_and_another_host_takes_over() {
    let server = DevServer::start().await;
    let proxy = Proxy::to(server.port()).await;
    // The server gives tasks to workers that are cut off, for as long as their polls seem to be
    // open.
    let timeouts = Timeouts {
        heartbeat: Duration::from_secs(6),
        ..short_timeouts()
    };
    let settings = server.settings_with(timeouts);
    let mut through = settings.clone();
    through.address = proxy.address();
    let site = Site::create();
    let work = Work {
        held: Some(2),
        starts: Starts::Process,
        ..Work::new(2)
    };
    let run = site.run("shop", &work);
    let log = site.log();
    let cut_off = worker(&site, &through, "one");
    submit(&settings, &run).await;
    eventually("the second session", || log.started("shop", 2).len() == 1).await;

    proxy.cut();
    let other = worker(&site, &settings, "two");
    eventually("the second session elsewhere", || {
        log.started("shop", 2) == ["one", "two"]
    })
    .await;
    site.release(&run);
    let outcome = outcome(&settings, &run).await;
    // Workers that are cut off receive no answers, and would wait for a long time.
    proxy.close();
    drop((cut_off, other));

    assert_all_done_once(&site, &run, &work, &outcome).await;
    assert_eq!(log.ended("shop", 2), ["two"]);
    assert_eq!(log.started("shop", 3), ["two"]);
    assert_eq!(site.ledger(&run).await.epoch, Epoch(2));
    assert_eq!(
        outcome.spent.cost.to_string(),
        "at least $0.15 (1 cost unknown)"
    );
}
