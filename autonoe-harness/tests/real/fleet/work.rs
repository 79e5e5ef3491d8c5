//! What members do: the task in a worktree, on one of the programs.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{JobRunner, RunDesk, RunOutcome, RunSpec};
use autonoe_harness::{
    Author, Executors, Isolation, MemberJob, SuccessCriteria, Task, TaskLoop, WhenDone, WorkOrder,
    Worktrees,
};

use super::cli::Cli;
use crate::setting::{PATIENCE, Place};

/// The name of the fleet.
pub(super) const FLEET: &str = "login";

/// The loop that a member's order is given to.
pub(super) struct MemberWork(TaskLoop);

#[async_trait]
impl JobRunner for MemberWork {
    async fn carry_out(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let job = MemberJob::of(run).expect("a member");
        let run = RunSpec::new(run.id.clone(), run.job.clone(), job.work);
        self.0.carry_out(&run, desk).await
    }
}

pub(super) fn member_work(
    place: &Place,
    urls: impl IntoIterator<Item = (Cli, String)>,
    trees: Worktrees,
) -> MemberWork {
    let executors = urls.into_iter().map(|(cli, url)| {
        let agents = cli.agents(place, &url);
        place.executor(cli.name(), agents)
    });
    let executors: Vec<_> = executors.collect();
    let workshop = move |folder: &Path| {
        let executors = executors.iter().cloned();
        executors.fold(Executors::default(), |all, executor| {
            all.with(Arc::new(executor.in_folder(folder)))
        })
    };
    MemberWork(
        TaskLoop::new(place.project(), workshop)
            .isolated_in(trees)
            .author(author()),
    )
}

pub(super) async fn trees(place: &Place) -> Worktrees {
    let project = place.project();
    let folder = project.join(".harness/worktrees");
    let trees = Worktrees::open(&project, &folder, FLEET, place.commands()).await;
    trees.expect("a repository").within(PATIENCE)
}

pub(super) fn author() -> Author {
    Author::new("Ada", "ada@example.org")
}

pub(super) fn order(cli: Cli, success: SuccessCriteria, iterations: u32) -> WorkOrder {
    let isolation = Isolation::Worktree {
        name: cli.name().to_owned(),
        base: None,
        when_done: WhenDone::Keep,
    };
    let task = Task::new("T-1", "Write hello to hello.txt.").expect("an id");
    let task = task.success(success);
    let mut order = WorkOrder::new([task], isolation).backend(cli.name());
    order.max_iterations = iterations;
    order
}
