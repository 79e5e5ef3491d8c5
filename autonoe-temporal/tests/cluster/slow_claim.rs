//! A host that takes longer to claim a run than a worker may be silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Epoch, Failure, HostedOutcome, HostedSession, LedgerView, RunId, RunProgress, RunReport,
    SessionHost, SessionHostError, SessionKey,
};
use autonoe_temporal::{Pace, SessionHosts, SessionsRun, WorkerSettings};
use autonoe_temporal_support::{Crew, DevServer, Site, Work, Working, hasty, outcome, submit};
use tokio_util::sync::CancellationToken;

use crate::afterwards::all_is_done_once;

const HEARTBEAT: Duration = Duration::from_secs(4);

/// How long it takes to claim a run, and to look at its ledger, as over a slow network.
const SLOW: Duration = Duration::from_secs(6);

/// Hosts that take their time.
struct Slow {
    crew: Arc<Crew>,
    asked: Arc<Asked>,
}

/// How often they were asked.
#[derive(Debug, Default)]
struct Asked {
    claims: AtomicU32,
    looks: AtomicU32,
}

impl SessionHosts for Slow {
    fn of(&self, run: &RunId, what: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        Ok(Arc::new(SlowHost {
            host: self.crew.of(run, what)?,
            asked: self.asked.clone(),
        }))
    }
}

struct SlowHost {
    host: Arc<dyn SessionHost>,
    asked: Arc<Asked>,
}

#[async_trait]
impl SessionHost for SlowHost {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        self.asked.claims.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(SLOW).await;
        self.host.claim(run).await
    }

    async fn look(&self, run: &RunId) -> Result<LedgerView, Failure> {
        self.asked.looks.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(SLOW).await;
        self.host.look(run).await
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        let attaching = self
            .host
            .attach_or_start(key, epoch, session, beat, cancelled);
        attaching.await
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        self.host.conclude(epoch, report).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_and_a_look_may_take_longer_than_a_worker_may_be_silent() {
    let server = DevServer::start().await;
    let pace = Pace {
        heartbeat: HEARTBEAT,
        ..hasty()
    };
    let settings = server.settings().pace(pace);
    let site = Site::make();
    let work = Work::new(1);
    let mut run = site.run("shop", &work);
    // The ledger is looked at after the pause between the sessions.
    run.input["limits"]["pauseMs"] = 100.into();
    let asked = Arc::new(Asked::default());
    let slow = Arc::new(Slow {
        crew: Crew::of(&site, "one"),
        asked: asked.clone(),
    });
    let worker = Working::start(settings.clone(), WorkerSettings::on("one"), |worker| {
        worker.sessions(slow)
    });

    submit(&settings, &run).await;
    let outcome = outcome(&settings, &run).await;
    drop(worker);

    all_is_done_once(&site, &run, &work, &outcome).await;
    // Once with the claim, and once after the pause.
    let asked = [&asked.claims, &asked.looks].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(asked, [1, 2]);
}
