//! Fleets from roadmaps: the run that is submitted, and the text of its report.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use autonoe_app::text::sanitize_line;
use autonoe_app::{AppError, error_chain};
use autonoe_core::engine::{RunOutcome, RunSpec, SessionsRun};
use autonoe_core::event::TraceContext;
use autonoe_core::project::read_text_file;
use autonoe_core::run::RunLimits;
use autonoe_core::{Budget, CostUsd, RunId};
use autonoe_harness::coordinate::{FleetReport, MemberSpec, StrategyRun};
use autonoe_harness::roadmap::PlannedTask;
use autonoe_harness::strategy::{MemberId, MemberReport};
use autonoe_harness::{Allowance, FleetOrder, Graph, Roadmap};
use autonoe_temporal::SESSIONS_JOB;

use crate::args::FleetOptions;
use crate::fleet_work::{
    FleetWork, MERGE_JOB, START, integration_branch, merge_member, project_name,
};

/// Maximum size of a roadmap, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Time limit of a fleet without `--max-time`.
const DEFAULT_TIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Part of the budget of a task, in percent, for the sessions that judge its criteria.
const JUDGE_SHARE: u64 = 25;

/// Reads a roadmap.
pub(super) fn read_roadmap(file: &Path) -> Result<Roadmap, AppError> {
    let text = match read_text_file(file, MAX_BYTES) {
        Ok(Some(text)) => text,
        Ok(None) => {
            let message = format!("the roadmap {} does not exist", file.display());
            return Err(AppError::failure(message)
                .with_hint("docs/guides/harness.md shows how to write one"));
        }
        Err(error) => return Err(AppError::failure(error_chain(&error))),
    };
    Roadmap::parse(file, &text)
        .map_err(|error| AppError::failure(format!("the roadmap is invalid\n{error}")))
}

/// Describes the run of a fleet: one member for each task, which works on its own branch, and one
/// that merges this branch. A task starts when those that it depends on are merged.
pub(super) fn fleet_spec(
    options: &FleetOptions<'_>,
    roadmap: &Roadmap,
    id: RunId,
    (limits, trace): (&RunLimits, TraceContext),
) -> Result<RunSpec, AppError> {
    let wrong = |error: &dyn fmt::Display| AppError::usage(error.to_string());
    project_name(options.repository).map_err(|error| wrong(&error))?;
    let fleet_budget = Allowance::new(Budget {
        time: None,
        ..limits.budget
    });
    let mut order = FleetOrder::from_tasks(id.as_str(), roadmap, Graph::default())
        .map_err(|error| wrong(&error))?
        .budget(fleet_budget);
    order.time = limits.budget.time.unwrap_or(DEFAULT_TIME);
    order.max_concurrent = options.max_concurrent.unwrap_or(order.max_concurrent);
    order.validate().map_err(|error| wrong(&error))?;
    let work = |task, trace| FleetWork {
        repository: options.repository.to_owned(),
        task,
        trace,
    };
    let json = |error: serde_json::Error| AppError::failure(error.to_string());
    let merge_spec = |id: &str, task, allowance| {
        let work = serde_json::to_value(work(task, Some(trace.clone()))).map_err(json)?;
        let spec = MemberSpec::new(MemberId::new(id), MERGE_JOB, work);
        Ok::<_, AppError>(spec.allowance(allowance))
    };
    let mut members = vec![merge_spec(START, None, share(fleet_budget, 0))?];
    let mut graph = Graph::default();
    let mut of_task = BTreeMap::new();
    for member in &order.members {
        for planned in &member.work.tasks {
            of_task.insert(&planned.task.id, &member.id);
        }
    }
    for member in &order.members {
        let [planned] = member.work.tasks.as_slice() else {
            return Err(AppError::failure("a member of the fleet has several tasks"));
        };
        check_task(planned).map_err(AppError::usage)?;
        let (id, task) = (&member.id, planned.task.clone());
        let mut limits = RunLimits {
            budget: Budget::default(),
            ..limits.clone()
        };
        limits.max_iterations = planned.max_iterations.or(limits.max_iterations);
        let sessions_run = SessionsRun::new(
            // The sessions have the trace.
            serde_json::to_value(work(Some(task.clone()), None)).map_err(json)?,
            limits,
        );
        let input = serde_json::to_value(sessions_run.trace(trace.clone())).map_err(json)?;
        let sessions = MemberSpec::new(id.clone(), SESSIONS_JOB, input);
        let needs_judge = task.success_criteria.as_ref();
        let judge_share = if needs_judge.is_some_and(|it| it.needs_judge()) {
            JUDGE_SHARE
        } else {
            0
        };
        members.push(sessions.allowance(share(member.allowance, 100 - judge_share)));
        let merge = merge_spec(
            &merge_member(id.as_str()),
            Some(task),
            share(member.allowance, judge_share),
        )?;
        // The order does not have the dependencies, only its strategy does.
        let planned = roadmap
            .tasks
            .iter()
            .find(|it| it.task.id == planned.task.id);
        let dependencies = planned.into_iter().flat_map(|planned| &planned.depends);
        let merged = dependencies
            .filter_map(|task| of_task.get(task))
            .map(|member| MemberId::new(merge_member(member.as_str())));
        graph = graph
            .after(id.clone(), merged.chain([MemberId::new(START)]))
            .after(merge.id.clone(), [id.clone()]);
        members.push(merge);
    }
    let mut run = StrategyRun::new(graph).members(members);
    run.max_concurrent = order.max_concurrent;
    run.time = order.time;
    run.budget = order.budget;
    run.to_run(id).map_err(json)
}

/// Returns a part of an allowance, in percent. Kinds without a limit stay unlimited.
fn share(allowance: Allowance, percent: u64) -> Allowance {
    let part = |amount: u64| amount / 100 * percent;
    let cost = allowance.budget.cost_usd.map(|cost| part(cost.picos()));
    Allowance::new(Budget {
        cost_usd: cost.map(CostUsd::from_picos),
        tokens: allowance.budget.tokens.map(part),
        time: None,
    })
}

/// Returns why a task cannot be done on a cluster.
fn check_task(planned: &PlannedTask) -> Result<(), String> {
    let task = &planned.task;
    let problem = if task.cli.is_some() || task.model.is_some() || !planned.fallbacks.is_empty() {
        "it names a backend or a model, which the workers choose"
    } else if task.cwd.is_some() {
        "it names a folder, and agents on a cluster work in the whole repository"
    } else {
        return Ok(());
    };
    Err(format!(
        "the task {} cannot be done on a cluster: {problem}",
        task.id
    ))
}

/// Returns the report of a fleet, if the outcome has one.
pub(super) fn fleet_report(outcome: &RunOutcome) -> Option<FleetReport> {
    serde_json::from_value(outcome.output.clone()).ok()
}

/// Formats the report of a fleet: a line for each of its tasks, and a summary.
pub(super) fn fleet_text(run: &RunId, report: &FleetReport) -> Vec<String> {
    let result = report;
    let find = |member: &str| result.results.iter().find(|it| it.id.as_str() == member);
    let started = result.results.iter().map(|it| &it.id);
    let ids = started.chain(&result.not_started);
    let merges: Vec<_> = ids.clone().map(MemberId::as_str).collect();
    let is_task = |id: &&MemberId| merges.contains(&merge_member(id.as_str()).as_str());
    let tasks: Vec<_> = ids.filter(is_task).map(MemberId::as_str).collect();
    let mut merged = 0;
    let mut lines = Vec::new();
    if let Some(start) = find(START).filter(|it| !it.success) {
        lines.push(format!("  failed       {START}: {}", error(start)));
    }
    for task in &tasks {
        let line = match (find(task), find(&merge_member(task))) {
            (_, Some(merge)) if merge.success => {
                merged += 1;
                format!("  merged       {task}")
            }
            (_, Some(merge)) => format!("  failed       {task}: {}", error(merge)),
            (Some(work), None) if !work.success => {
                format!("  failed       {task}: {}", error(work))
            }
            (Some(_), None) => format!("  not merged   {task}"),
            (None, None) => format!("  not started  {task}"),
        };
        lines.push(line);
    }
    let branch = integration_branch(run);
    let count = tasks.len();
    lines.insert(
        0,
        format!("Fleet {run} ended: {merged} of {count} tasks are on the branch {branch}"),
    );
    if let Some(reason) = &report.cut_short {
        lines.push(sanitize_line(&format!("It ended early: {reason}")));
    }
    lines
}

fn error(report: &MemberReport) -> String {
    sanitize_line(report.error.as_deref().unwrap_or("unknown"))
}

#[cfg(test)]
mod tests {
    use autonoe_core::Mode;
    use serde_json::Value;

    use super::*;

    const ROADMAP: &str = "## Objective\nA calculator.\n## Tasks\n\
        - [ ] **parser**: Read sums.\n  - success: {\"type\": \"file\", \"path\": \"parser.rs\"}\n\
        - [x] **done**: Begin.\n- [ ] **shell**: Ask for a line.\n  - depends: parser, done\n  - success: It looks good.\n";

    fn spec(roadmap: &str) -> Result<RunSpec, AppError> {
        let roadmap = Roadmap::parse("ROADMAP.md".as_ref(), roadmap).expect("a roadmap");
        let options = FleetOptions {
            roadmap: "ROADMAP.md".as_ref(),
            repository: "/srv/git/shop.git",
            max_concurrent: None,
        };
        let limits = RunLimits {
            budget: Budget::default().with_cost(CostUsd::from_cents(600)),
            ..RunLimits::new(Mode::Run)
        };
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace = TraceContext::parse(trace, None).expect("a trace");
        fleet_spec(&options, &roadmap, RunId::new("night"), (&limits, trace))
    }

    #[test]
    fn each_task_has_a_merge_that_its_dependents_wait_for() {
        let spec = spec(ROADMAP).expect("a fleet");

        let members = spec.input["members"].as_array().expect("members");
        let ids: Vec<_> = members.iter().map(|member| &member["id"]).collect();
        let expected = [
            "fleet.start",
            "parser",
            "parser.merge",
            "shell",
            "shell.merge",
        ];
        assert_eq!(ids, expected);
        let after = &spec.input["strategy"]["after"];
        assert_eq!(after["parser"], serde_json::json!(["fleet.start"]));
        assert_eq!(after["parser.merge"], serde_json::json!(["parser"]));
        assert_eq!(
            after["shell"],
            serde_json::json!(["fleet.start", "parser.merge"])
        );
    }

    #[test]
    fn each_member_has_the_trace_of_the_submitter_and_a_part_of_the_budget() {
        let spec = spec(ROADMAP).expect("a fleet");

        for member in spec.input["members"].as_array().expect("members") {
            let is_merge = member["job"] == MERGE_JOB;
            let work = &member["work"];
            let trace = &work["trace"];
            assert!(trace.to_string().contains("0af7651916cd43dd"), "{member}");
            let cost = &member["allowance"]["costUsd"];
            let expected = match (is_merge, member["id"].as_str()) {
                (true, Some("shell.merge")) => "0.75",
                (true, _) => "0",
                (false, Some("shell")) => "2.25",
                (false, _) => "3",
            };
            assert_eq!(*cost, expected, "{member}");
            let limit = &work["limits"]["budget"]["costUsd"];
            assert_eq!(*limit, Value::Null, "{member}");
        }
    }

    #[test]
    fn task_that_a_worker_cannot_do_is_refused() {
        for (attribute, reason) in [("cli: codex", "backend"), ("model: m", "backend")] {
            let roadmap = format!("## Tasks\n- [ ] **a**: One.\n  - {attribute}\n");

            let error = spec(&roadmap).expect_err("it is refused").to_string();

            assert!(error.contains(reason), "{error}");
        }
    }
}
