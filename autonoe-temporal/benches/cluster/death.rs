//! How long it takes until the run of a host that was killed goes on elsewhere.

use std::time::{Duration, Instant};

use autonoe_core::Placement;
use autonoe_temporal::Pace;
use autonoe_temporal_support::{
    DevServer, Host, Site, Starts, Work, eventually, hasty, outcome, submit, submit_to,
};

use crate::Scope;

pub(crate) async fn measure(scope: Scope) {
    println!("\n| dead after, gone after | from the kill to the session on the other host |");
    println!("| --- | --- |");
    let paces = [(hasty(), 3), (Pace::default(), 1)];
    let count = if scope == Scope::Whole {
        paces.len()
    } else {
        1
    };
    for (pace, rounds) in paces.into_iter().take(count) {
        let rounds = if scope == Scope::Whole { rounds } else { 1 };
        for _ in 0..rounds {
            let took = death(pace).await;
            let (heartbeat, host) = (pace.heartbeat.as_secs(), pace.host.as_secs());
            println!("| {heartbeat} s, {host} s | {:.1} s |", took.as_secs_f64());
        }
    }
}

async fn death(pace: Pace) -> Duration {
    let server = DevServer::start().await;
    let settings = server.settings().pace(pace);
    let site = Site::make();
    let work = Work {
        held: Some(2),
        starts: Starts::Process,
        ..Work::new(1)
    };
    let run = site.run("shop", &work);
    let log = site.log();
    let one = Host::start(&site, &settings, "one");
    submit(&settings, &run).await;
    eventually("the second session", || log.began("shop", 2).len() == 1).await;
    let two = Host::start(&site, &settings, "two");
    // It works when a run has ended that is bound to it.
    let other = site.run("other", &Work::new(1));
    submit_to(&settings, &other, Placement::on("two")).await;
    assert!(outcome(&settings, &other).await.is_success());

    one.kill();
    let killed = Instant::now();
    eventually("the second session elsewhere", || {
        log.began("shop", 2).len() == 2
    })
    .await;
    let took = killed.elapsed();
    site.release(&run);
    assert!(outcome(&settings, &run).await.is_success());
    two.kill();
    took
}
