//! [`WorkflowInput`]: the input of a run's workflow, by the kind of the run.

use autonoe_core::engine::{EngineError, RunInstruction, RunSpec, SessionsRun};
use autonoe_core::run::RunLimits;
use autonoe_harness::coordinate::{MemberJob, STRATEGY_JOB, StrategyRun};
use autonoe_harness::{Allowance, FleetMachine};
use jiff::Timestamp;

use crate::Timeouts;
use crate::fleet::{FleetInput, MAX_MEMBERS};
use crate::sessions::{CarriedState, SESSIONS_JOB, SessionsInput};
use crate::wire::JobInput;

/// The input of a run's workflow.
#[derive(Debug)]
pub(crate) enum WorkflowInput {
    /// A single job.
    Job(JobInput),
    /// Consecutive sessions.
    Sessions(Box<SessionsInput>),
    /// Members that are runs.
    Fleet(FleetInput),
}

impl WorkflowInput {
    /// Creates the input of a run, for any host or for the host with the queue `host_queue`.
    ///
    /// # Errors
    ///
    /// [`EngineError::Refused`]: the input does not describe a valid run.
    pub(crate) fn from_spec(
        run: RunSpec,
        host_queue: Option<String>,
        timeouts: Timeouts,
    ) -> Result<Self, EngineError> {
        let refused = |reason: String| EngineError::Refused {
            run: run.id.clone(),
            reason,
        };
        match run.job.as_str() {
            SESSIONS_JOB => {
                let (sessions, carried) = session_input(&run).map_err(|error| {
                    refused(format!("the input is not a run with sessions: {error}"))
                })?;
                Ok(Self::Sessions(Box::new(SessionsInput {
                    run,
                    sessions,
                    host_queue,
                    timeouts,
                    carried,
                })))
            }
            STRATEGY_JOB => {
                check_fleet(&run, host_queue.as_deref()).map_err(refused)?;
                Ok(Self::Fleet(FleetInput { run, timeouts }))
            }
            _ => Ok(Self::Job(JobInput {
                run,
                host_queue,
                timeouts,
            })),
        }
    }
}

/// Reads the input of a run's sessions. For a member of a fleet, it is the `work` of the member,
/// limited by its allowance, and the output of earlier members is sent as a message.
fn session_input(run: &RunSpec) -> Result<(SessionsRun, Option<CarriedState>), serde_json::Error> {
    let Ok(member) = MemberJob::from_run(run) else {
        return Ok((serde_json::from_value(run.input.clone())?, None));
    };
    let mut session_run: SessionsRun = serde_json::from_value(member.work)?;
    limit(&mut session_run.limits, member.allowance);
    let carried = member.input.map(|input| CarriedState {
        inbox: vec![RunInstruction::Message(input)],
        ..CarriedState::nothing(&session_run)
    });
    Ok((session_run, carried))
}

/// Limits a run to its allowance.
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

/// Returns why a run is not a valid fleet.
fn check_fleet(run: &RunSpec, host_queue: Option<&str>) -> Result<(), String> {
    let strategy_run =
        StrategyRun::from_run(run).map_err(|error| format!("the input is not a fleet: {error}"))?;
    if host_queue.is_some() {
        return Err("a fleet cannot be placed on a host; set the hosts of its members".to_owned());
    }
    if strategy_run.members.len() > MAX_MEMBERS {
        let members = strategy_run.members.len();
        return Err(format!(
            "the fleet has {members} members, and one run can lead at most {MAX_MEMBERS}"
        ));
    }
    let machine = FleetMachine::new(run.id.as_str(), strategy_run, Timestamp::UNIX_EPOCH);
    machine.map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use autonoe_core::engine::ProjectName;
    use autonoe_core::{Budget, CostUsd, Mode, RunId};
    use autonoe_harness::strategy::MemberId;
    use serde_json::json;

    use super::*;

    fn workflow_input(run: RunSpec) -> Result<WorkflowInput, EngineError> {
        WorkflowInput::from_spec(run, None, Timeouts::default())
    }

    fn strategy(name: &str, input: serde_json::Value) -> RunSpec {
        RunSpec::new(RunId::new(name), STRATEGY_JOB, input)
    }

    #[test]
    fn invalid_run_spec_is_refused_with_reason() {
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
            let error = workflow_input(run).expect_err("it is refused").to_string();

            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_fleet_of_too_many_or_on_one_host_is_refused() {
        let member = |number| json!({"id": format!("m{number}"), "job": "work"});
        let many: Vec<_> = (0..=MAX_MEMBERS).map(member).collect();
        let many = strategy(
            "f",
            json!({"strategy": {"type": "parallel"}, "members": many}),
        );
        let few = strategy("f", json!({"strategy": {"type": "parallel"}}));

        assert!(workflow_input(many).is_err());
        assert!(
            WorkflowInput::from_spec(few.clone(), Some("q@a".to_owned()), Timeouts::default())
                .is_err()
        );
        assert!(matches!(workflow_input(few), Ok(WorkflowInput::Fleet(_))));
    }

    #[test]
    fn member_sessions_get_allowance_and_input() {
        let shop = ProjectName::new("shop").expect("a name");
        let mut limits = RunLimits::new(Mode::Run);
        limits.max_iterations = Some(9);
        limits.budget = Budget::default().with_tokens(1000);
        let work = SessionsRun::on_project(&shop, limits);
        let cents = CostUsd::from_cents(70);
        let allowance = Allowance::new(Budget::default().with_cost(cents)).sessions(4);
        let input = json!({
            "member": MemberId::new("a"),
            "work": work,
            "input": "a parser",
            "allowance": allowance,
        });

        let parsed = workflow_input(RunSpec::new(RunId::new("f.a"), SESSIONS_JOB, input));

        let Ok(WorkflowInput::Sessions(begin)) = parsed else {
            panic!("{parsed:?}");
        };
        assert_eq!(begin.sessions.project().expect("a project"), shop);
        assert_eq!(begin.sessions.limits.max_iterations, Some(4));
        let budget = begin.sessions.limits.budget;
        assert_eq!((budget.cost_usd, budget.tokens), (Some(cents), Some(1000)));
        let inbox = begin.carried.expect("it is told something").inbox;
        assert_eq!(inbox, [RunInstruction::Message("a parser".to_owned())]);
    }
}
