//! A worker that lives, and is cut off from the server.

use std::time::Duration;

use autonoe_core::Epoch;
use autonoe_temporal::{Pace, TemporalSettings, WorkerSettings};
use autonoe_temporal_support::{
    Crew, DevServer, Proxy, Site, Starts, Work, Working, eventually, hasty, outcome, submit,
};

use crate::afterwards::all_is_done_once;

fn worker(site: &Site, settings: &TemporalSettings, host: &str) -> Working {
    let crew = Crew::of(site, host);
    Working::start(settings.clone(), WorkerSettings::on(host), |worker| {
        worker.sessions(crew)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_cut_off_lets_go_and_another_host_takes_over() {
    let server = DevServer::start().await;
    let proxy = Proxy::to(server.port()).await;
    // The server hands what it has to those that are cut off, for as long as they seem to ask.
    let pace = Pace {
        heartbeat: Duration::from_secs(6),
        ..hasty()
    };
    let settings = server.settings().pace(pace);
    let mut through = settings.clone();
    through.address = proxy.address();
    let site = Site::make();
    let work = Work {
        held: Some(2),
        starts: Starts::Process,
        ..Work::new(2)
    };
    let run = site.run("shop", &work);
    let log = site.log();
    let cut_off = worker(&site, &through, "one");
    submit(&settings, &run).await;
    eventually("the second session", || log.began("shop", 2).len() == 1).await;

    proxy.cut();
    let other = worker(&site, &settings, "two");
    eventually("the second session elsewhere", || {
        log.began("shop", 2) == ["one", "two"]
    })
    .await;
    site.release(&run);
    let outcome = outcome(&settings, &run).await;
    // Those who are cut off are told nothing, so they would wait for answers for a long time.
    proxy.close();
    drop((cut_off, other));

    all_is_done_once(&site, &run, &work, &outcome).await;
    assert_eq!(log.ended("shop", 2), ["two"]);
    assert_eq!(log.began("shop", 3), ["two"]);
    assert_eq!(site.ledger(&run).await.epoch, Epoch(2));
    assert_eq!(outcome.spent.cost.to_string(), "at least $0.15 (1 unknown)");
}
