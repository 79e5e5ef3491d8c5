//! What every engine must do.

mod cancelling;
mod ends;
mod instructing;
mod looking;
mod probe;
mod stand;
mod submitting;

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Engine, JobRunner};
use futures::FutureExt;
use futures::future::BoxFuture;

use self::stand::Stand;
use super::checks::{Checks, Finding, within};
use super::report::Conformance;

/// How long one check may take. An engine on another machine has its own pace.
const LIMIT: Duration = Duration::from_secs(120);

/// The kind of the jobs with which [`engine`] tries an engine.
pub const ENGINE_JOB: &str = "conformance";

/// Checks an [`Engine`] against its contract.
///
/// Each call of `make` gives an engine whose runs of the kind [`ENGINE_JOB`] are carried out by the
/// runner that it is given, on whatever workers it has. Names of runs are never used twice, also
/// not by two calls of the suite, so one server may stand behind all of these engines. What an
/// engine owes across a restart of it is not tried.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::LocalEngine;
/// use autonoe_testkit::conformance;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// conformance::engine(async |runner| Arc::new(LocalEngine::new(runner)) as Arc<_>).await.assert();
/// # });
/// ```
pub async fn engine(make: impl AsyncFn(Arc<dyn JobRunner>) -> Arc<dyn Engine>) -> Conformance {
    let mut checks = Checks::of("engine");
    for (name, check) in CHECKS {
        let trying = async {
            let stand = Stand::new(&make).await;
            within(LIMIT, "it", check(stand)).await?
        };
        checks.run(name, trying).await;
    }
    checks.finish()
}

type Check = fn(Stand) -> BoxFuture<'static, Finding>;

const CHECKS: &[(&str, Check)] = &[
    ("a run is carried out and what it gave is told", |it| {
        ends::success_is_told(it).boxed()
    }),
    ("a failure is told as it is", |it| {
        ends::failure_is_told(it).boxed()
    }),
    ("a run whose work panics has failed", |it| {
        ends::panic_is_a_failure(it).boxed()
    }),
    ("an outcome stays", |it| ends::outcome_stays(it).boxed()),
    ("all who wait are told the same", |it| {
        ends::all_are_told_the_same(it).boxed()
    }),
    ("who stops waiting changes nothing", |it| {
        ends::dropped_wait_changes_nothing(it).boxed()
    }),
    ("the same run again is the same run", |it| {
        submitting::same_is_the_same(it).boxed()
    }),
    ("submitted by many at once, it is one run", |it| {
        submitting::many_at_once(it).boxed()
    }),
    ("another run under the same id is refused", |it| {
        submitting::another_is_refused(it).boxed()
    }),
    ("the id of a run that has ended is not used again", |it| {
        submitting::ids_are_not_used_again(it).boxed()
    }),
    ("a dropped submission happens or not, never half", |it| {
        submitting::dropped_submission(it).boxed()
    }),
    ("a cancelled run ends with all that it started", |it| {
        cancelling::ends_with_all(it).boxed()
    }),
    ("a run that is cancelled at once ends as cancelled", |it| {
        cancelling::at_once(it).boxed()
    }),
    ("a run that has ended keeps its outcome", |it| {
        cancelling::too_late(it).boxed()
    }),
    ("a run may be cancelled twice", |it| {
        cancelling::twice(it).boxed()
    }),
    ("the end of one run is not that of others", |it| {
        cancelling::others_go_on(it).boxed()
    }),
    ("instructions are told in their order, each once", |it| {
        instructing::in_order(it).boxed()
    }),
    ("pause and resume reach the run and show", |it| {
        instructing::pause_shows(it).boxed()
    }),
    ("an instruction that nobody will read is refused", |it| {
        instructing::too_late(it).boxed()
    }),
    ("how far a run is shows", |it| {
        looking::progress_shows(it).boxed()
    }),
    ("a run has an outcome once it has ended", |it| {
        looking::outcome_at_the_end(it).boxed()
    }),
    ("a run that nobody submitted is unknown", |it| {
        looking::strangers_are_unknown(it).boxed()
    }),
];
