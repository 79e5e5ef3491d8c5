//! Tests of fleets that do the tasks of a roadmap.

use std::time::Duration;

use autonoe_core::engine::{JobContext, JobRunner};
use autonoe_core::{Budget, CostUsd, RunControl};
use autonoe_harness::coordinate::CutShort;
use autonoe_harness::shared::Cursor;
use autonoe_harness::state::{SqliteState, TaskStatus};
use autonoe_harness::strategy::{IntoStrategy, MemberId, MemberState};
use autonoe_harness::work::{WorkEvent, WorkJournal};
use autonoe_harness::{Allowance, FleetOrder, Graph, Pipeline};
use serde_json::json;

use crate::fleets::fixture::{Project, roadmap, unhurried};

fn order(tasks: &[(&str, &[&str])], strategy: impl IntoStrategy) -> FleetOrder {
    let order = FleetOrder::from_tasks("f", &roadmap(tasks), strategy);
    unhurried(order.expect("it can be done").without_worktrees())
}

const PACE: Duration = Duration::from_millis(20);

#[tokio::test]
async fn tasks_run_in_dependency_order_and_everything_is_recorded() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let tasks: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])];
    let order = order(tasks, Graph::default());

    let outcome = project.run(&agents, &order).run(&RunControl::new()).await;

    let outcome = outcome.expect("it ends");
    assert!(outcome.success, "{outcome:?}");
    assert_eq!(project.turns(), ["project a", "project b", "project c"]);
    let home = project.home();
    let record = home
        .fleet("f")
        .await
        .expect("readable")
        .expect("it is kept");
    assert_eq!(record.result.as_ref(), Some(&outcome));
    assert!(record.members.iter().all(|member| {
        matches!(&member.state, MemberState::Ended { result, .. } if result.success)
    }));
    let log = home.log("f", 99).expect("readable").join("\n");
    for line in ["a started", "b succeeded", "the strategy has finished"] {
        assert!(log.contains(line), "{log}");
    }
    assert_eq!(home.coordinator("f").expect("readable"), None);
    let recorded = serde_json::from_value::<FleetOrder>(record.spec).expect("an order");
    assert_eq!(serde_json::json!(recorded), serde_json::json!(order));
}

#[tokio::test]
async fn a_member_records_its_state_and_shares_its_outcome() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let order = order(&[("a", &[])], Graph::default());

    let run = project.run(&agents, &order);
    run.run(&RunControl::new()).await.expect("it ends");

    let home = project.home();
    let folder = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let state = SqliteState::open(&folder.path().join("state.db")).await;
    let state = state.expect("it opens");
    let id = "a".parse().expect("an id");
    let task = state
        .load_task(&id)
        .await
        .expect("readable")
        .expect("there");
    assert_eq!(task.status, TaskStatus::Completed);
    assert_eq!(task.output.as_deref(), Some("I have written a.txt."));
    let executions = state.executions(&id).await.expect("readable");
    assert_eq!((executions.len(), executions[0].success), (1, true));
    assert_eq!(executions[0].attempt, 1);
    assert!(home.path().join("shared/context.db").exists());
    let shared = home.shared().await.expect("it opens");
    let events: Vec<_> = shared
        .events_since(Cursor::START, 9)
        .await
        .expect("readable")
        .into_iter()
        .map(|event| event.event)
        .map(|event| (event.kind, event.member, event.details))
        .collect();
    let progress = json!({
        "task": "a", "iteration": 1, "branch": null, "score": events[1].2["score"], "passed": true,
    });
    let complete = json!({"progress": 1.0, "error": null, "artifact": "f.a.md"});
    let expected = [
        ("spawn", json!({"run": "f.a"})),
        ("progress", progress),
        ("complete", complete),
    ];
    let member = Some(MemberId::new("f.a"));
    let expected = expected.map(|(kind, about)| (kind.to_owned(), member.clone(), about));
    assert_eq!(events, expected);
    let artifact = shared
        .consume_artifact(&"f.a.md".parse().expect("a name"))
        .await;
    let output = std::fs::read_to_string(artifact.expect("it is published").path);
    assert_eq!(output.expect("a file"), "I have written a.txt.");
}

#[tokio::test]
async fn an_instruction_is_shared_after_its_delivery() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let order = order(&[("a", &[])], Graph::default());
    let home = project.home();
    let folder = home.member_folder("f", &MemberId::new("a")).expect("an id");
    std::fs::create_dir_all(folder.path()).expect("a folder");
    let posted = folder.post("Use tabs.", jiff::Timestamp::UNIX_EPOCH);
    posted.expect("it is written");

    let run = project.run(&agents, &order);
    run.run(&RunControl::new()).await.expect("it ends");

    assert!(agents.prompts()[0].contains("Use tabs."));
    let shared = home.shared().await.expect("it opens");
    let events: Vec<_> = shared
        .events_since(Cursor::START, 9)
        .await
        .expect("readable")
        .into_iter()
        .map(|event| (event.event.kind, event.event.details))
        .collect();
    let kinds: Vec<_> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["spawn", "instruction", "progress", "complete"]);
    let about = json!({"id": "1", "text": "Use tabs.", "task": "a"});
    assert_eq!(events[1].1, about);
}

// Shows: fleets/state/projection
#[tokio::test]
async fn a_changed_state_is_rebuilt_from_the_journal_without_duplicate_events() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let mut order = order(&[("a", &[])], Graph::default());
    // Two tasks, one of which fails.
    order.members[0]
        .work
        .tasks
        .extend(roadmap(&[("z", &[])]).tasks);
    order.members[0].work.tasks[1].task.model = Some("broken".to_owned());
    order.members[0].work.max_iterations = 1;
    let run = project.run(&agents, &order);
    run.run(&RunControl::new()).await.expect("it ends");
    let home = project.home();
    let folder = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let database = rusqlite::Connection::open(folder.path().join("state.db"));
    let database = database.expect("it opens");
    let changed = database.execute("UPDATE tasks SET status = 'pending'", []);
    assert_eq!(changed.expect("writable"), 2);
    drop(database);

    let context = JobContext::new(RunControl::new(), |_| {});
    let order = folder.order().expect("an order");
    let outcome = project.member_work(&agents).run(&order, &context).await;

    assert!(!outcome.is_success());
    assert_eq!(project.turns(), ["project a"]);
    let state = SqliteState::open(&folder.path().join("state.db")).await;
    let tasks = state.expect("it opens").tasks().await.expect("readable");
    let status: Vec<_> = tasks.iter().map(|task| task.status).collect();
    assert_eq!(status, [TaskStatus::Completed, TaskStatus::Failed]);
    let shared = home.shared().await.expect("it opens");
    let events = shared.events_since(Cursor::START, 9).await;
    let events = events.expect("readable").into_iter();
    let kinds: Vec<_> = events.map(|event| event.event.kind).collect();
    assert_eq!(kinds, ["spawn", "progress", "progress", "fail"]);
    let name = "f.a.md".parse().expect("a name");
    let artifact = shared.consume_artifact(&name).await.expect("there");
    assert_eq!(artifact.version, 1);
}

#[tokio::test]
async fn an_end_that_was_shared_before_a_kill_is_corrected_by_the_next_process() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let order = FleetOrder::from_tasks("f", &roadmap(&[("a", &[])]), Graph::default());
    let order = unhurried(order.expect("it can be done"));
    let untracked = project.path().join("a.txt");
    std::fs::write(&untracked, "mine").expect("writable");
    let run = project.run_with_git(&agents, &order).await;
    let first = run.run(&RunControl::new()).await.expect("it ends");
    assert!(!first.success, "{first:?}");
    std::fs::remove_file(untracked).expect("it is there");
    let home = project.home();
    let folder = home.member_folder("f", &MemberId::new("a")).expect("an id");

    // As if the process had been killed before it recorded the failure.
    let context = JobContext::new(RunControl::new(), |_| {});
    let job = folder.order().expect("an order");
    let second = project.member_work(&agents).run(&job, &context).await;

    assert!(second.is_success(), "{second:?}");
    let shared = home.shared().await.expect("it opens");
    let events = shared.events_since(Cursor::START, 9).await;
    let events: Vec<_> = events
        .expect("readable")
        .into_iter()
        .map(|event| event.event)
        .collect();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["spawn", "progress", "fail"]);
    let artifact = shared
        .consume_artifact(&"f.a.md".parse().expect("a name"))
        .await;
    assert_eq!(artifact.expect("there").metadata["success"], true);
    // The end is dated after the merge, which follows the end of the task.
    let journal = WorkJournal::read(&folder.path().join("work.jsonl")).expect("readable");
    let task_ended = journal.iter().find_map(|event| match event {
        WorkEvent::Ended { at, .. } => Some(*at),
        _ => None,
    });
    assert!(Some(events[2].at) > task_ended, "{events:?}");
}

#[tokio::test]
async fn a_stage_receives_the_previous_output_and_the_objective() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let order = order(&[("a", &[]), ("b", &[])], Pipeline {});

    let outcome = project.run(&agents, &order).run(&RunControl::new()).await;

    assert!(outcome.expect("it ends").success);
    let prompts = agents.prompts();
    let before = "Result of the previous stage:\nI have written a.txt.";
    assert!(!prompts[0].contains(before) && prompts[1].contains(before));
    for prompt in &prompts {
        assert!(
            prompt.contains("This task is part of a larger objective: Many files."),
            "{prompt}"
        );
        assert!(prompt.contains("- no empty ones"), "{prompt}");
        assert!(prompt.contains("- all are there"), "{prompt}");
    }
}

#[tokio::test]
async fn a_failed_member_is_named_and_its_dependents_do_not_start() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let mut order = order(&[("a", &[]), ("b", &["a"]), ("c", &[])], Graph::default());
    order.members[0].work.model = Some("broken".to_owned());
    order.members[0].work.max_iterations = 2;

    let outcome = project.run(&agents, &order).run(&RunControl::new()).await;

    let outcome = outcome.expect("it ends");
    assert!(!outcome.success);
    assert_eq!(outcome.not_started, [MemberId::new("b")]);
    let failed: Vec<_> = outcome.results.iter().map(|it| it.success).collect();
    assert_eq!(failed, [false, true]);
    assert_eq!(project.turns(), ["project c"]);
}

#[tokio::test]
async fn a_member_may_spend_its_reservation_and_no_more() {
    let project = Project::new();
    let agents = project.agents(PACE);
    // Each turn costs 10 cents, and each member has 20.
    let budget = Allowance::new(Budget::default().with_cost(CostUsd::from_cents(40)));
    let mut order = order(&[("a", &[]), ("b", &[])], Graph::default()).budget(budget);
    order.members[0].work.model = Some("broken".to_owned());

    let outcome = project.run(&agents, &order).run(&RunControl::new()).await;

    let outcome = outcome.expect("it ends");
    let costs = outcome.results.iter().map(|it| it.cost.known_usd);
    let costs: Vec<_> = costs.collect();
    assert!(costs[0] <= CostUsd::from_cents(20), "{costs:?}");
    assert_eq!(costs[1], CostUsd::from_cents(10));
    let free = outcome.account.free().budget.cost_usd;
    assert!(free >= Some(CostUsd::from_cents(10)), "{free:?}");
}

#[tokio::test]
async fn a_fleet_that_times_out_ends_for_good() {
    let project = Project::new();
    let agents = project.agents(PACE);
    let mut order = order(&[("a", &[]), ("b", &["a"])], Graph::default());
    order.time = Duration::from_secs(10);
    order.members[1].work.model = Some("idle".to_owned());

    let outcome = project.run(&agents, &order).run(&RunControl::new()).await;

    let outcome = outcome.expect("it ends");
    assert_eq!(outcome.cut_short, Some(CutShort::TimedOut));
    assert!(!outcome.success);
    assert_eq!(project.turns(), ["project a"]);
}
