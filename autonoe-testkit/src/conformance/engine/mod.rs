//! Conformance suite for engines.

mod cancellation;
mod fixture;
mod instructions;
mod outcomes;
mod submission;

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::engine::{Engine, JobRunner};
use futures::FutureExt;
use futures::future::BoxFuture;

use self::fixture::Fixture;
use super::checks::{CheckOutcome, Checks, Conformance, within};

/// The time limit of one check. An engine on another machine may be slow.
const LIMIT: Duration = Duration::from_secs(120);

/// The kind of the jobs that [`engine`] submits.
pub const ENGINE_JOB: &str = "conformance";

/// Checks an [`Engine`] against its contract.
///
/// Each call of `make` returns an engine that executes runs of the kind [`ENGINE_JOB`] with the
/// given runner, on any workers that it has. Run ids are never reused, not even by two calls of the
/// suite, so one server may back all of these engines. Guarantees across a restart of the engine
/// are not checked.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::engine::LocalEngine;
/// use autonoe_testkit::conformance;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// conformance::engine(async |runner| Arc::new(LocalEngine::new(runner)) as Arc<_>).await.assert();
/// # });
/// ```
pub async fn engine(make: impl AsyncFn(Arc<dyn JobRunner>) -> Arc<dyn Engine>) -> Conformance {
    let mut checks = Checks::new("engine");
    for (name, check) in CHECKS {
        let trying = async {
            let fixture = Fixture::new(&make).await;
            within(LIMIT, "it", check(fixture)).await?
        };
        checks.run(name, trying).await;
    }
    checks.finish()
}

type Check = fn(Fixture) -> BoxFuture<'static, CheckOutcome>;

const CHECKS: &[(&str, Check)] = &[
    ("a run is executed and its output is reported", |it| {
        outcomes::success_is_reported(it).boxed()
    }),
    ("a failure is reported unchanged", |it| {
        outcomes::failure_is_reported(it).boxed()
    }),
    ("a run whose work panics has failed", |it| {
        outcomes::panic_is_a_failure(it).boxed()
    }),
    ("an outcome stays", |it| outcomes::outcome_stays(it).boxed()),
    ("all waiting callers receive the same outcome", |it| {
        outcomes::waiters_get_same_outcome(it).boxed()
    }),
    ("a caller that stops waiting changes nothing", |it| {
        outcomes::dropped_wait_changes_nothing(it).boxed()
    }),
    ("submitting the same run again has no effect", |it| {
        submission::same_is_the_same(it).boxed()
    }),
    ("concurrent submissions of a run start it once", |it| {
        submission::many_at_once(it).boxed()
    }),
    ("another run under the same id is refused", |it| {
        submission::another_is_refused(it).boxed()
    }),
    ("the id of a run that has ended is not used again", |it| {
        submission::ids_are_not_reused(it).boxed()
    }),
    (
        "a dropped submission takes effect completely or not at all",
        |it| submission::dropped_submission(it).boxed(),
    ),
    ("a cancelled run ends with all that it started", |it| {
        cancellation::ends_with_all(it).boxed()
    }),
    ("a run that is cancelled at once ends as cancelled", |it| {
        cancellation::at_once(it).boxed()
    }),
    ("a run that has ended keeps its outcome", |it| {
        cancellation::too_late(it).boxed()
    }),
    ("a run may be cancelled twice", |it| {
        cancellation::twice(it).boxed()
    }),
    ("cancelling one run does not affect others", |it| {
        cancellation::others_go_on(it).boxed()
    }),
    (
        "instructions are delivered in their order, each once",
        |it| instructions::in_order(it).boxed(),
    ),
    ("pause and resume reach the run and are visible", |it| {
        instructions::pause_shows(it).boxed()
    }),
    ("an instruction that no agent will read is refused", |it| {
        instructions::too_late(it).boxed()
    }),
    ("the progress of a run is visible", |it| {
        outcomes::progress_shows(it).boxed()
    }),
    ("a run has an outcome once it has ended", |it| {
        outcomes::outcome_at_the_end(it).boxed()
    }),
    ("a run that was not submitted is unknown", |it| {
        outcomes::unknown_ids_are_reported(it).boxed()
    }),
];
