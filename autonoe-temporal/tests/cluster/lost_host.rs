//! Tests that another host claims the runs of a host that does not return.

use autonoe_core::engine::{Engine, Placement, RunPhase};
use autonoe_core::time::Epoch;
use autonoe_temporal_support::{
    DevServer, Host, Site, Starts, Work, engine, eventually, outcome, short_timeouts, submit,
    submit_to,
};

use crate::assertions::assert_all_done_once;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_an_unreachable_host_is_claimed_by_another_and_a_bound_run_waits() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let site = Site::create();
    let work = Work {
        held: Some(2),
        starts: Starts::Process,
        ..Work::new(2)
    };
    let (free, bound) = (site.run("free", &work), site.run("bound", &work));
    let log = site.log();
    let one = Host::start(&site, &settings, "one");
    submit(&settings, &free).await;
    submit_to(&settings, &bound, Placement::on_host("one")).await;
    eventually("both second sessions", || {
        ["free", "bound"].map(|run| log.started(run, 2).len()) == [1, 1]
    })
    .await;

    one.kill();
    let two = Host::start(&site, &settings, "two");
    site.release(&free);
    site.release(&bound);
    let free_outcome = outcome(&settings, &free).await;

    assert_eq!(log.started("free", 2), ["one", "two"]);
    assert_eq!(log.ended("free", 2), ["two"]);
    assert_eq!(log.started("free", 3), ["two"]);
    assert_eq!(site.ledger(&free).await.epoch, Epoch(2));
    // No other host has touched it.
    assert_eq!(log.started("bound", 2), ["one"]);
    assert_eq!(site.ledger(&bound).await.epoch, Epoch(1));
    let view = engine(&settings).await.status(&bound.id).await;
    assert_ne!(view.expect("it is known").phase, RunPhase::Ended);
    let one = Host::start(&site, &settings, "one");
    let bound_outcome = outcome(&settings, &bound).await;
    one.kill();
    two.kill();
    assert_all_done_once(&site, &free, &work, &free_outcome).await;
    assert_all_done_once(&site, &bound, &work, &bound_outcome).await;
    assert_eq!(log.started("bound", 2), ["one", "one"]);
    assert_eq!(log.started("bound", 3), ["one"]);
}
