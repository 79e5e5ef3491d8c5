//! Tests of fleets in separate processes that are killed and run again.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use autonoe_harness::folder::MemberFolder;
use autonoe_harness::shared::Cursor;
use autonoe_harness::state::{SqliteState, TaskStatus};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::work::{WorkEvent, WorkJournal};
use autonoe_harness::{Candidate, FleetOrder, Graph, MemberHandle, Race};

use crate::fleets::fixture::{Project, eventually, roadmap, unhurried};
use crate::fleets::roles::{Host, run_coordinator, write_order};
use crate::intact::assert_intact;

/// Long enough for a kill, on a machine that is not busy.
const LONG: Duration = Duration::from_millis(1500);

/// For a turn that only ends by a kill.
const ENDLESS: Duration = Duration::from_secs(600);

const SHORT: Duration = Duration::from_millis(20);

fn tasks() -> FleetOrder {
    let tasks: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["a"])];
    let order = FleetOrder::from_tasks("f", &roadmap(tasks), Graph::default());
    unhurried(order.expect("it can be done"))
}

fn member(project: &Project, id: &str) -> MemberFolder {
    let folder = project.home().member_folder("f", &MemberId::new(id));
    folder.expect("an id")
}

fn events(folder: &MemberFolder) -> Vec<WorkEvent> {
    WorkJournal::read(&folder.path().join("work.jsonl")).unwrap_or_default()
}

fn is_in_a_turn(folder: &MemberFolder) -> bool {
    let events = events(folder);
    matches!(events.last(), Some(WorkEvent::IterationStarted { .. }))
}

/// Each task of each started member ended once, according to its state and its journal.
async fn each_ended_once(project: &Project) {
    for folder in project.home().member_folders("f").expect("readable") {
        let path = folder.path().join("state.db");
        let state = SqliteState::open(&path).await.expect("it opens");
        assert_intact(&path);
        let mut done = BTreeMap::<_, u32>::new();
        for event in events(&folder) {
            if let WorkEvent::IterationEnded {
                task,
                result: Some(_),
                ..
            } = event
            {
                *done.entry(task).or_default() += 1;
            }
        }
        for task in state.tasks().await.expect("readable") {
            let id = &task.task.id;
            assert_eq!(task.status, TaskStatus::Completed, "{} {id}", folder.id());
            assert_eq!(done.get(id), Some(&1), "{} {id}", folder.id());
        }
    }
    let meta = project.home().meta().await.expect("it opens");
    assert_intact(&project.home().path().join("meta_state.db"));
    let record = meta
        .fleet("f")
        .await
        .expect("readable")
        .expect("it is kept");
    assert!(record.result.is_some());
}

#[tokio::test]
async fn a_coordinator_that_is_killed_is_followed_by_one_that_loses_nothing() {
    let project = Project::with_git();
    write_order(&project, &tasks());
    let mut host = Host::start(&project, ENDLESS);
    let first = member(&project, "a");
    eventually("the first turn", || is_in_a_turn(&first)).await;
    assert!(project.home().coordinator("f").expect("readable").is_some());

    host.kill();

    assert_eq!(project.home().coordinator("f").expect("readable"), None);
    let outcome = run_coordinator(&project, SHORT).await;
    assert!(outcome.success, "{outcome:?}");
    assert_eq!(project.turns(), ["a a", "b b", "c c"]);
    assert_eq!(
        project.committed("main"),
        ["a.txt", "b.txt", "c.txt", "readme.md"]
    );
    each_ended_once(&project).await;
    project.is_clean();
    project.assert_no_member_process();
}

#[tokio::test]
async fn a_killed_member_is_resumed_and_its_task_ends_once() {
    // On a busy machine, the agent can finish before the kill. Then the test starts over with
    // longer turns.
    for pace in [LONG, LONG * 3, LONG * 9] {
        let project = Project::with_git();
        write_order(&project, &tasks());
        let mut host = Host::start(&project, pace);
        let first = member(&project, "a");
        let iterations = || {
            let events = events(&first).into_iter();
            let iterations =
                events.filter(|event| matches!(event, WorkEvent::IterationStarted { .. }));
            iterations.count()
        };
        eventually("the first turn", || iterations() > 0).await;
        let Some(pid) = first.view().expect("readable").pid else {
            continue;
        };

        let killed = Command::new("kill")
            .args(["-KILL", &pid.to_string()])
            .status();

        if !killed.expect("it starts").success() || !project.turns().is_empty() {
            continue;
        }
        eventually("the end of the fleet", || host.ended().is_some()).await;
        assert_eq!(host.ended(), Some(true));
        assert_eq!(iterations(), 2);
        assert_eq!(project.turns(), ["a a", "b b", "c c"]);
        each_ended_once(&project).await;
        project.is_clean();
        project.assert_no_member_process();
        return;
    }
    panic!("each of the agents was done before the kill");
}

#[tokio::test]
async fn the_end_of_a_killed_member_is_shared_by_its_coordinator() {
    let project = Project::with_git();
    write_order(&project, &tasks());
    let mut host = Host::start(&project, ENDLESS);
    let first = member(&project, "a");
    eventually("the first turn", || is_in_a_turn(&first)).await;

    let handle = MemberHandle::open(first.clone()).expect("it is there");
    handle.kill(Duration::ZERO).await.expect("it ends");

    eventually("the end of the fleet", || host.ended().is_some()).await;
    let shared = project.home().shared().await.expect("it opens");
    let events = shared.events_since(Cursor::START, 9).await;
    let mut events = events.expect("readable").into_iter();
    let spawn = events.next().expect("its start").event;
    let end = events.next_back().expect("its end").event;
    assert_eq!((spawn.kind.as_str(), end.kind.as_str()), ("spawn", "stop"));
    assert_eq!(end.member.as_ref(), Some(first.id()));
    assert!(end.details["error"].is_string(), "{end:?}");
    assert!(spawn.at <= end.at);
    let artifact = format!("{}.md", first.id()).parse().expect("a name");
    let artifact = shared.consume_artifact(&artifact).await;
    assert_eq!(
        artifact.expect("it is published").metadata["success"],
        false
    );
}

fn race() -> FleetOrder {
    let candidates = [("one", "slow"), ("two", "quick")].map(|(name, model)| Candidate {
        backend: Some("agent".to_owned()),
        model: Some(model.to_owned()),
        ..Candidate::new(name)
    });
    let tasks = roadmap(&[("a", &[])]);
    let order = FleetOrder::from_candidates("f", &tasks, Race {}, candidates);
    unhurried(order)
}

#[tokio::test]
async fn a_race_whose_coordinator_is_killed_has_one_winner_and_leaves_nothing() {
    let project = Project::with_git();
    write_order(&project, &race());
    let mut host = Host::start(&project, ENDLESS);
    for name in ["one", "two"] {
        let folder = member(&project, name);
        eventually("the first turn", || is_in_a_turn(&folder)).await;
    }

    host.kill();

    // The slow candidate needs 20 seconds, so the quick one wins on a busy machine too.
    let outcome = run_coordinator(&project, SHORT * 10).await;
    assert!(outcome.success, "{outcome:?}");
    assert_eq!(outcome.winner, Some(MemberId::new("two")));
    assert_eq!(project.committed("main"), ["a.txt", "readme.md"]);
    project.is_clean();
    project.assert_no_member_process();
}

#[tokio::test]
async fn a_decision_before_a_kill_is_concluded_and_not_repeated() {
    let project = Project::with_git();
    write_order(&project, &race());
    let mut host = Host::start(&project, LONG);
    let log = || project.home().log("f", 99).expect("readable").join("\n");
    eventually("the decision", || {
        log().contains("the strategy has finished")
    })
    .await;

    host.kill();

    let outcome = run_coordinator(&project, SHORT).await;
    assert_eq!(outcome.winner, Some(MemberId::new("two")));
    assert!(outcome.success, "{outcome:?}");
    assert_eq!(outcome.merged, Some(project.git(&["rev-parse", "main"])));
    assert_eq!(log().matches("the strategy has finished").count(), 1);
    assert_eq!(project.turns(), ["two a"]);
    project.is_clean();
    project.assert_no_member_process();
}
