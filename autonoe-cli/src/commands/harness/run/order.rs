//! Order of a fleet, from the command line and a roadmap.

use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::{Project, read_text_file};
use autonoe_harness::{
    Arrangement, AskPerson, Attendance, BackendModel, Escalation, Exploration, FleetOrder, Ladder,
    PromptMutation, Race, Roadmap, Voting,
};

use super::backends::Backends;
use crate::args::{FleetStrategy, HarnessRunArgs};
use crate::error::{CliError, whole};
use crate::surroundings::Surroundings;

/// The largest roadmap that is read.
const LARGEST: u64 = 4 * 1024 * 1024;

/// The time limit of a fleet without `--max-time`.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Reads a roadmap. The error lists every mistake with its line.
pub(super) fn read(file: &Path, surroundings: &Surroundings) -> Result<Roadmap, CliError> {
    let path = surroundings.working_dir.join(file);
    let text = match read_text_file(&path, LARGEST) {
        Ok(Some(text)) => text,
        Ok(None) => {
            let message = format!("there is no roadmap {}", file.display());
            return Err(CliError::failure(message)
                .with_hint("write one, as docs/guides/harness.md shows it"));
        }
        Err(error) => return Err(CliError::failure(whole(&error))),
    };
    Roadmap::parse(file, &text)
        .map_err(|error| CliError::failure(format!("the roadmap cannot be followed\n{error}")))
}

/// Formats the warnings of a roadmap, each with its line.
pub(super) fn roadmap_warnings(file: &Path, roadmap: &Roadmap) -> Vec<String> {
    let place = file.display();
    let warnings = roadmap.warnings.iter();
    warnings
        .map(|found| format!("{place}:{}: {}", found.line, found.message))
        .collect()
}

/// Returns where a roadmap is, from the project on if it is in there: the same however it is named.
pub(super) fn place_of(file: &Path, project: &Project, surroundings: &Surroundings) -> PathBuf {
    let path = surroundings.working_dir.join(file);
    let path = path.canonicalize().unwrap_or(path);
    let root = project.root().canonicalize();
    let root = root.unwrap_or_else(|_| project.root().to_owned());
    path.strip_prefix(root).map_or(path.clone(), Path::to_owned)
}

/// Orders a fleet.
pub(super) fn order(
    args: &HarnessRunArgs,
    roadmap: &Roadmap,
    backends: &Backends,
) -> Result<FleetOrder, CliError> {
    let name = name_of(args)?;
    let tasks = |arrangement| {
        FleetOrder::of_tasks(&name, roadmap, arrangement)
            .map_err(|error| CliError::failure(error.to_string()))
    };
    let order = match args.strategy {
        FleetStrategy::Graph => tasks(Arrangement::AsTheyDepend)?,
        FleetStrategy::Parallel => tasks(Arrangement::AllAtOnce)?,
        FleetStrategy::Pipeline => tasks(Arrangement::OneAfterTheOther)?,
        FleetStrategy::Race | FleetStrategy::Voting(_) => contest(args, &name, roadmap, backends)?,
    };
    let order = order
        .max_concurrent(args.max_concurrent)
        .time(args.max_time.unwrap_or(A_YEAR))
        .budget(args.allowance())
        .each(|work| {
            work.backend
                .get_or_insert_with(|| backends.usual().to_owned());
            work.model = work.model.take().or_else(|| args.model.clone());
            work.max_iterations = args.max_iterations;
            work.ladder = ladder(args);
            work.attendance = match args.attended {
                true => Attendance::Attended,
                false => Attendance::Unattended,
            };
        });
    let order = match args.pause_on_critical {
        true => order.pausing_on_critical(),
        false => order,
    };
    let order = match args.no_worktrees {
        true => order.without_worktrees(),
        false => order,
    };
    let checked = order.check();
    checked.map_err(|error| CliError::failure(error.to_string()))?;
    Ok(order)
}

/// Says which members have another name than their task.
pub(super) fn renamed(order: &FleetOrder) -> Vec<String> {
    let of_one_task = order.members.iter().filter_map(|member| {
        let [planned] = member.work.tasks.as_slice() else {
            return None;
        };
        Some((&member.id, &planned.task.id))
    });
    of_one_task
        .filter(|(member, task)| member.as_str() != task.as_str())
        .filter(|_| !matches!(order.strategy.typetag_name(), "race" | "voting"))
        .map(|(member, task)| {
            format!(
                "the task {:?} is done by the member {member}",
                task.as_str()
            )
        })
        .collect()
}

fn contest(
    args: &HarnessRunArgs,
    name: &str,
    roadmap: &Roadmap,
    backends: &Backends,
) -> Result<FleetOrder, CliError> {
    let contenders = backends.contenders();
    if args.no_worktrees {
        return Err(CliError::usage(
            "contenders do the same work, so each needs a worktree: leave --no-worktrees out",
        ));
    }
    let too_few = |least: usize, what: &str| {
        let hint = "give --backend several times: each is a contender";
        match contenders.len() < least {
            true => {
                Err(CliError::usage(format!("{what} needs {least} contenders")).with_hint(hint))
            }
            false => Ok(()),
        }
    };
    Ok(match args.strategy {
        FleetStrategy::Voting(criterion) => {
            too_few(args.min_votes.get(), "this vote")?;
            let voting = Voting {
                min_votes: args.min_votes,
                criterion,
                wait_for_all: args.wait_for_all,
            };
            FleetOrder::of_contenders(name, roadmap, voting, contenders)
        }
        _ => {
            too_few(2, "a race")?;
            FleetOrder::of_contenders(name, roadmap, Race {}, contenders)
        }
    })
}

/// What is tried when an agent is stuck: the usual, with those that can be escalated to.
fn ladder(args: &HarnessRunArgs) -> Ladder {
    let to = args.escalate_to.iter().map(|backend| {
        let able = BackendModel::new(backend.name());
        match &backend.model {
            Some(model) => able.model(model),
            None => able,
        }
    });
    let mut escalation = Escalation::default();
    escalation.to = to.collect();
    Ladder::none()
        .then(PromptMutation::default())
        .then(escalation)
        .then(Exploration::default())
        .then(AskPerson::default())
}

/// Returns what the fleet is called: as it is said, else as the file is.
fn name_of(args: &HarnessRunArgs) -> Result<String, CliError> {
    if let Some(name) = &args.name {
        return Ok(name.clone());
    }
    let stem = args.roadmap.file_stem().unwrap_or_default();
    let plain = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => '-',
    };
    let name: String = stem.to_string_lossy().chars().map(plain).collect();
    match name.trim_matches('-') {
        "" => Err(CliError::usage("the fleet has no name").with_hint("give it one with --name")),
        name => Ok(name.to_owned()),
    }
}
