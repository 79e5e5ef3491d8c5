//! Runs without progress, and how they are reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_core::RunId;
use autonoe_core::engine::{Engine, EngineError, RunEnding, RunInstruction, RunPhase, SessionHost};
use autonoe_core::event::Failure;
use autonoe_temporal::{SessionHosts, SessionsRun, TemporalSettings, WorkerSettings};
use autonoe_temporal_support::{
    DevServer, RunningWorker, Site, TestHosts, Work, engine, is_at, outcome, short_timeouts,
    submit, wait_for_status,
};

use crate::assertions::assert_all_done_once;
use crate::refusing::Refusing;

/// Has the project of a run, or can use it, only after a number of requests.
struct FlakyHosts {
    test_hosts: Arc<TestHosts>,
    requests: AtomicU32,
    until: u32,
    failure: Failure,
}

impl SessionHosts for FlakyHosts {
    fn find(&self, run: &RunId, sessions: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed);
        match (requests < self.until, self.failure.code.as_str()) {
            (true, "not_here") => Err(self.failure.clone()),
            (true, _) => Ok(Arc::new(Refusing(self.failure.clone()))),
            (false, _) => self.test_hosts.find(run, sessions),
        }
    }
}

fn flaky(site: &Site, until: u32, failure: Failure) -> Arc<FlakyHosts> {
    Arc::new(FlakyHosts {
        test_hosts: TestHosts::new(site, "here"),
        requests: AtomicU32::new(0),
        until,
        failure,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reason_for_missing_progress_is_reported_and_the_run_continues_when_it_can() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let (site, work) = (Site::create(), Work::new(1));
    let run = site.run("shop", &work);
    let hosts = flaky(
        &site,
        3,
        Failure::retryable("not_here", "it is not on this host"),
    );
    let worker = RunningWorker::start(
        settings.clone(),
        WorkerSettings::for_host("here"),
        |worker| worker.sessions(hosts),
    );
    submit(&settings, &run).await;

    let engine = engine(&settings).await;
    let view = wait_for_status(&engine, &run.id, |view| view.last_error.is_some()).await;
    let outcome = outcome(&settings, &run).await;

    let last_error = view.last_error.expect("there is some");
    assert!(
        last_error.contains("it is not on this host"),
        "{last_error}"
    );
    let ended = engine.status(&run.id).await.expect("it is known");
    assert!(is_at(&ended, |at| (at.progress, at.iteration) == (1.0, 2)));
    assert_eq!((ended.phase, ended.last_error), (RunPhase::Ended, None));
    drop(worker);
    assert_all_done_once(&site, &run, &work, &outcome).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_numbers_are_not_reported_as_zero() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let (site, work) = (Site::create(), Work::new(1));
    let run = site.run("shop", &work);
    submit(&settings, &run).await;
    let engine = engine(&settings).await;

    let unanswered = engine.status(&run.id).await.expect("it is known");
    let test_hosts = TestHosts::new(&site, "here");
    let worker = RunningWorker::start(
        settings.clone(),
        WorkerSettings::for_host("here"),
        |worker| worker.sessions(test_hosts),
    );
    outcome(&settings, &run).await;
    let ended = engine.status(&run.id).await.expect("it is known");

    assert_eq!(
        (unanswered.phase, unanswered.progress),
        (RunPhase::Waiting, None)
    );
    assert!(is_at(&ended, |at| at.progress == 1.0), "{ended:?}");
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_claim_is_retried_on_other_hosts_a_limited_number_of_times() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let (site, work) = (Site::create(), Work::new(1));
    let broken = || Failure::permanent("program_refused", "the program is another one");
    for (name, until, succeeds) in [("mended", 2, true), ("broken", u32::MAX, false)] {
        let settings = TemporalSettings {
            queue: name.to_owned(),
            ..settings.clone()
        };
        let run = site.run(name, &work);
        let hosts = flaky(&site, until, broken());
        let flaky = hosts.clone();
        let worker = RunningWorker::start(
            settings.clone(),
            WorkerSettings::for_host("here"),
            |worker| worker.sessions(hosts),
        );
        submit(&settings, &run).await;

        let outcome = outcome(&settings, &run).await;

        drop(worker);
        assert_eq!(outcome.is_success(), succeeds, "{outcome:?}");
        if let RunEnding::Failed { failure } = &outcome.ending {
            let reason = &failure.message;
            assert!(reason.contains("the program is another one"), "{reason}");
            assert_eq!(flaky.requests.load(Ordering::Relaxed), 5);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_beyond_the_limit_of_the_next_session_are_rejected() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let site = Site::create();
    let work = Work {
        held: Some(1),
        ..Work::new(1)
    };
    let run = site.run("shop", &work);
    let test_hosts = TestHosts::new(&site, "here");
    let worker = RunningWorker::start(
        settings.clone(),
        WorkerSettings::for_host("here"),
        |worker| worker.sessions(test_hosts),
    );
    submit(&settings, &run).await;
    let engine = engine(&settings).await;
    wait_for_status(&engine, &run.id, |view| view.phase == RunPhase::Running).await;
    let message = || RunInstruction::Message("x".repeat(100 * 1024));

    for _ in 0..2 {
        engine
            .instruct(&run.id, message())
            .await
            .expect("it is told");
    }
    let refused = engine.instruct(&run.id, message()).await;
    site.release(&run);
    let outcome = outcome(&settings, &run).await;

    let Err(EngineError::Refused { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(reason.contains("204800 bytes"), "{reason}");
    drop(worker);
    assert_all_done_once(&site, &run, &work, &outcome).await;
}
