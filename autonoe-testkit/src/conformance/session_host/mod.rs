//! Conformance suite for session hosts.

mod fixture;
mod heartbeat;
mod outcomes;
mod takeover;

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::engine::SessionHost;
use futures::FutureExt;
use futures::future::BoxFuture;

use self::fixture::Fixture;
pub use self::fixture::{HostProject, HostedAgents};
use super::checks::{CheckOutcome, Checks, Conformance, within};

/// The time limit of one check. A host in another process may be slow.
const LIMIT: Duration = Duration::from_secs(120);

/// Checks a [`SessionHost`] against its contract.
///
/// Each call of `make` returns a separate host that works in the project of the given host_project, with
/// [`HostedAgents`] as its agents. Several hosts share one host_project, as several processes would.
/// Guarantees after a crash of the host's machine are not checked.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::project::{OpenProject, ProjectSessionHost};
/// use autonoe_core::Project;
/// use autonoe_testkit::{VirtualClock, conformance};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let report = conformance::session_host(async |host_project| {
///     let project = Project::find(host_project.project(), None).expect("it is there");
///     let options = OpenProject::options(&project).clock(VirtualClock::new());
///     Arc::new(ProjectSessionHost::new(options, host_project.agents())) as Arc<_>
/// });
///
/// report.await.assert();
/// # });
/// ```
pub async fn session_host(make: impl AsyncFn(&HostProject) -> Arc<dyn SessionHost>) -> Conformance {
    let mut checks = Checks::new("session host");
    for (name, check) in CHECKS {
        let trying = async {
            let fixture = Fixture::new(&make).await?;
            within(LIMIT, "it", check(fixture)).await?
        };
        checks.run(name, trying).await;
    }
    checks.finish()
}

type Check = fn(Fixture) -> BoxFuture<'static, CheckOutcome>;

const CHECKS: &[(&str, Check)] = &[
    ("a session runs and returns its outcome", |it| {
        outcomes::outcome_is_returned(it).boxed()
    }),
    ("a session with an outcome is not run again", |it| {
        outcomes::recorded_session_is_not_rerun(it).boxed()
    }),
    ("a returned outcome is recorded", |it| {
        outcomes::returned_outcome_is_recorded(it).boxed()
    }),
    ("two concurrent requests get one outcome", |it| {
        outcomes::two_at_once(it).boxed()
    }),
    ("each session of a run has its own outcome", |it| {
        outcomes::sessions_are_separate(it).boxed()
    }),
    (
        "the changes of a session to the ledger are reported",
        |it| outcomes::ledger_is_returned(it).boxed(),
    ),
    ("messages of operators reach the agent", |it| {
        outcomes::messages_arrive(it).boxed()
    }),
    ("a caller with an older epoch is refused", |it| {
        takeover::older_epochs_are_refused(it).boxed()
    }),
    ("a session of an older epoch records nothing", |it| {
        takeover::overtaken_records_nothing(it).boxed()
    }),
    (
        "a session of an older epoch does not change the ledger",
        |it| takeover::overtaken_writes_nothing(it).boxed(),
    ),
    ("reading and claiming change nothing", |it| {
        takeover::claiming_changes_nothing(it).boxed()
    }),
    ("reading and claiming wait for no session", |it| {
        takeover::claiming_does_not_wait(it).boxed()
    }),
    ("a host reports that it works", |it| {
        heartbeat::heartbeats_while_running(it).boxed()
    }),
    ("a host reports that it waits", |it| {
        heartbeat::heartbeats_while_waiting(it).boxed()
    }),
    ("a cancelled session ends and stays cancelled", |it| {
        heartbeat::cancelled_ends_and_stays(it).boxed()
    }),
    (
        "a session that is cancelled before its start has no outcome",
        |it| heartbeat::cancelled_before_start(it).boxed(),
    ),
    ("a released session leaves no record and runs again", |it| {
        heartbeat::dropped_session_is_rerun(it).boxed()
    }),
    ("the end of a run can be reported twice", |it| {
        outcomes::end_can_be_repeated(it).boxed()
    }),
    ("a session with an outcome returns it after the end", |it| {
        outcomes::recorded_outcome_survives_the_end(it).boxed()
    }),
    ("no session starts after the end", |it| {
        outcomes::nothing_begins_after_the_end(it).boxed()
    }),
    ("a caller with an older epoch does not end the run", |it| {
        outcomes::overtaken_does_not_conclude(it).boxed()
    }),
    ("a run that has not started needs no end", |it| {
        outcomes::nothing_needs_no_end(it).boxed()
    }),
    ("the end waits for a running session", |it| {
        outcomes::end_waits_for_a_session(it).boxed()
    }),
];
