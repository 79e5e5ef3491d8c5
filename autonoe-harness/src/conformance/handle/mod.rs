//! What every handle of a sub-harness must do.

mod checks;
mod job;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{RunId, RunSpec};
use autonoe_testkit::conformance::{Checks, Conformance, Finding, Flaw};
use serde_json::Value;

use crate::HarnessHandle;

pub use job::{HANDLE_JOB, HandleJob};

/// How long one check may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Checks a [`HarnessHandle`] against its contract.
///
/// Each call of `make` starts a sub-harness with the order that it is given, whose runs of the kind
/// [`HANDLE_JOB`] are carried out by a [`HandleJob`], wherever that is. That job raises alerts as
/// sub-harnesses of the kind do.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_harness::conformance::{self, HandleJob};
/// use autonoe_core::SystemClock;
/// use autonoe_harness::{HarnessNotes, LocalHandle};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// conformance::handle(async |order| {
///     let notes = HarnessNotes::default();
///     let raised = notes.clone();
///     let job = Arc::new(HandleJob::new(move |alert| raised.alert(alert.clone())));
///     Arc::new(LocalHandle::start_with(order, job, SystemClock, notes)) as Arc<_>
/// })
/// .await
/// .assert();
/// # });
/// ```
pub async fn handle(make: impl AsyncFn(RunSpec) -> Arc<dyn HarnessHandle>) -> Conformance {
    let mut suite = Checks::of("handle");
    for (number, (name, input, check)) in checks::all().into_iter().enumerate() {
        let order = RunSpec::new(RunId::new(format!("handle-{number}")), HANDLE_JOB, input);
        let trying = async {
            let handle = make(order).await;
            let tried = tokio::time::timeout(LIMIT, check(handle)).await;
            tried.map_err(|_| Flaw::Failed(format!("it took longer than {LIMIT:?}")))?
        };
        suite.run(name, trying).await;
    }
    suite.finish()
}

/// A check: its name, what the sub-harness does, and what must hold then.
type Check = (
    &'static str,
    Value,
    fn(Arc<dyn HarnessHandle>) -> Pin<Box<dyn Future<Output = Finding> + Send>>,
);
