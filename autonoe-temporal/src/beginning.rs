//! What the workflow of a run begins with, by the kind of the run.

use autonoe_core::{EngineError, RunInstruction, RunLimits, RunSpec, SessionsRun};
use autonoe_harness::{Allowance, FleetCourse, MemberJob, STRATEGY_JOB, StrategyRun};
use jiff::Timestamp;

use crate::Pace;
use crate::fleet::{FleetBegin, MOST_MEMBERS};
use crate::sessions::{Carried, SESSIONS_JOB, SessionsBegin};
use crate::wire::Begin;

/// What the workflow of a run begins with.
#[derive(Debug)]
pub(crate) enum Beginning {
    /// One piece of work.
    Job(Begin),
    /// Sessions, one after another.
    Sessions(Box<SessionsBegin>),
    /// Members that are runs.
    Fleet(FleetBegin),
}

impl Beginning {
    /// Makes what a run begins with, on any host or on that of a queue.
    ///
    /// # Errors
    ///
    /// [`EngineError::Refused`]: it does not say what is to be done.
    pub(crate) fn of(
        run: RunSpec,
        host_queue: Option<String>,
        pace: Pace,
    ) -> Result<Self, EngineError> {
        let refused = |reason: String| EngineError::Refused {
            run: run.id.clone(),
            reason,
        };
        match run.job.as_str() {
            SESSIONS_JOB => {
                let (what, carried) = sessions(&run).map_err(|error| {
                    refused(format!(
                        "it does not say what its sessions are to do: {error}"
                    ))
                })?;
                Ok(Self::Sessions(Box::new(SessionsBegin {
                    run,
                    what,
                    host_queue,
                    pace,
                    carried,
                })))
            }
            STRATEGY_JOB => {
                check(&run, host_queue.as_deref()).map_err(refused)?;
                Ok(Self::Fleet(FleetBegin { run, pace }))
            }
            _ => Ok(Self::Job(Begin {
                run,
                host_queue,
                pace,
            })),
        }
    }
}

/// Reads what the sessions of a run are to do. A member of a fleet has that as its work, may spend
/// what it is allowed, and is told what those before it said.
fn sessions(run: &RunSpec) -> Result<(SessionsRun, Option<Carried>), serde_json::Error> {
    let Ok(member) = MemberJob::of(run) else {
        return Ok((serde_json::from_value(run.input.clone())?, None));
    };
    let mut what: SessionsRun = serde_json::from_value(member.work)?;
    limit(&mut what.limits, member.allowance);
    let carried = member.given.map(|given| Carried {
        inbox: vec![RunInstruction::Say(given)],
        ..Carried::nothing(&what)
    });
    Ok((what, carried))
}

/// Lets a run spend no more than it is allowed.
fn limit(limits: &mut RunLimits, allowance: Allowance) {
    let sessions = allowance.sessions.map(u32::try_from);
    let sessions = sessions.map(|sessions| sessions.unwrap_or(u32::MAX));
    limits.max_iterations = least(limits.max_iterations, sessions);
    let (budget, allowed) = (&mut limits.budget, allowance.budget);
    budget.cost_usd = least(budget.cost_usd, allowed.cost_usd);
    budget.tokens = least(budget.tokens, allowed.tokens);
    budget.time = least(budget.time, allowed.time);
}

fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Says why a run is no fleet that can be carried out.
fn check(run: &RunSpec, host_queue: Option<&str>) -> Result<(), String> {
    let what = StrategyRun::of(run)
        .map_err(|error| format!("it does not say what the fleet is to do: {error}"))?;
    if host_queue.is_some() {
        return Err("a fleet is on no host; say for its members where they are to be".to_owned());
    }
    if what.members.len() > MOST_MEMBERS {
        let members = what.members.len();
        return Err(format!(
            "it has {members} members, and at most {MOST_MEMBERS} are led by one run"
        ));
    }
    let course = FleetCourse::new(run.id.as_str(), what, Timestamp::UNIX_EPOCH);
    course.map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use autonoe_core::{Budget, CostUsd, Mode, ProjectName, RunId};
    use autonoe_harness::HarnessId;
    use serde_json::json;

    use super::*;

    fn of(run: RunSpec) -> Result<Beginning, EngineError> {
        Beginning::of(run, None, Pace::default())
    }

    fn strategy(name: &str, input: serde_json::Value) -> RunSpec {
        RunSpec::new(RunId::new(name), STRATEGY_JOB, input)
    }

    #[test]
    fn what_says_nothing_of_what_is_to_be_done_is_refused_with_words() {
        for (run, word) in [
            (strategy("f", json!({})), "strategy"),
            (
                strategy("f", json!({"strategy": {"type": "no-such"}})),
                "no-such",
            ),
            (
                strategy("a.b", json!({"strategy": {"type": "race"}})),
                "a.b",
            ),
            (
                RunSpec::new(RunId::new("s"), SESSIONS_JOB, json!({"limit": 3})),
                "limit",
            ),
        ] {
            let error = of(run).expect_err("it is refused").to_string();

            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_fleet_of_too_many_or_on_one_host_is_refused() {
        let member = |number| json!({"id": format!("m{number}"), "job": "work"});
        let many: Vec<_> = (0..=MOST_MEMBERS).map(member).collect();
        let many = strategy(
            "f",
            json!({"strategy": {"type": "parallel"}, "members": many}),
        );
        let few = strategy("f", json!({"strategy": {"type": "parallel"}}));

        assert!(of(many).is_err());
        assert!(Beginning::of(few.clone(), Some("q@a".to_owned()), Pace::default()).is_err());
        assert!(matches!(of(few), Ok(Beginning::Fleet(_))));
    }

    #[test]
    fn a_member_that_has_sessions_may_spend_what_it_is_allowed_and_hears_those_before_it() {
        let shop = ProjectName::new("shop").expect("a name");
        let mut limits = RunLimits::new(Mode::Run);
        limits.max_iterations = Some(9);
        limits.budget = Budget::default().with_tokens(1000);
        let work = SessionsRun::on_project(&shop, limits);
        let cents = CostUsd::from_cents(70);
        let allowance = Allowance::new(Budget::default().with_cost(cents)).with_sessions(4);
        let input = json!({
            "member": HarnessId::new("a"),
            "work": work,
            "given": "a parser",
            "allowance": allowance,
        });

        let begun = of(RunSpec::new(RunId::new("f.a"), SESSIONS_JOB, input));

        let Ok(Beginning::Sessions(begin)) = begun else {
            panic!("{begun:?}");
        };
        assert_eq!(begin.what.project().expect("a project"), shop);
        assert_eq!(begin.what.limits.max_iterations, Some(4));
        let budget = begin.what.limits.budget;
        assert_eq!((budget.cost_usd, budget.tokens), (Some(cents), Some(1000)));
        let inbox = begin.carried.expect("it is told something").inbox;
        assert_eq!(inbox, [RunInstruction::Say("a parser".to_owned())]);
    }
}
