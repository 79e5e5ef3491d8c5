//! Tests of the alerts of a fleet.

use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::alert::{AlertLog, Severity};
use autonoe_harness::folder::MemberStatus;
use autonoe_harness::recovery::Ladder;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{FleetOrder, Graph};

use crate::fleets::fixture::{Project, eventually, roadmap, unhurried, within};

const PACE: Duration = Duration::from_millis(20);

fn order() -> FleetOrder {
    let order = FleetOrder::from_tasks("f", &roadmap(&[("a", &[])]), Graph::default());
    let order = unhurried(order.expect("it can be done").without_worktrees());
    order.each(|work| work.ladder = Ladder::none())
}

fn kinds(log: &AlertLog) -> Vec<(String, Severity)> {
    let alerts = log.read().expect("readable").alerts.into_iter();
    alerts.map(|alert| (alert.kind, alert.severity)).collect()
}

#[tokio::test]
async fn a_finished_task_is_in_the_alert_logs_of_the_member_and_of_all() {
    let project = Project::new();
    let agents = project.agents(PACE);

    let run = project.run(&agents, &order());
    run.run(&RunControl::new()).await.expect("it ends");

    let home = project.home();
    let member = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let done = ("task_done".to_owned(), Severity::Success);
    assert_eq!(kinds(&member.alert_log()), std::slice::from_ref(&done));
    let ended = ("finished".to_owned(), Severity::Success);
    let shared = project.path().join(".harness/alerts.log");
    assert_eq!(home.shared_alert_log(), shared);
    assert_eq!(kinds(&AlertLog::new(shared)), [done, ended]);
}

// Shows: fleets/alerts/pause
#[tokio::test]
async fn critical_alert_alone_pauses_nothing() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let mut order = order();
    let second = roadmap(&[("z", &[])]).tasks;
    order.members[0].work.tasks.extend(second);
    order.members[0].work.tasks[0].task.model = Some("mute".to_owned());

    let run = project.run(&agents, &order);
    let outcome = within(run.run(&RunControl::new())).await;

    assert!(!outcome.expect("it ends").success);
    assert_eq!(project.turns(), ["project z"]);
    let home = project.home();
    let member = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let alerts = kinds(&member.alert_log());
    let is_critical = |(_, severity): &(String, Severity)| *severity == Severity::Critical;
    assert!(alerts.iter().any(is_critical), "{alerts:?}");
}

// Shows: fleets/alerts/pause
#[tokio::test]
async fn a_critical_alert_pauses_the_member_until_it_is_resumed() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let mut order = order();
    order.pause_on_critical = true;
    // Stuck, with nothing left to try: the first task fails, and the second waits for a person.
    let second = roadmap(&[("z", &[])]).tasks;
    order.members[0].work.tasks.extend(second);
    order.members[0].work.tasks[0].task.model = Some("mute".to_owned());
    let home = project.home();
    let member = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let person = async {
        let status = || member.view().ok().map(|view| view.status);
        eventually("the pause", || status() == Some(MemberStatus::Paused)).await;
        let turns = project.turns();
        home.request_resume("f").expect("writable");
        turns
    };

    let run = project.run(&agents, &order);
    let control = RunControl::new();
    let (outcome, turns) = within(async { tokio::join!(run.run(&control), person) }).await;

    assert_eq!(turns, Vec::<String>::new());
    assert!(!outcome.expect("it ends").success);
    assert_eq!(project.turns(), ["project z"]);
    let own = kinds(&member.alert_log());
    let critical = own
        .iter()
        .filter(|(_, severity)| *severity == Severity::Critical);
    let critical: Vec<_> = critical.map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(critical, ["recovery_exhausted"], "{own:?}");
    let all = kinds(&AlertLog::new(home.shared_alert_log()));
    assert!(own.iter().all(|alert| all.contains(alert)), "{all:?}");
}
