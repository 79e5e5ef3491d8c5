//! Two workers with many runs, of which one is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use autonoe_temporal_support::{
    DevServer, Host, SessionEvent, Site, Work, eventually, outcome, short_timeouts, submit,
};

use crate::assertions::{assert_end_recorded, run_ends, work_is_done_once};

const RUNS: usize = 64;

#[tokio::test(flavor = "multi_thread")]
async fn of_two_workers_with_many_runs_one_is_killed_and_no_session_is_lost_or_counted_twice() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let site = Site::create();
    let work = Work {
        session_duration: Duration::from_millis(200),
        ..Work::new(2)
    };
    let runs: Vec<_> = (0..RUNS)
        .map(|number| site.run(&format!("run-{number:02}"), &work))
        .collect();
    let log = site.log();
    let one = Host::start(&site, &settings, "one");
    let two = Host::start(&site, &settings, "two");

    for run in &runs {
        submit(&settings, run).await;
    }
    // Some have ended and some are in progress, on both hosts.
    eventually("work on both hosts", || {
        let entries = log.entries().into_iter();
        let ended = entries.filter(|entry| entry.event == SessionEvent::Ended && entry.number == 2);
        let mut count = BTreeMap::<_, usize>::new();
        ended.for_each(|entry| *count.entry(entry.host).or_default() += 1);
        count.len() == 2 && count.values().all(|count| *count >= 3)
    })
    .await;
    one.kill();
    let mut outcomes = Vec::new();
    for run in &runs {
        outcomes.push(outcome(&settings, run).await);
    }
    two.kill();

    for (run, outcome) in runs.iter().zip(&outcomes) {
        work_is_done_once(&site, run, &work, outcome).await;
        let ended = log.ended(run.id.as_str(), work.sessions());
        // The killed host may have been requested to record the end, which no other host does.
        let is_excused = ended.last().is_some_and(|host| host == "one");
        if !is_excused || !run_ends(&site.journal(run)).is_empty() {
            assert_end_recorded(&site.journal(run), outcome);
        }
    }
    let entries = log.entries();
    let hosts: BTreeSet<_> = entries.iter().map(|entry| entry.host.as_str()).collect();
    assert_eq!(hosts, BTreeSet::from(["one", "two"]));
    for run in &runs {
        for number in 1..=work.sessions() {
            let started = log.started(run.id.as_str(), number);
            // Only sessions in progress on the killed host started again, and only once.
            let is_right = matches!(
                &started.iter().map(String::as_str).collect::<Vec<_>>()[..],
                ["one"] | ["two"] | ["one", "two"]
            );
            assert!(is_right, "{} {number}: {started:?}", run.id);
        }
    }
}
