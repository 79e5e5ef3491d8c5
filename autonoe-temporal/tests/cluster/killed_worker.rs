//! A worker that is killed during a session, and restarted.

use std::time::Duration;

use autonoe_temporal_support::{
    DevServer, Host, Site, Starts, Work, eventually, outcome, processes_in, short_timeouts, submit,
};

use crate::assertions::assert_all_done_once;

#[tokio::test(flavor = "multi_thread")]
async fn only_the_session_of_the_killed_worker_is_repeated() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let site = Site::create();
    let work = Work {
        held: Some(3),
        starts: Starts::Process,
        ..Work::new(3)
    };
    let run = site.run("shop", &work);
    let log = site.log();
    let host = Host::start(&site, &settings, "one");
    submit(&settings, &run).await;
    eventually("the third session", || log.started("shop", 3).len() == 1).await;
    let folder = site.project_path(&run);
    assert!(!processes_in(&folder).is_empty(), "the agent is no process");

    host.kill();
    // The agent and its tool end with the worker.
    eventually("the end of the agent", || processes_in(&folder).is_empty()).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let host = Host::start(&site, &settings, "one");
    eventually("the third session again", || {
        log.started("shop", 3).len() == 2
    })
    .await;
    site.release(&run);
    let outcome = outcome(&settings, &run).await;
    host.kill();

    assert_all_done_once(&site, &run, &work, &outcome).await;
    let started = (1..=4).map(|number| log.started("shop", number).len());
    assert_eq!(started.collect::<Vec<_>>(), [1, 1, 2, 1]);
    let ended = (1..=4).map(|number| log.ended("shop", number).len());
    assert_eq!(ended.collect::<Vec<_>>(), [1, 1, 1, 1]);
    // The cost of the lost session is unknown, and stays marked as unknown.
    assert_eq!(
        outcome.spent.cost.to_string(),
        "at least $0.20 (1 cost unknown)"
    );
}
