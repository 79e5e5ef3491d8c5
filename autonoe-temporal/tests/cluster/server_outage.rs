//! A server that is unreachable during a session.

use std::time::Duration;

use autonoe_core::engine::RunOutcome;
use autonoe_temporal::{Timeouts, WorkerSettings};
use autonoe_temporal_support::{
    DevServer, RunningWorker, Site, Starts, TestHosts, Work, eventually, outcome, short_timeouts,
    submit,
};

use crate::assertions::{assert_all_done_once, ends};

/// End of the session during which the server is killed.
#[derive(PartialEq, Eq)]
enum Ends {
    DuringOutage,
    AfterOutage,
}

/// Kills the server in the second session, for `outage`, and returns the outcome of the run.
async fn outcome_after_outage(timeouts: Timeouts, outage: Duration, session: Ends) -> RunOutcome {
    let mut server = DevServer::start().await;
    let settings = server.settings_with(timeouts);
    let site = Site::create();
    let work = Work {
        held: Some(2),
        starts: Starts::Process,
        ..Work::new(2)
    };
    let run = site.run("shop", &work);
    let log = site.log();
    let test_hosts = TestHosts::new(&site, "one");
    let worker = RunningWorker::start(
        settings.clone(),
        WorkerSettings::for_host("one"),
        |worker| worker.sessions(test_hosts),
    );
    submit(&settings, &run).await;
    eventually("the second session", || log.started("shop", 2).len() == 1).await;

    server.kill();
    if session == Ends::DuringOutage {
        site.release(&run);
        eventually("the record", || ends(&site, &run).len() == 2).await;
    }
    tokio::time::sleep(outage).await;
    server.restart().await;
    if session == Ends::AfterOutage {
        // It was not changed meanwhile.
        assert_eq!(ends(&site, &run).len(), 1);
        site.release(&run);
    }
    let outcome = outcome(&settings, &run).await;
    drop(worker);

    assert_all_done_once(&site, &run, &work, &outcome).await;
    for number in 1..=work.sessions() {
        assert_eq!(log.started("shop", number), ["one"], "session {number}");
    }
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_continues_while_the_server_is_unreachable_for_three_seconds() {
    let outage = Duration::from_secs(3);

    let outcome = outcome_after_outage(Timeouts::default(), outage, Ends::AfterOutage).await;

    assert_eq!(outcome.spent.cost.to_string(), "$0.15");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_continues_while_the_server_is_unreachable_for_twenty_seconds() {
    let outage = Duration::from_secs(20);

    let outcome = outcome_after_outage(Timeouts::default(), outage, Ends::AfterOutage).await;

    assert_eq!(outcome.spent.cost.to_string(), "$0.15");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ends_while_the_server_is_unreachable_is_not_repeated() {
    // Longer than the worker retries to report the end.
    let outage = Duration::from_secs(15);

    let outcome = outcome_after_outage(short_timeouts(), outage, Ends::DuringOutage).await;

    assert_eq!(outcome.spent.cost.to_string(), "$0.15");
}
