//! Builds the order of a fleet from the command line and a roadmap.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::Project;
use autonoe_core::project::read_text_file;
use autonoe_harness::recovery::{
    AskPerson, Attendance, BackendModel, Escalation, Exploration, Ladder, PromptMutation,
};
use autonoe_harness::strategy::VotingCriterion;
use autonoe_harness::{FleetOrder, Roadmap, Strategy, Voting};
use serde_json::Value;

use super::backends::Backends;
use crate::args::{FleetStrategy, HarnessRunArgs};
use crate::cli_env::CliEnv;
use crate::error::{CliError, error_chain};

/// Maximum size of a roadmap, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The time limit of a fleet without `--max-time`.
const DEFAULT_MAX_TIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Reads and parses a roadmap. The error lists every mistake with its line.
pub(super) fn read(file: &Path, env: &CliEnv) -> Result<Roadmap, CliError> {
    let path = env.working_dir.join(file);
    let text = match read_text_file(&path, MAX_BYTES) {
        Ok(Some(text)) => text,
        Ok(None) => {
            let message = format!("the roadmap {} does not exist", file.display());
            return Err(CliError::failure(message)
                .with_hint("docs/guides/harness.md shows how to write one"));
        }
        Err(error) => return Err(CliError::failure(error_chain(&error))),
    };
    Roadmap::parse(file, &text)
        .map_err(|error| CliError::failure(format!("the roadmap is invalid\n{error}")))
}

/// Formats the warnings of a roadmap, each with its line.
pub(super) fn roadmap_warnings(file: &Path, roadmap: &Roadmap) -> Vec<String> {
    let place = file.display();
    let warnings = roadmap.warnings.iter();
    warnings
        .map(|found| format!("{place}:{}: {}", found.line, found.message))
        .collect()
}

/// Returns the canonical path of a roadmap, relative to the project if it is inside.
pub(super) fn roadmap_path(file: &Path, project: &Project, env: &CliEnv) -> PathBuf {
    let path = env.working_dir.join(file);
    let path = path.canonicalize().unwrap_or(path);
    let root = project.root().canonicalize();
    let root = root.unwrap_or_else(|_| project.root().to_owned());
    path.strip_prefix(root).map_or(path.clone(), Path::to_owned)
}

/// Builds the order of a fleet.
pub(super) fn order(
    args: &HarnessRunArgs,
    name: &str,
    roadmap: &Roadmap,
    backends: &Backends,
) -> Result<FleetOrder, CliError> {
    let strategy: Arc<dyn Strategy> = match &args.strategy {
        FleetStrategy::Other(strategy) => strategy.clone(),
        FleetStrategy::Voting(criterion) => Arc::new(Voting {
            min_votes: args.min_votes,
            criterion: *criterion,
            wait_for_all: args.wait_for_all,
        }),
    };
    let order = if strategy.picks_winner() {
        candidate_order(args, name, roadmap, backends, strategy)?
    } else {
        FleetOrder::from_tasks(name, roadmap, strategy)
            .map_err(|error| CliError::failure(error.to_string()))?
    };
    let mut order = order.budget(args.allowance()).each(|work| {
        work.backend
            .get_or_insert_with(|| backends.default_name().to_owned());
        work.model = work.model.take().or_else(|| args.model.clone());
        work.max_iterations = args.max_iterations;
        work.ladder = ladder(args);
        work.attendance = if args.attended {
            Attendance::Attended
        } else {
            Attendance::Unattended
        };
    });
    order.max_concurrent = args.max_concurrent;
    order.time = args.max_time.unwrap_or(DEFAULT_MAX_TIME);
    order.pause_on_critical = args.pause_on_critical;
    let order = if args.no_worktrees {
        order.without_worktrees()
    } else {
        order
    };
    let checked = order.validate();
    checked.map_err(|error| CliError::failure(error.to_string()))?;
    Ok(order)
}

/// Returns a warning for each member whose name differs from its task.
pub(super) fn rename_warnings(order: &FleetOrder) -> Vec<String> {
    let of_one_task = order.members.iter().filter_map(|member| {
        let [planned] = member.work.tasks.as_slice() else {
            return None;
        };
        Some((&member.id, &planned.task.id))
    });
    of_one_task
        .filter(|(member, task)| member.as_str() != task.as_str())
        .filter(|_| !order.strategy.picks_winner())
        .map(|(member, task)| {
            format!(
                "the task {:?} is done by the member {member}",
                task.as_str()
            )
        })
        .collect()
}

/// Returns a warning for each task that names a backend or a model, if the strategy ignores them.
pub(super) fn candidate_warnings(strategy: &dyn Strategy, roadmap: &Roadmap) -> Vec<String> {
    if !strategy.picks_winner() {
        return Vec::new();
    }
    let open = roadmap.tasks.iter().filter(|planned| !planned.is_done);
    open.map(|planned| &planned.task)
        .filter(|task| task.cli.is_some() || task.model.is_some())
        .map(|task| {
            format!(
                "the task {:?} names a backend or a model, which has no effect in a race or a vote: \
                 each candidate does all tasks on its own backend and model",
                task.id.as_str()
            )
        })
        .collect()
}

/// Returns a warning if all successes of a vote are equal, because no criterion of the roadmap
/// counts what the vote compares.
pub(super) fn vote_warning(strategy: &FleetStrategy, roadmap: &Roadmap) -> Option<String> {
    let (name, types): (&str, &[&str]) = match strategy {
        FleetStrategy::Voting(VotingCriterion::BestTests) => ("best-tests", &["tests"]),
        FleetStrategy::Voting(VotingCriterion::BestProgress) => {
            ("best-progress", &["tests", "any"])
        }
        FleetStrategy::Voting(
            VotingCriterion::First | VotingCriterion::LowestFailures | VotingCriterion::Fastest,
        )
        | FleetStrategy::Other(_) => return None,
    };
    let mut open = roadmap.tasks.iter().filter(|planned| !planned.is_done);
    if open.any(|planned| {
        let criteria = serde_json::to_value(&planned.task.success_criteria);
        has_type(&criteria.unwrap_or_default(), types)
    }) {
        return None;
    }
    let types = types.join(" or ");
    Some(format!(
        "no task has a criterion of the type {types}, so voting:{name} decides by the first member \
         to end"
    ))
}

/// Returns whether a criterion or one of its parts has one of these types.
fn has_type(criteria: &Value, types: &[&str]) -> bool {
    match criteria {
        Value::Object(fields) => {
            let tag = fields.get("type").and_then(Value::as_str);
            tag.is_some_and(|tag| types.contains(&tag))
                || fields.values().any(|part| has_type(part, types))
        }
        Value::Array(parts) => parts.iter().any(|part| has_type(part, types)),
        _ => false,
    }
}

fn candidate_order(
    args: &HarnessRunArgs,
    name: &str,
    roadmap: &Roadmap,
    backends: &Backends,
    strategy: Arc<dyn Strategy>,
) -> Result<FleetOrder, CliError> {
    let candidates = backends.candidates();
    if args.no_worktrees {
        return Err(CliError::usage(
            "candidates do the same work, so each needs a worktree: remove --no-worktrees",
        ));
    }
    let (least, contest) = match &args.strategy {
        FleetStrategy::Voting(_) => (args.min_votes.get(), "this vote".to_owned()),
        FleetStrategy::Other(strategy) => (2, format!("a {}", strategy.typetag_name())),
    };
    if candidates.len() < least {
        let hint = "repeat --backend: each backend is a candidate";
        return Err(CliError::usage(format!("{contest} needs {least} candidates")).with_hint(hint));
    }
    Ok(FleetOrder::from_candidates(
        name, roadmap, strategy, candidates,
    ))
}

/// Returns the recovery ladder: the default steps, with the backends of `--escalate-to`.
fn ladder(args: &HarnessRunArgs) -> Ladder {
    let to = args.escalate_to.iter().map(|backend| BackendModel {
        model: backend.model.clone(),
        ..BackendModel::new(backend.name())
    });
    let mut escalation = Escalation::default();
    escalation.to = to.collect();
    Ladder::none()
        .then(PromptMutation::default())
        .then(escalation)
        .then(Exploration::default())
        .then(AskPerson::default())
}

/// Returns the name of the fleet: `--name`, or else the file name of the roadmap.
pub(super) fn fleet_name(args: &HarnessRunArgs) -> Result<String, CliError> {
    if let Some(name) = &args.name {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(CliError::usage(format!(
                "{name:?} cannot be the name of a fleet: use letters, digits, `-` and `_`"
            )));
        }
        return Ok(name.clone());
    }
    let stem = args.roadmap.file_stem().unwrap_or_default();
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let name: String = stem.to_string_lossy().chars().map(plain).collect();
    match name.trim_matches('-') {
        "" => Err(CliError::usage("the fleet has no name").with_hint("set one with --name")),
        name => Ok(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use autonoe_harness::{Graph, Race};

    use super::*;

    // Shows: fleets/executor/candidates
    #[test]
    fn a_contest_warns_about_the_ignored_backend_of_a_task() {
        let text = "## Tasks\n- [ ] **a**: One.\n  - cli: codex\n- [ ] **b**: Two.\n  - model: m\n\
                    - [ ] **c**: Three.\n- [x] **d**: Four.\n  - cli: codex\n";
        let roadmap = Roadmap::parse("ROADMAP.md".as_ref(), text).expect("a roadmap");

        let race = candidate_warnings(&Race {}, &roadmap);
        let graph = candidate_warnings(&Graph::default(), &roadmap);

        let named = ["\"a\"", "\"b\""];
        assert_eq!(race.len(), named.len(), "{race:?}");
        for (warning, task) in race.iter().zip(named) {
            assert!(warning.contains(task), "{warning}");
        }
        assert_eq!(graph, Vec::<String>::new());
    }

    #[test]
    fn a_vote_warns_about_criteria_that_cannot_rank_candidates() {
        let command = "`cargo test`";
        let tests = r#"{"type": "tests", "command": ["cargo"], "report": "junit.xml"}"#;
        let all = r#"{"type": "all", "criteria": ["It works.", {"type": "tests", "command": ["cargo"], "report": "junit.xml"}]}"#;
        let any = r#"{"type": "any", "criteria": ["It works.", {"type": "file", "path": "a"}]}"#;
        for (criterion, success, is_warned) in [
            (VotingCriterion::BestTests, command, true),
            (VotingCriterion::BestTests, any, true),
            (VotingCriterion::BestTests, tests, false),
            (VotingCriterion::BestTests, all, false),
            (VotingCriterion::BestProgress, command, true),
            (VotingCriterion::BestProgress, any, false),
            (VotingCriterion::BestProgress, tests, false),
            (VotingCriterion::Fastest, command, false),
        ] {
            let text = format!(
                "## Tasks\n- [ ] **a**: One.\n  - success: {success}\n- [ ] **b**: Two.\n- [x] **c**: \
                 Three.\n  - success: {tests}\n"
            );
            let roadmap = Roadmap::parse("ROADMAP.md".as_ref(), &text).expect("a roadmap");

            let warning = vote_warning(&FleetStrategy::Voting(criterion), &roadmap);

            assert_eq!(warning.is_some(), is_warned, "{criterion:?} {success}");
        }
    }
}
