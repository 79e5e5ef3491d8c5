//! Benchmark: time until the run of a killed host continues on another host.

use std::time::{Duration, Instant};

use autonoe_core::engine::Placement;
use autonoe_temporal::Timeouts;
use autonoe_temporal_support::{
    DevServer, Host, Site, Starts, Work, eventually, outcome, short_timeouts, submit, submit_to,
};

use crate::Scope;

pub(crate) async fn measure(scope: Scope) {
    println!("\n| dead after, gone after | from the kill to the session on the other host |");
    println!("| --- | --- |");
    let measured = [(short_timeouts(), 3), (Timeouts::default(), 1)];
    let count = if scope == Scope::Whole {
        measured.len()
    } else {
        1
    };
    for (timeouts, rounds) in measured.into_iter().take(count) {
        let rounds = if scope == Scope::Whole { rounds } else { 1 };
        for _ in 0..rounds {
            let elapsed = death(timeouts).await;
            let (heartbeat, host) = (timeouts.heartbeat.as_secs(), timeouts.host.as_secs());
            println!(
                "| {heartbeat} s, {host} s | {:.1} s |",
                elapsed.as_secs_f64()
            );
        }
    }
}

async fn death(timeouts: Timeouts) -> Duration {
    let server = DevServer::start().await;
    let settings = server.settings_with(timeouts);
    let site = Site::create();
    let work = Work {
        held: Some(2),
        starts: Starts::Process,
        ..Work::new(1)
    };
    let run = site.run("shop", &work);
    let log = site.log();
    let one = Host::start(&site, &settings, "one");
    submit(&settings, &run).await;
    eventually("the second session", || log.started("shop", 2).len() == 1).await;
    let two = Host::start(&site, &settings, "two");
    // The host is working once a run that is bound to it has ended.
    let other = site.run("other", &Work::new(1));
    submit_to(&settings, &other, Placement::on_host("two")).await;
    assert!(outcome(&settings, &other).await.is_success());

    one.kill();
    let killed = Instant::now();
    eventually("the second session elsewhere", || {
        log.started("shop", 2).len() == 2
    })
    .await;
    let elapsed = killed.elapsed();
    site.release(&run);
    assert!(outcome(&settings, &run).await.is_success());
    two.kill();
    elapsed
}
