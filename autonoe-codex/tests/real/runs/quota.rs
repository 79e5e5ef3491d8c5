//! A spent quota that resets.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use autonoe_core::time::{Clock, SystemClock};
use autonoe_core::{ExitReason, OnQuota};
use autonoe_testkit::model_server::ModelScript;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;

use super::{passing, planning, run_in, status_on_disk};
use crate::conformance::quota_spent;
use crate::fixture::Fixture;

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

#[tokio::test]
async fn a_run_waits_for_its_quota_and_continues() {
    const WAIT: Duration = Duration::from_secs(5 * 3600);
    let resets_at = Timestamp::now() + WAIT;
    let script = ModelScript::new(planning()).then(quota_spent(resets_at));
    let script = passing().into_iter().fold(script, ModelScript::then);
    let fixture = Fixture::new(script).sandboxed();

    let run = run_in(&fixture)
        .with_options(|options| options.clock(Arc::new(HastyClock::default())))
        .configure(|runner| runner.on_quota(OnQuota::Wait));
    let log = run.log();
    let (report, ended) = run.run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!((report.sessions, report.iterations), (3, 2));
    let slack = Duration::from_secs(120);
    assert!(report.elapsed >= WAIT - slack, "{report}");
    assert!(report.elapsed < WAIT + slack, "{report}");
    let waited =
        |event: &serde_json::Value| event["event"] == "wait_started" && event["reason"] == "quota";
    assert_eq!(log.json().into_iter().filter(waited).count(), 1);
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_run_that_may_not_wait_ends() {
    let resets_at = Timestamp::now() + Duration::from_secs(5 * 3600);
    let script = ModelScript::new(planning()).then(quota_spent(resets_at));
    let fixture = Fixture::new(script).sandboxed();

    let (report, ended) = run_in(&fixture).run().await;

    assert_eq!(report.exit, ExitReason::QuotaExceeded, "{report} {ended:?}");
    assert_eq!(status_on_disk(&fixture.project())["passed"], false);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}
