//! What every session host must do.

mod agents;
mod concluding;
mod ending;
mod ground;
mod overtaking;
mod running;

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::SessionHost;
use futures::FutureExt;
use futures::future::BoxFuture;

pub use self::agents::HostedAgents;
pub use self::ground::HostGround;
use self::ground::Stand;
use super::checks::{Checks, Finding, within};
use super::report::Conformance;

/// How long one check may take. A host in another process has its own pace.
const LIMIT: Duration = Duration::from_secs(120);

/// Checks a [`SessionHost`] against its contract.
///
/// Each call of `make` gives a host of its own that works in the project of the ground which it is
/// given, with [`HostedAgents`] in the place of agents; several stand on one ground, as several
/// processes would. What a host owes after a kill of its machine is not tried.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{Project, ProjectSessionHost};
/// use autonoe_testkit::{VirtualClock, conformance};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let report = conformance::session_host(async |ground| {
///     let project = Project::find(ground.project(), None).expect("it is there");
///     let host = ProjectSessionHost::new(project, ground.agents());
///     Arc::new(host.clock(Arc::new(VirtualClock::new()))) as Arc<_>
/// });
///
/// report.await.assert();
/// # });
/// ```
pub async fn session_host(make: impl AsyncFn(&HostGround) -> Arc<dyn SessionHost>) -> Conformance {
    let mut checks = Checks::of("session host");
    for (name, check) in CHECKS {
        let trying = async {
            let stand = Stand::new(&make).await?;
            within(LIMIT, "it", check(stand)).await?
        };
        checks.run(name, trying).await;
    }
    checks.finish()
}

type Check = fn(Stand) -> BoxFuture<'static, Finding>;

const CHECKS: &[(&str, Check)] = &[
    ("a session runs and what it came to is told", |it| {
        running::outcome_is_told(it).boxed()
    }),
    ("a session with an outcome is not run again", |it| {
        running::recorded_is_not_run_again(it).boxed()
    }),
    ("an outcome that is told is recorded", |it| {
        running::told_is_recorded(it).boxed()
    }),
    ("two who ask at once get one outcome", |it| {
        running::two_at_once(it).boxed()
    }),
    ("each session of a run has its own outcome", |it| {
        running::numbers_are_apart(it).boxed()
    }),
    ("what a session did to the ledger is told", |it| {
        running::ledger_is_told(it).boxed()
    }),
    ("what persons say reaches the agent", |it| {
        running::messages_arrive(it).boxed()
    }),
    ("who comes with an older epoch is refused", |it| {
        overtaking::older_epochs_are_refused(it).boxed()
    }),
    ("who was overtaken records nothing", |it| {
        overtaking::overtaken_records_nothing(it).boxed()
    }),
    ("who was overtaken does not change the ledger", |it| {
        overtaking::overtaken_writes_nothing(it).boxed()
    }),
    ("to look and to claim change nothing", |it| {
        overtaking::looking_changes_nothing(it).boxed()
    }),
    ("to look and to claim wait for no session", |it| {
        overtaking::looking_does_not_wait(it).boxed()
    }),
    ("a host tells that it works", |it| {
        ending::beats_while_it_works(it).boxed()
    }),
    ("a host tells that it waits", |it| {
        ending::beats_while_it_waits(it).boxed()
    }),
    ("a cancelled session ends and stays cancelled", |it| {
        ending::cancelled_ends_and_stays(it).boxed()
    }),
    (
        "a session that is cancelled before it began has no outcome",
        |it| ending::cancelled_before_it_began(it).boxed(),
    ),
    (
        "a session that is let go leaves no record and is run again",
        |it| ending::dropped_is_run_again(it).boxed(),
    ),
    ("the end of a run can be told twice", |it| {
        concluding::end_is_told_twice(it).boxed()
    }),
    ("a session with an outcome is told after the end", |it| {
        concluding::recorded_is_told_after_the_end(it).boxed()
    }),
    ("no session begins after the end", |it| {
        concluding::nothing_begins_after_the_end(it).boxed()
    }),
    ("who was overtaken does not end the run", |it| {
        concluding::overtaken_does_not_conclude(it).boxed()
    }),
    ("a run that has not begun needs no end", |it| {
        concluding::nothing_needs_no_end(it).boxed()
    }),
    ("the end waits for a session that is at work", |it| {
        concluding::end_waits_for_a_session(it).boxed()
    }),
];
