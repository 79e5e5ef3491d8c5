//! A spent quota that resets.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use autonoe_core::time::{Clock, SystemClock};
use autonoe_core::{ExitReason, OnQuota};
use autonoe_testkit::model_server::anthropic::{Claim, ModelScript, RateLimits, Refusal, Turn};
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;

use super::{passing, run_planned_in, status_on_disk};
use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, Login};

/// A clock on which a sleep of up to a second takes no time.
///
/// A run waits for its quota in such sleeps; time limits of the program are longer.
#[derive(Default)]
struct HastyClock {
    ahead: Arc<Mutex<Duration>>,
}

impl Clock for HastyClock {
    fn now(&self) -> Timestamp {
        Timestamp::now() + *self.ahead.lock().expect("no panic")
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        if duration > Duration::from_secs(1) {
            return SystemClock.sleep(duration);
        }
        let ahead = self.ahead.clone();
        async move {
            *ahead.lock().expect("no panic") += duration;
            tokio::task::yield_now().await;
        }
        .boxed()
    }
}

async fn a_run_waits_for_its_quota_and_continues(build: Build) {
    const WAIT: Duration = Duration::from_secs(5 * 3600);
    // The duration of the sessions themselves counts too.
    const TOLERANCE: Duration = Duration::from_secs(1800);
    let resets_at = Timestamp::now() + WAIT;
    let spent = Refusal::quota(&RateLimits::rejected(Claim::FiveHour, resets_at));
    let script = ModelScript::new([Turn::from(spent)].into_iter().chain(passing()));
    let fixture = Fixture::with_login(build, script, Login::Subscription);

    let run = run_planned_in(&fixture)
        .with_options(|options| options.clock(Arc::new(HastyClock::default())))
        .configure(|runner| runner.on_quota(OnQuota::Wait));
    let log = run.log();
    let (report, ended) = run.run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!((report.sessions, report.iterations), (2, 1));
    assert!(report.elapsed >= WAIT - TOLERANCE, "{report}");
    assert!(report.elapsed < WAIT + TOLERANCE, "{report}");
    let waited =
        |event: &serde_json::Value| event["event"] == "wait_started" && event["reason"] == "quota";
    assert_eq!(log.json().into_iter().filter(waited).count(), 1);
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

async fn a_run_that_may_not_wait_ends(build: Build) {
    let resets_at = Timestamp::now() + Duration::from_secs(5 * 3600);
    let spent = Refusal::quota(&RateLimits::rejected(Claim::FiveHour, resets_at));
    let script = ModelScript::new([spent]);
    let fixture = Fixture::with_login(build, script, Login::Subscription);

    let (report, ended) = run_planned_in(&fixture).run().await;

    assert_eq!(report.exit, ExitReason::QuotaExceeded, "{report} {ended:?}");
    assert_eq!(status_on_disk(&fixture.project())["passed"], false);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

on_newer_build![
    a_run_waits_for_its_quota_and_continues,
    a_run_that_may_not_wait_ends,
];
