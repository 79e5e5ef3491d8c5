//! Tests of running a fleet more than once.

use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::folder::MemberStatus;
use autonoe_harness::state::StateError;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{FleetOrder, FleetRun, FleetRunError, Graph};

use crate::fleets::fixture::{OFTEN, Project, eventually, roadmap, unhurried, within};

fn order(tasks: &[(&str, &[&str])]) -> FleetOrder {
    let order = FleetOrder::from_tasks("f", &roadmap(tasks), Graph::default());
    unhurried(order.expect("it can be done").without_worktrees())
}

const PACE: Duration = Duration::from_millis(20);

#[tokio::test]
async fn a_fleet_that_has_ended_returns_its_report() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let run = || project.run(&agents, &order(&[("a", &[])]));
    let first = run().run(&RunControl::new()).await.expect("it ends");

    let second = run().run(&RunControl::new()).await.expect("it has ended");

    assert_eq!(second, first);
    assert_eq!(project.turns(), ["project a"]);
}

#[tokio::test]
async fn another_order_under_its_name_is_refused_with_advice() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let run = |order| project.run(&agents, &order);
    let first = run(order(&[("a", &[])])).run(&RunControl::new()).await;
    first.expect("it ends");

    let other = run(order(&[("b", &[])])).run(&RunControl::new()).await;

    let error = other.expect_err("it is another one");
    assert!(
        matches!(error, FleetRunError::OrderConflict { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("choose another name"), "{error}");
    assert_eq!(project.turns(), ["project a"]);
}

#[tokio::test]
async fn a_member_of_another_order_is_never_reattached() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let order = order(&[("a", &[])]);
    let first = project.run(&agents, &order).run(&RunControl::new()).await;
    let first = first.expect("it ends");
    for file in ["meta_state.db", "meta_state.db-wal", "meta_state.db-shm"] {
        // The last process that closes the database removes the other two.
        let _ = std::fs::remove_file(project.home().path().join(file));
    }

    let mut other = order.clone();
    other.members[0].work.tasks[0].task.description = "Something else.".to_owned();
    let other = project.run(&agents, &other).run(&RunControl::new()).await;

    let error = other.expect_err("it is another one").to_string();
    assert!(error.contains("f.a/order.json"), "{error}");
    assert!(error.contains("another order"), "{error}");
    // The refused order was not recorded.
    let again = project.run(&agents, &order).run(&RunControl::new()).await;
    assert_eq!(again.expect("it has ended"), first);
    assert_eq!(project.turns(), ["project a"]);
}

#[tokio::test]
async fn a_second_leader_is_refused_with_the_process_of_the_first() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let mut order = order(&[("a", &[])]);
    order.members[0].work.model = Some("slow".to_owned());
    let leader = || project.home().coordinator("f").expect("readable");
    let second = async {
        eventually("the first", || leader().is_some()).await;
        let run = project.run(&agents, &order);
        (leader(), run.run(&RunControl::new()).await)
    };

    let (run, control) = (project.run(&agents, &order), RunControl::new());
    let (first, (leader, second)) = tokio::join!(run.run(&control), second);

    let own = std::process::id();
    assert_eq!(leader, Some(own));
    let error = second.expect_err("it is led").to_string();
    assert_eq!(error, format!("process {own} already runs the fleet f"));
    assert!(first.expect("it ends").success);
}

#[tokio::test]
async fn a_suspended_leader_is_refused_after_another_has_taken_over() {
    let project = Project::new();
    let agents = project.agents(PACE * 25);
    let order = order(&[("a", &[])]);
    let home = project.home();
    let folder = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let (run, control) = (project.run(&agents, &order), RunControl::new());
    let mut first = Box::pin(run.run(&control));
    let is_running = || {
        let view = folder.view();
        view.is_ok_and(|view| view.status == MemberStatus::Running)
    };
    tokio::select! {
        ended = &mut first => panic!("it ended too early: {ended:?}"),
        () = eventually("the member", is_running) => {}
    }

    // From now on, the first leader is not polled, as if its process were suspended. The lock of
    // the operating system stays with the deleted file.
    std::fs::remove_file(home.path().join("f/lock")).expect("it was there");
    let second = project.run(&agents, &order).run(&RunControl::new()).await;

    let second = second.expect("it leads");
    assert!(second.success, "{second:?}");
    let refused = within(first).await.expect_err("another one leads");
    assert!(
        matches!(
            refused,
            FleetRunError::State(StateError::Fenced { epoch: 1, .. })
        ),
        "{refused:?}"
    );
    let record = home.fleet("f").await.expect("readable");
    let record = record.expect("it is kept");
    assert_eq!((record.epoch, record.result), (2, Some(second)));
    assert_eq!(project.turns(), ["project a"]);
}

#[tokio::test]
async fn a_lock_that_a_killed_leader_left_to_a_child_is_waited_for() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let folder = project.home().path().join("f");
    std::fs::create_dir_all(&folder).expect("a folder");
    let left = std::fs::File::create(folder.join("lock")).expect("a file");
    left.lock().expect("it is free");
    let begins = async {
        // Then it tries to lead.
        while project.home().fleet("f").await.expect("readable").is_none() {
            tokio::task::yield_now().await;
        }
        drop(left);
    };

    let (run, control) = (
        project.run(&agents, &order(&[("a", &[])])),
        RunControl::new(),
    );
    let (ended, ()) = within(async { tokio::join!(run.run(&control), begins) }).await;

    assert!(ended.expect("it leads").success);
}

#[tokio::test]
async fn a_fleet_dropped_at_any_moment_resumes_and_repeats_nothing() {
    let project = Project::new();
    let agents = project.agents(PACE * 5);
    let order = order(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]);
    let engine = project.in_process(&agents);
    let run = || FleetRun::new(project.home(), order.clone(), engine.clone()).every(OFTEN);

    let mut lives = 0;
    let outcome = loop {
        lives += 1;
        let (run, control) = (run(), RunControl::new());
        let life = tokio::time::timeout(PACE / 2 * lives, run.run(&control));
        if let Ok(outcome) = life.await {
            break outcome.expect("it ends");
        }
        assert!(lives < 1000, "it does not come to its end");
    };

    assert!(outcome.success, "{outcome:?}");
    assert!(lives > 3, "{lives}");
    assert_eq!(project.turns(), ["project a", "project b", "project c"]);
    let record = project.home().fleet("f").await.expect("readable");
    assert!(record.expect("it is kept").epoch > 1);
}
