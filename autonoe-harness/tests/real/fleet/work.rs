//! Fixture: the work of the members, in a worktree and on one of the CLIs.

use std::path::Path;
use std::sync::Arc;

use autonoe_harness::isolation::Author;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::work::{Isolation, WhenDone, WorkOrder};
use autonoe_harness::{Executors, FleetHome, FleetMember, MemberWork, SuccessCriteria, Task};

use super::cli::Cli;
use crate::fixture::Fixture;

/// The name of the fleet.
pub(super) const FLEET: &str = "login";

pub(super) fn home(place: &Fixture) -> FleetHome {
    FleetHome::new(place.project())
}

pub(super) fn author() -> Author {
    Author::new("Ada", "ada@example.org")
}

/// Builds the executors for a folder, of the CLIs whose models have these addresses.
pub(super) fn workshop(
    place: &Fixture,
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
            all.executor(Arc::new(executor.root(folder)))
        })
    }
}

pub(super) fn member_work(
    place: &Fixture,
    urls: impl IntoIterator<Item = (Cli, String)>,
) -> MemberWork {
    MemberWork::new(home(place), workshop(place, urls))
        .git(place.commands())
        .author(author())
}

/// A member that runs the task on one of the CLIs, and leaves its work on its branch.
pub(super) fn member(cli: Cli, success: SuccessCriteria, iterations: u32) -> FleetMember {
    let isolation = Isolation::Worktree {
        name: cli.name().to_owned(),
        base: None,
        when_done: WhenDone::Keep,
    };
    let task = Task::new("T-1", "Write hello to hello.txt.").expect("an id");
    let task = task.success_criteria(success);
    let mut order = WorkOrder::new([task], isolation).backend(cli.name());
    order.max_iterations = iterations;
    FleetMember::new(MemberId::new(cli.name()), order)
}
