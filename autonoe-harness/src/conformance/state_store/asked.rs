//! What the checks ask of a store, and how they say what is wrong.

use std::fmt::Debug;
use std::time::Duration;

use autonoe_testkit::conformance::{Finding, Flaw};
use jiff::Timestamp;

use crate::{
    Claim, Claimant, HarnessId, HarnessPlan, StateError, StateStore, Task, TaskId, TaskPlan,
};

/// How long an owner may be silent.
pub(super) const LEASE: Duration = Duration::from_secs(30);

/// Returns a moment, so many seconds after the first.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::new(1_790_000_000 + seconds, 123_456_789).unwrap_or_default()
}

pub(super) fn claimant(owner: &str) -> Claimant {
    Claimant::new(owner).with_lease(LEASE)
}

pub(super) fn id(text: &str) -> Finding<TaskId> {
    text.parse().map_err(|_| Flaw::Failed(format!("{text:?}")))
}

pub(super) fn task(name: &str, depends: &[&str]) -> Finding<TaskPlan> {
    let task = Task::new(name, format!("Do {name} \u{2014} \"fully\"."));
    let task = task.map_err(|error| Flaw::Failed(error.to_string()))?;
    let mut planned = TaskPlan::new(task.description(name).context("1 < 2\n\u{0}"));
    planned.depends = depends
        .iter()
        .map(|text| id(text))
        .collect::<Finding<_>>()?;
    Ok(planned)
}

pub(super) fn plan(tasks: &[(&str, &[&str])]) -> Finding<HarnessPlan> {
    let tasks = tasks.iter().map(|(name, depends)| task(name, depends));
    let tasks = tasks.collect::<Finding<Vec<_>>>()?;
    Ok(HarnessPlan::new(HarnessId::new("h"), tasks).from_roadmap("docs/ROADMAP.md"))
}

/// Puts a plan into a store.
pub(super) async fn begin(store: &dyn StateStore, tasks: &[(&str, &[&str])]) -> Finding {
    good(store.init_harness(&plan(tasks)?, at(0)).await)
}

/// Claims a task, which must be this one.
pub(super) async fn claim(
    store: &dyn StateStore,
    owner: &str,
    second: i64,
    expected: &str,
) -> Finding<Claim> {
    let claimed = good(store.claim_next(&claimant(owner), at(second)).await)?;
    match claimed {
        Some(claim) if claim.id().as_str() == expected => Ok(claim),
        Some(claim) => failed(format!("{} is claimed instead of {expected}", claim.id())),
        None => failed(format!("nothing is claimed instead of {expected}")),
    }
}

/// Tries to claim a task where there is none to be had.
pub(super) async fn claim_nothing(store: &dyn StateStore, owner: &str, second: i64) -> Finding {
    let claimed = good(store.claim_next(&claimant(owner), at(second)).await)?;
    match claimed {
        Some(claim) => failed(format!("{} is claimed by {owner}", claim.id())),
        None => Ok(()),
    }
}

pub(super) fn good<T>(done: Result<T, StateError>) -> Finding<T> {
    done.map_err(|error| Flaw::Failed(format!("it refuses: {error}")))
}

pub(super) fn same<T: Debug + PartialEq>(what: &str, found: &T, expected: &T) -> Finding {
    match found == expected {
        true => Ok(()),
        false => failed(format!("{what}: {found:?} instead of {expected:?}")),
    }
}

pub(super) fn fenced<T: Debug>(what: &str, done: Result<T, StateError>) -> Finding {
    match done {
        Err(StateError::Fenced { .. }) => Ok(()),
        other => failed(format!("{what} is not fenced off: {other:?}")),
    }
}

pub(super) fn failed<T>(what: impl Into<String>) -> Finding<T> {
    Err(Flaw::Failed(what.into()))
}
