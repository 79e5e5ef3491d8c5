//! A host whose claim takes longer than the heartbeat timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{
    HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError,
};
use autonoe_core::event::Failure;
use autonoe_core::ledger::LedgerView;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{RunId, RunReport};
use autonoe_temporal::{SessionHosts, SessionsRun, Timeouts, WorkerSettings};
use autonoe_temporal_support::{
    DevServer, RunningWorker, Site, TestHosts, Work, outcome, short_timeouts, submit,
};
use tokio_util::sync::CancellationToken;

use crate::assertions::assert_all_done_once;

const HEARTBEAT: Duration = Duration::from_secs(4);

/// The duration of a claim and of reading the ledger, as over a slow network.
const SLOW: Duration = Duration::from_secs(6);

/// Session hosts that are slow.
struct Slow {
    test_hosts: Arc<TestHosts>,
    requests: Arc<RequestCounts>,
}

/// Counts of requests.
#[derive(Debug, Default)]
struct RequestCounts {
    claims: AtomicU32,
    ledger_reads: AtomicU32,
}

impl SessionHosts for Slow {
    fn find(&self, run: &RunId, sessions: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        Ok(Arc::new(SlowHost {
            host: self.test_hosts.find(run, sessions)?,
            requests: self.requests.clone(),
        }))
    }
}

struct SlowHost {
    host: Arc<dyn SessionHost>,
    requests: Arc<RequestCounts>,
}

#[async_trait]
impl SessionHost for SlowHost {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        self.requests.claims.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(SLOW).await;
        self.host.claim(run).await
    }

    async fn ledger_view(&self, run: &RunId) -> Result<LedgerView, Failure> {
        self.requests.ledger_reads.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(SLOW).await;
        self.host.ledger_view(run).await
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        heartbeat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        let attaching = self
            .host
            .attach_or_start(key, epoch, session, heartbeat, cancelled);
        attaching.await
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        self.host.conclude(epoch, report).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn claiming_and_reading_the_ledger_may_take_longer_than_the_heartbeat_timeout() {
    let server = DevServer::start().await;
    let timeouts = Timeouts {
        heartbeat: HEARTBEAT,
        ..short_timeouts()
    };
    let settings = server.settings_with(timeouts);
    let site = Site::create();
    let work = Work::new(1);
    let mut run = site.run("shop", &work);
    // The ledger is read after the pause between the sessions.
    run.input["limits"]["pauseMs"] = 100.into();
    let requests = Arc::new(RequestCounts::default());
    let slow = Arc::new(Slow {
        test_hosts: TestHosts::new(&site, "one"),
        requests: requests.clone(),
    });
    let worker = RunningWorker::start(
        settings.clone(),
        WorkerSettings::for_host("one"),
        |worker| worker.sessions(slow),
    );

    submit(&settings, &run).await;
    let outcome = outcome(&settings, &run).await;
    drop(worker);

    assert_all_done_once(&site, &run, &work, &outcome).await;
    // Once with the claim, and once after the pause.
    let requests =
        [&requests.claims, &requests.ledger_reads].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(requests, [1, 2]);
}
