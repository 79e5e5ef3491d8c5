//! Tests of requests to a fleet through files.

use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::coordinate::CutShort;
use autonoe_harness::folder::MemberStatus;
use autonoe_harness::shared::Cursor;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{FleetOrder, Graph};

use crate::fleets::fixture::{Project, eventually, roadmap, unhurried, within};

const PACE: Duration = Duration::from_millis(20);

/// The first member behaves as `model` selects.
fn order(model: &str) -> FleetOrder {
    let tasks: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"])];
    let order = FleetOrder::from_tasks("f", &roadmap(tasks), Graph::default());
    let mut order = unhurried(order.expect("it can be done").without_worktrees());
    order.members[0].work.model = Some(model.to_owned());
    order
}

fn log(project: &Project) -> String {
    let lines = project.home().log("f", 99).expect("readable");
    lines.join("\n")
}

#[tokio::test]
async fn a_pause_holds_until_it_is_resumed() {
    let project = Project::new();
    // The pause must arrive before the slow agent has finished.
    let agents = project.agents(PACE * 5);
    let home = project.home();
    let person = async {
        eventually("the first turn", || !agents.prompts().is_empty()).await;
        home.request_pause("f").expect("writable");
        eventually("the pause", || log(&project).contains("paused")).await;
        eventually("the end of a", || log(&project).contains("a succeeded")).await;
        let started = home.member_folders("f").expect("readable").len();
        home.request_resume("f").expect("writable");
        started
    };

    let run = project.run(&agents, &order("slow"));
    let control = RunControl::new();
    let (outcome, started) = within(async { tokio::join!(run.run(&control), person) }).await;

    assert!(outcome.expect("it ends").success);
    assert_eq!(started, 1);
    assert_eq!(project.turns(), ["project a", "project b"]);
    let log = log(&project);
    let at = |line: &str| log.find(line).expect(line);
    assert!(
        at("a succeeded") < at("resumed") && at("resumed") < at("b started"),
        "{log}"
    );
}

#[tokio::test]
async fn a_pause_from_before_the_start_holds() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let home = project.home();
    home.request_pause("f").expect("writable");
    let person = async {
        eventually("the pause", || log(&project).contains("paused")).await;
        let started = home.member_folders("f").expect("readable").len();
        home.request_resume("f").expect("writable");
        started
    };

    let run = project.run(&agents, &order("quick"));
    let control = RunControl::new();
    let (outcome, started) = within(async { tokio::join!(run.run(&control), person) }).await;

    assert_eq!(started, 0);
    assert!(outcome.expect("it ends").success);
    let log = log(&project);
    assert!(log.find("resumed") < log.find("a started"), "{log}");
}

#[tokio::test]
async fn a_stop_ends_the_fleet_for_good_and_its_reason_is_reported() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let home = project.home();
    let person = async {
        eventually("the first turn", || !agents.prompts().is_empty()).await;
        home.request_stop("f", "it costs too much")
            .expect("writable");
    };

    let run = project.run(&agents, &order("idle"));
    let control = RunControl::new();
    let (outcome, ()) = within(async { tokio::join!(run.run(&control), person) }).await;

    let outcome = outcome.expect("it ends");
    assert_eq!(outcome.cut_short, Some(CutShort::Cancelled));
    assert_eq!(outcome.stopped.as_deref(), Some("it costs too much"));
    let members = home.member_folders("f").expect("readable");
    let status = members[0].view().expect("readable").status;
    assert_eq!((members.len(), status), (1, MemberStatus::Stopped));
    let second = run.run(&control).await.expect("it has ended");
    assert_eq!(second, outcome);
    assert_eq!(project.turns(), Vec::<String>::new());
}

// Shows: fleets/shared/stop-event
#[tokio::test]
async fn a_stopped_member_shares_a_stop_event() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let home = project.home();
    let member = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let person = async {
        eventually("the first turn", || !agents.prompts().is_empty()).await;
        member.request_stop("seen enough").expect("writable");
    };

    let run = project.run(&agents, &order("idle"));
    let control = RunControl::new();
    let (outcome, ()) = within(async { tokio::join!(run.run(&control), person) }).await;

    assert!(!outcome.expect("it ends").success);
    let shared = home.shared().await.expect("it opens");
    let events = shared.events_since(Cursor::START, 9).await;
    let events = events.expect("readable").into_iter();
    let kinds: Vec<_> = events.map(|event| event.event.kind).collect();
    assert_eq!(kinds, ["spawn", "progress", "stop"]);
}

#[tokio::test]
async fn a_message_to_the_fleet_reaches_the_running_agents_once() {
    let project = Project::new();
    let agents = project.agents(PACE * 5);
    let order = order("broken");
    let control = RunControl::new();
    let person = async {
        eventually("the first turn", || !agents.prompts().is_empty()).await;
        control.instruct("Use tabs.");
        let has_message = |prompt: &String| prompt.contains("Use tabs.");
        eventually("the word", || agents.prompts().iter().any(has_message)).await;
        control.cancel();
    };

    let run = project.run(&agents, &order);
    let (outcome, ()) = within(async { tokio::join!(run.run(&control), person) }).await;

    outcome.expect("it ends");
    let matching = agents.prompts().into_iter();
    let matching = matching
        .filter(|prompt| prompt.contains("Use tabs."))
        .count();
    assert_eq!(matching, 1);
}
