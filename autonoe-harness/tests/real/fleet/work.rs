//! What members do: the task in a worktree, on one of the programs.

use std::path::Path;
use std::sync::Arc;

use autonoe_harness::{
    Author, Executors, FleetHome, FleetMember, HarnessId, Isolation, MemberWork, SuccessCriteria,
    Task, WhenDone, WorkOrder,
};

use super::cli::Cli;
use crate::setting::Place;

/// The name of the fleet.
pub(super) const FLEET: &str = "login";

pub(super) fn home(place: &Place) -> FleetHome {
    FleetHome::of(place.project())
}

pub(super) fn author() -> Author {
    Author::new("Ada", "ada@example.org")
}

/// Makes executors for a folder, of the programs whose models are at these places.
pub(super) fn workshop(
    place: &Place,
    urls: impl IntoIterator<Item = (Cli, String)>,
) -> impl Fn(&Path) -> Executors + Clone + Send + Sync + 'static {
    let executors = urls.into_iter().map(|(cli, url)| {
        let agents = cli.agents(place, &url);
        place.executor(cli.name(), agents)
    });
    let executors: Vec<_> = executors.collect();
    move |folder: &Path| {
        let executors = executors.iter().cloned();
        executors.fold(Executors::default(), |all, executor| {
            all.with(Arc::new(executor.in_folder(folder)))
        })
    }
}

pub(super) fn member_work(
    place: &Place,
    urls: impl IntoIterator<Item = (Cli, String)>,
) -> MemberWork {
    MemberWork::new(home(place), workshop(place, urls))
        .git(place.commands())
        .author(author())
}

/// A member that has the task done by one of the programs, and leaves it to others to merge it.
pub(super) fn member(cli: Cli, success: SuccessCriteria, iterations: u32) -> FleetMember {
    let isolation = Isolation::Worktree {
        name: cli.name().to_owned(),
        base: None,
        when_done: WhenDone::Keep,
    };
    let task = Task::new("T-1", "Write hello to hello.txt.").expect("an id");
    let task = task.success(success);
    let mut order = WorkOrder::new([task], isolation).backend(cli.name());
    order.max_iterations = iterations;
    FleetMember::new(HarnessId::new(cli.name()), order)
}
