//! A host that is gone for good.

use autonoe_core::{Engine, Epoch, Placement, RunPhase};
use autonoe_temporal_support::{
    DevServer, Host, Site, Starts, Work, engine, eventually, hasty, outcome, submit, submit_to,
};

use crate::afterwards::all_is_done_once;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_host_is_gone_is_claimed_by_another_and_one_that_is_bound_to_it_waits() {
    let server = DevServer::start().await;
    let settings = server.settings().pace(hasty());
    let site = Site::make();
    let work = Work {
        held: Some(2),
        starts: Starts::Process,
        ..Work::new(2)
    };
    let (free, bound) = (site.run("free", &work), site.run("bound", &work));
    let log = site.log();
    let one = Host::start(&site, &settings, "one");
    submit(&settings, &free).await;
    submit_to(&settings, &bound, Placement::on("one")).await;
    eventually("both second sessions", || {
        ["free", "bound"].map(|run| log.began(run, 2).len()) == [1, 1]
    })
    .await;

    one.kill();
    let two = Host::start(&site, &settings, "two");
    site.release(&free);
    site.release(&bound);
    let free_outcome = outcome(&settings, &free).await;

    assert_eq!(log.began("free", 2), ["one", "two"]);
    assert_eq!(log.ended("free", 2), ["two"]);
    assert_eq!(log.began("free", 3), ["two"]);
    assert_eq!(site.ledger(&free).await.epoch, Epoch(2));
    // Nobody else has touched it.
    assert_eq!(log.began("bound", 2), ["one"]);
    assert_eq!(site.ledger(&bound).await.epoch, Epoch(1));
    let view = engine(&settings).await.status(&bound.id).await;
    assert_ne!(view.expect("it is known").phase, RunPhase::Ended);
    let one = Host::start(&site, &settings, "one");
    let bound_outcome = outcome(&settings, &bound).await;
    one.kill();
    two.kill();
    all_is_done_once(&site, &free, &work, &free_outcome).await;
    all_is_done_once(&site, &bound, &work, &bound_outcome).await;
    assert_eq!(log.began("bound", 2), ["one", "one"]);
    assert_eq!(log.began("bound", 3), ["one"]);
}
