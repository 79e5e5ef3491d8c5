//! Fleets that are asked for something by files.

use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::{Arrangement, CutShort, FleetOrder, HarnessStatus};

use crate::fleets::setting::{Project, eventually, roadmap, unhurried, within};

const PACE: Duration = Duration::from_millis(20);

/// The first member does as `model` says.
fn order(model: &str) -> FleetOrder {
    let tasks: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"])];
    let order = FleetOrder::of_tasks("f", &roadmap(tasks), Arrangement::AsTheyDepend);
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
    // The pause must come before the slow agent is done.
    let agents = project.agents(PACE * 5);
    let home = project.home();
    let person = async {
        eventually("the first turn", || !agents.prompts().is_empty()).await;
        home.ask_pause("f").expect("writable");
        eventually("the pause", || log(&project).contains("paused")).await;
        eventually("the end of a", || log(&project).contains("a succeeded")).await;
        let started = home.folders_of("f").expect("readable").len();
        home.ask_resume("f").expect("writable");
        started
    };

    let run = project.run(&agents, &order("slow"));
    let control = RunControl::new();
    let (outcome, started) = within(async { tokio::join!(run.run(&control), person) }).await;

    assert!(outcome.expect("it ends").result.success);
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
    home.ask_pause("f").expect("writable");
    let person = async {
        eventually("the pause", || log(&project).contains("paused")).await;
        let started = home.folders_of("f").expect("readable").len();
        home.ask_resume("f").expect("writable");
        started
    };

    let run = project.run(&agents, &order("quick"));
    let control = RunControl::new();
    let (outcome, started) = within(async { tokio::join!(run.run(&control), person) }).await;

    assert_eq!(started, 0);
    assert!(outcome.expect("it ends").result.success);
    let log = log(&project);
    assert!(log.find("resumed") < log.find("a started"), "{log}");
}

#[tokio::test]
async fn a_stop_ends_the_fleet_for_good_and_its_reason_is_told() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let home = project.home();
    let person = async {
        eventually("the first turn", || !agents.prompts().is_empty()).await;
        home.ask_stop("f", "it costs too much").expect("writable");
    };

    let run = project.run(&agents, &order("idle"));
    let control = RunControl::new();
    let (outcome, ()) = within(async { tokio::join!(run.run(&control), person) }).await;

    let outcome = outcome.expect("it ends");
    assert_eq!(outcome.cut_short, Some(CutShort::Cancelled));
    assert_eq!(outcome.stopped.as_deref(), Some("it costs too much"));
    let members = home.folders_of("f").expect("readable");
    let status = members[0].view().expect("readable").status;
    assert_eq!((members.len(), status), (1, HarnessStatus::Stopped));
    let again = run.run(&control).await.expect("it has ended");
    assert_eq!(again, outcome);
    assert_eq!(project.turns(), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_said_to_the_fleet_reaches_the_agents_at_work_once() {
    let project = Project::new();
    let agents = project.agents(PACE * 5);
    let order = order("broken");
    let control = RunControl::new();
    let person = async {
        eventually("the first turn", || !agents.prompts().is_empty()).await;
        control.instruct("Use tabs.");
        let is_told = |prompt: &String| prompt.contains("Use tabs.");
        eventually("the word", || agents.prompts().iter().any(is_told)).await;
        control.cancel();
    };

    let run = project.run(&agents, &order);
    let (outcome, ()) = within(async { tokio::join!(run.run(&control), person) }).await;

    outcome.expect("it ends");
    let told = agents.prompts().into_iter();
    let told = told.filter(|prompt| prompt.contains("Use tabs.")).count();
    assert_eq!(told, 1);
}
