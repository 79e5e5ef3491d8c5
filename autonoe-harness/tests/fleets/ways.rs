//! Fleets that are killed while one of their members tries other ways.

use std::process::Command;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::{
    Arrangement, Exploration, FleetOrder, HarnessId, Ladder, WorkEvent, WorkJournal,
};

use crate::roles::{Host, lead, write_order};
use crate::setting::{Project, eventually, roadmap, unhurried, within};

/// Long enough to be killed in.
const PACE: Duration = Duration::from_millis(300);

/// Two tasks, of which the first is done on the second way only.
pub(crate) fn order() -> FleetOrder {
    let mut two_ways = Exploration::default();
    (two_ways.branches, two_ways.iterations) = (2, 2);
    let tasks = roadmap(&[("a", &[]), ("b", &["a"])]);
    let order = FleetOrder::of_tasks("f", &tasks, Arrangement::AsTheyDepend);
    unhurried(order.expect("it can be done")).each(|work| {
        work.ladder = Ladder::none().then(two_ways.clone());
        work.thresholds.identical_outputs = 2;
        for planned in &mut work.tasks {
            let is_lost = planned.task.id.as_str() == "a";
            planned.task.model = is_lost.then(|| "lost".to_owned());
        }
    })
}

/// In the first way, in the second, and when that has passed and is to be merged.
const MOMENTS: [fn(&WorkEvent) -> bool; 3] = [
    |event| began_on(event, ".way-1"),
    |event| began_on(event, ".way-2"),
    |event| {
        matches!(
            event,
            WorkEvent::Iterated {
                branch: Some(_),
                result: Some(_),
                ..
            }
        )
    },
];

fn began_on(event: &WorkEvent, way: &str) -> bool {
    matches!(event, WorkEvent::IterationBegan { branch: Some(branch), .. } if branch.contains(way))
}

async fn started(project: &Project, moment: fn(&WorkEvent) -> bool) -> Host {
    write_order(project, &order());
    let host = Host::start(project, PACE);
    let folder = project.home().folder_of("f", &HarnessId::new("a"));
    let journal = folder.expect("an id").path().join("work.jsonl");
    let is_now = || {
        let events = WorkJournal::read(&journal).unwrap_or_default();
        events.last().is_some_and(moment)
    };
    eventually("the moment", is_now).await;
    host
}

/// The second way is in the base, and the first is kept.
async fn ends_well(project: &Project) {
    let outcome = lead(project, Duration::ZERO).await;
    assert!(outcome.result.success, "{outcome:?}");
    let files = ["a.txt", "b.txt", "readme.md"];
    assert_eq!(project.committed("main"), files);
    assert_eq!(project.branches(), ["autonoe/f/a.a.way-1", "main"]);
    assert_eq!(outcome.kept.len(), 1, "{outcome:?}");
    project.nobody_lives();
}

#[tokio::test]
async fn a_member_that_is_killed_on_another_way_goes_on_there() {
    for moment in MOMENTS {
        let project = Project::with_git();
        let mut host = started(&project, moment).await;
        let folder = project.home().folder_of("f", &HarnessId::new("a"));
        let pid = folder.expect("an id").view().expect("readable").pid;
        let pid = pid.expect("it lives").to_string();

        let killed = Command::new("kill").args(["-KILL", &pid]).status();

        assert!(killed.expect("it starts").success());
        eventually("the end of the fleet", || host.ended().is_some()).await;
        ends_well(&project).await;
    }
}

#[tokio::test]
async fn other_ways_that_hold_no_work_are_not_kept_when_the_fleet_is_stopped_in_one() {
    let project = Project::with_git();
    let order = order().each(|work| {
        for planned in &mut work.tasks {
            planned.task.model = Some("mute".to_owned());
        }
    });
    let run = project.run_with_git(&project.agents(PACE), &order).await;
    let folder = project.home().folder_of("f", &HarnessId::new("a"));
    let journal = folder.expect("an id").path().join("work.jsonl");
    let is_on_a_way = || {
        let events = WorkJournal::read(&journal).unwrap_or_default();
        events.iter().any(|event| began_on(event, ".way-1"))
    };
    let control = RunControl::new();
    let stopping = async {
        eventually("another way", is_on_a_way).await;
        control.cancel();
    };

    let (outcome, ()) = tokio::join!(within(run.run(&control)), stopping);

    let outcome = outcome.expect("it is led");
    assert!(!outcome.result.success, "{outcome:?}");
    assert_eq!(outcome.kept, []);
    project.is_clean();
}

#[tokio::test]
async fn a_member_that_leaves_while_it_is_on_another_way_goes_on_there() {
    for moment in MOMENTS {
        let project = Project::with_git();
        let mut host = started(&project, moment).await;

        host.kill();

        ends_well(&project).await;
    }
}
