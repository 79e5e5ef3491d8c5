//! Fleets in processes of their own, killed in the middle and run again.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use autonoe_harness::{
    Arrangement, AttemptEnding, Contender, FleetOrder, HarnessFolder, HarnessId, MetaState, Race,
    SqliteState, StateStore, TaskStatus, WorkEvent, WorkJournal,
};

use crate::fleets::roles::{Host, lead, write_order};
use crate::fleets::setting::{Project, eventually, roadmap, unhurried};

/// Long enough to be killed in, on a machine that is not busy.
const LONG: Duration = Duration::from_millis(1500);

/// For a turn that ends by a kill only.
const ENDLESS: Duration = Duration::from_secs(600);

const SHORT: Duration = Duration::from_millis(20);

fn tasks() -> FleetOrder {
    let tasks: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["a"])];
    let order = FleetOrder::of_tasks("f", &roadmap(tasks), Arrangement::AsTheyDepend);
    unhurried(order.expect("it can be done"))
}

fn member(project: &Project, id: &str) -> HarnessFolder {
    let folder = project.home().folder_of("f", &HarnessId::new(id));
    folder.expect("an id")
}

fn events(folder: &HarnessFolder) -> Vec<WorkEvent> {
    WorkJournal::read(&folder.path().join("work.jsonl")).unwrap_or_default()
}

fn is_in_a_turn(folder: &HarnessFolder) -> bool {
    let events = events(folder);
    matches!(events.last(), Some(WorkEvent::IterationBegan { .. }))
}

/// Each task of each member that was started ended once, by what its state and its journal say.
async fn each_ended_once(project: &Project) {
    for folder in project.home().folders_of("f").expect("readable") {
        let state = SqliteState::open(&folder.path().join("state.db")).await;
        let state = state.expect("it opens");
        state.integrity_check().await.expect("it is whole");
        let mut done = BTreeMap::<_, u32>::new();
        for event in events(&folder) {
            if let WorkEvent::Iterated {
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
            let attempts = state.attempts(id).await.expect("readable");
            let completed =
                |ending: &Option<AttemptEnding>| *ending == Some(AttemptEnding::Completed);
            let completed = attempts.iter().filter(|it| completed(&it.ending)).count();
            assert!(completed <= 1, "{attempts:?}");
            assert!(
                attempts.iter().all(|it| it.ending.is_some()),
                "{attempts:?}"
            );
        }
    }
    let meta = project.home().meta().await.expect("it opens");
    meta.integrity_check().await.expect("it is whole");
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
    let outcome = lead(&project, SHORT).await;
    assert!(outcome.result.success, "{outcome:?}");
    assert_eq!(project.turns(), ["a a", "b b", "c c"]);
    assert_eq!(
        project.committed("main"),
        ["a.txt", "b.txt", "c.txt", "readme.md"]
    );
    each_ended_once(&project).await;
    project.is_clean();
    project.nobody_lives();
}

#[tokio::test]
async fn a_sub_harness_that_is_killed_is_gone_on_with_and_its_task_ends_once() {
    // On a busy machine, the agent can be done before the kill. Then the test starts over with
    // longer turns.
    for pace in [LONG, LONG * 3, LONG * 9] {
        let project = Project::with_git();
        write_order(&project, &tasks());
        let mut host = Host::start(&project, pace);
        let first = member(&project, "a");
        let began = || {
            let events = events(&first).into_iter();
            let began = events.filter(|event| matches!(event, WorkEvent::IterationBegan { .. }));
            began.count()
        };
        eventually("the first turn", || began() > 0).await;
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
        assert_eq!(began(), 2);
        assert_eq!(project.turns(), ["a a", "b b", "c c"]);
        each_ended_once(&project).await;
        project.is_clean();
        project.nobody_lives();
        return;
    }
    panic!("each of the agents was done before the kill");
}

fn race() -> FleetOrder {
    let contenders = [("one", "slow"), ("two", "quick")]
        .map(|(name, model)| Contender::new(name).backend("agent").model(model));
    let tasks = roadmap(&[("a", &[])]);
    let order = FleetOrder::of_contenders("f", &tasks, Race {}, contenders);
    unhurried(order)
}

#[tokio::test]
async fn a_race_whose_coordinator_is_killed_is_won_once_and_leaves_nothing() {
    let project = Project::with_git();
    write_order(&project, &race());
    let mut host = Host::start(&project, ENDLESS);
    for name in ["one", "two"] {
        let folder = member(&project, name);
        eventually("the first turn", || is_in_a_turn(&folder)).await;
    }

    host.kill();

    // The slow contender needs 20 seconds, so the quick one wins on a busy machine too.
    let outcome = lead(&project, SHORT * 10).await;
    assert!(outcome.result.success, "{outcome:?}");
    assert_eq!(outcome.result.winner, Some(HarnessId::new("two")));
    assert_eq!(project.committed("main"), ["a.txt", "readme.md"]);
    project.is_clean();
    project.nobody_lives();
}

#[tokio::test]
async fn what_was_decided_before_a_kill_is_concluded_and_not_decided_again() {
    let project = Project::with_git();
    write_order(&project, &race());
    let mut host = Host::start(&project, LONG);
    let log = || project.home().log("f", 99).expect("readable").join("\n");
    eventually("the decision", || log().contains("the strategy is done")).await;

    host.kill();

    let outcome = lead(&project, SHORT).await;
    assert_eq!(outcome.result.winner, Some(HarnessId::new("two")));
    assert!(outcome.result.success, "{outcome:?}");
    assert_eq!(outcome.merged, Some(project.git(&["rev-parse", "main"])));
    assert_eq!(log().matches("the strategy is done").count(), 1);
    assert_eq!(project.turns(), ["two a"]);
    project.is_clean();
    project.nobody_lives();
}
