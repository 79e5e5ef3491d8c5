//! Tests of fleets that are killed while a member explores other approaches.

use std::process::Command;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::recovery::{Exploration, Ladder};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::work::{WorkEvent, WorkJournal};
use autonoe_harness::{FleetOrder, Graph};

use crate::fleets::fixture::{Project, eventually, roadmap, unhurried, within};
use crate::fleets::roles::{Host, run_coordinator, write_order};

/// Long enough for a kill, on a machine that is not busy.
const PACE: Duration = Duration::from_millis(300);

/// Maximum number of fleets that a test starts to hit a moment.
const TRIES: u32 = 10;

/// Two tasks, of which the first only succeeds in its second exploration.
pub(crate) fn order() -> FleetOrder {
    let mut two_ways = Exploration::default();
    (two_ways.branches, two_ways.iterations) = (2, 2);
    let tasks = roadmap(&[("a", &[]), ("b", &["a"])]);
    let order = FleetOrder::from_tasks("f", &tasks, Graph::default());
    unhurried(order.expect("it can be done")).each(|work| {
        work.ladder = Ladder::none().then(two_ways.clone());
        work.thresholds.identical_outputs = 2;
        for planned in &mut work.tasks {
            let is_lost = planned.task.id.as_str() == "a";
            planned.task.model = is_lost.then(|| "lost".to_owned());
        }
    })
}

/// During the first exploration, during the second, and when that has passed and is to be merged.
const MOMENTS: [fn(&WorkEvent) -> bool; 3] = [
    |event| is_iteration_on(event, ".way-1"),
    |event| is_iteration_on(event, ".way-2"),
    |event| {
        matches!(
            event,
            WorkEvent::IterationEnded {
                branch: Some(_),
                result: Some(_),
                ..
            }
        )
    },
];

fn is_iteration_on(event: &WorkEvent, way: &str) -> bool {
    matches!(event, WorkEvent::IterationStarted { branch: Some(branch), .. } if branch.contains(way))
}

/// Starts a fleet and calls `kill` at `moment`.
///
/// On a busy machine, the moment can pass before this function sees it, or before `kill` finds the
/// process. Then the function starts over with another fleet, whose turns take longer.
async fn killed_at(
    moment: fn(&WorkEvent) -> bool,
    kill: impl Fn(&Project, &mut Host) -> bool,
) -> (Project, Host) {
    for number in 1..=TRIES {
        let project = Project::with_git();
        write_order(&project, &order());
        let mut host = Host::start(&project, PACE * number);
        let folder = project.home().member_folder("f", &MemberId::new("a"));
        let journal = folder.expect("an id").path().join("work.jsonl");
        let mut is_now = false;
        eventually("the moment or the end of the fleet", || {
            let events = WorkJournal::read(&journal).unwrap_or_default();
            is_now = events.last().is_some_and(moment);
            is_now || host.ended().is_some()
        })
        .await;
        if is_now && kill(&project, &mut host) {
            return (project, host);
        }
    }
    panic!("{TRIES} fleets passed the moment before it was seen");
}

/// Kills the process of the member `a`; returns whether it was alive.
fn kill_member(project: &Project) -> bool {
    let folder = project.home().member_folder("f", &MemberId::new("a"));
    let view = folder.expect("an id").view().expect("readable");
    let Some(pid) = view.pid else {
        return false;
    };
    let killed = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status();
    killed.expect("it starts").success()
}

/// The second exploration is in the base, and the first is kept.
async fn ends_well(project: &Project) {
    let outcome = run_coordinator(project, Duration::ZERO).await;
    assert!(outcome.success, "{outcome:?}");
    let files = ["a.txt", "b.txt", "readme.md"];
    assert_eq!(project.committed("main"), files);
    assert_eq!(project.branches(), ["autonoe/f/a.a.way-1", "main"]);
    assert_eq!(outcome.unmerged_work.len(), 1, "{outcome:?}");
    project.assert_no_member_process();
}

#[tokio::test]
async fn a_member_that_is_killed_in_an_exploration_resumes_there() {
    for moment in MOMENTS {
        let (project, mut host) = killed_at(moment, |project, _| kill_member(project)).await;

        eventually("the end of the fleet", || host.ended().is_some()).await;
        ends_well(&project).await;
    }
}

#[tokio::test]
async fn explorations_without_work_are_not_kept_when_the_fleet_is_stopped() {
    let project = Project::with_git();
    let order = order().each(|work| {
        for planned in &mut work.tasks {
            planned.task.model = Some("mute".to_owned());
        }
    });
    let run = project.run_with_git(&project.agents(PACE), &order).await;
    let folder = project.home().member_folder("f", &MemberId::new("a"));
    let journal = folder.expect("an id").path().join("work.jsonl");
    let is_on_a_way = || {
        let events = WorkJournal::read(&journal).unwrap_or_default();
        events.iter().any(|event| is_iteration_on(event, ".way-1"))
    };
    let control = RunControl::new();
    let stopping = async {
        eventually("another way", is_on_a_way).await;
        control.cancel();
    };

    let (outcome, ()) = tokio::join!(within(run.run(&control)), stopping);

    let outcome = outcome.expect("it is led");
    assert!(!outcome.success, "{outcome:?}");
    assert_eq!(outcome.unmerged_work, []);
    project.is_clean();
}

#[tokio::test]
async fn a_member_that_leaves_during_an_exploration_resumes_there() {
    for moment in MOMENTS {
        let kill = |_: &Project, host: &mut Host| {
            host.kill();
            true
        };
        let (project, _host) = killed_at(moment, kill).await;

        ends_well(&project).await;
    }
}
