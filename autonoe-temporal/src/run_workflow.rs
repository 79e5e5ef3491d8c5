//! [`RunWorkflow`]: the workflow type of a run, with its input.

use autonoe_core::engine::{
    EngineError, RunEnding, RunInstruction, RunOutcome, RunSpec, SessionsRun,
};
use autonoe_core::run::RunLimits;
use autonoe_harness::coordinate::{MemberJob, STRATEGY_JOB, StrategyRun};
use autonoe_harness::{Allowance, FleetMachine};
use jiff::Timestamp;
use serde_json::Value;
use temporalio_common::{HasWorkflowDefinition, WorkflowDefinition};
use temporalio_sdk::{WorkflowCancellationToken, WorkflowResult, WorkflowTermination};

use crate::Timeouts;
use crate::fleet::{FleetWorkflow, MAX_MEMBERS};
use crate::job::JobWorkflow;
use crate::sessions::{CarriedState, SESSIONS_JOB, SessionsInput, SessionsWorkflow};
use crate::wire::WorkflowInput;

/// The workflow type of a run, which follows from its job. Its input is JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RunWorkflow(String);

impl WorkflowDefinition for RunWorkflow {
    type Input = Value;
    type Output = RunOutcome;

    fn name(&self) -> &str {
        &self.0
    }
}

impl HasWorkflowDefinition for RunWorkflow {
    type Run = Self;
}

impl RunWorkflow {
    /// Returns the workflow of a run and its input, for any host or for the host with the queue
    /// `host_queue`.
    ///
    /// # Errors
    ///
    /// [`EngineError::Refused`]: the input does not describe a valid run.
    pub(crate) fn from_spec(
        run: RunSpec,
        host_queue: Option<String>,
        timeouts: Timeouts,
    ) -> Result<(Self, Value), EngineError> {
        let id = run.id.clone();
        let workflow = match run.job.as_str() {
            SESSIONS_JOB => SessionsWorkflow::run.name(),
            STRATEGY_JOB => FleetWorkflow::run.name(),
            _ => JobWorkflow::run.name(),
        };
        let workflow = Self(workflow.to_owned());
        match input(run, host_queue, timeouts) {
            Ok(input) => Ok((workflow, input)),
            Err(reason) => Err(EngineError::Refused { run: id, reason }),
        }
    }
}

/// Ends a workflow with an outcome. A cancelled workflow ends as such, except that of a member:
/// its fleet would not receive the outcome.
pub(crate) fn end_workflow(
    mut outcome: RunOutcome,
    cancelled: &WorkflowCancellationToken,
    is_member: bool,
) -> WorkflowResult<RunOutcome> {
    let RunEnding::Cancelled { reason } = &mut outcome.ending else {
        return Ok(outcome);
    };
    // Only the workflow knows the reason of the request.
    if let Some(requested) = cancelled.reason() {
        *reason = requested;
    }
    if is_member {
        Ok(outcome)
    } else {
        Err(WorkflowTermination::cancelled_with_details(outcome))
    }
}

/// Returns the input of a run's workflow, or why the run is invalid.
fn input(run: RunSpec, host_queue: Option<String>, timeouts: Timeouts) -> Result<Value, String> {
    if run.job == STRATEGY_JOB {
        check_fleet(&run, host_queue.as_deref())?;
    }
    let input = if run.job == SESSIONS_JOB {
        let (sessions, carried) = session_input(&run)
            .map_err(|error| format!("the input is not a run with sessions: {error}"))?;
        serde_json::to_value(SessionsInput {
            run,
            sessions,
            host_queue,
            timeouts,
            carried,
        })
    } else {
        serde_json::to_value(WorkflowInput {
            run,
            host_queue,
            timeouts,
        })
    };
    input.map_err(|error| error.to_string())
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
        ..CarriedState::initial(&session_run)
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

    fn workflow(run: RunSpec) -> Result<(RunWorkflow, Value), EngineError> {
        RunWorkflow::from_spec(run, None, Timeouts::default())
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
            let error = workflow(run).expect_err("it is refused").to_string();

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

        let bound =
            RunWorkflow::from_spec(few.clone(), Some("q@a".to_owned()), Timeouts::default());

        assert!(workflow(many).is_err());
        assert!(bound.is_err());
        let (workflow, _) = workflow(few).expect("a fleet");
        assert_eq!(workflow.name(), "autonoe-fleet");
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

        let parsed = workflow(RunSpec::new(RunId::new("f.a"), SESSIONS_JOB, input));

        let (workflow, begin) = parsed.expect("a run with sessions");
        assert_eq!(workflow.name(), "autonoe-sessions");
        let begin: SessionsInput = serde_json::from_value(begin).expect("its input");
        assert_eq!(begin.sessions.project().expect("a project"), shop);
        assert_eq!(begin.sessions.limits.max_iterations, Some(4));
        let budget = begin.sessions.limits.budget;
        assert_eq!((budget.cost_usd, budget.tokens), (Some(cents), Some(1000)));
        let inbox = begin.carried.expect("it is told something").inbox;
        assert_eq!(inbox, [RunInstruction::Message("a parser".to_owned())]);
    }
}
