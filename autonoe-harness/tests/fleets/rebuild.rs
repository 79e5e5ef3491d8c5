//! Tests of rebuilding files that are derived from the journal of a member.

use std::fs;
use std::path::Path;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::strategy::{MemberId, MemberState};
use autonoe_harness::{FleetOrder, Graph};

use crate::fleets::fixture::{Project, roadmap, unhurried};

// Shows: fleets/state/projection
#[tokio::test]
async fn files_derived_from_the_journal_are_rebuilt_by_the_next_command() {
    let project = Project::new();
    let agents = project.agents(Duration::from_millis(20));
    let order = FleetOrder::from_tasks("f", &roadmap(&[("a", &[])]), Graph::default());
    let order = unhurried(order.expect("it can be done").without_worktrees());
    let first = project.run(&agents, &order).run(&RunControl::new()).await;
    let first = first.expect("it ends");
    let home = project.home();
    let folder = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let before = folder.view().expect("readable");
    let derived = ["outcome.json", "status.json", "harness.log"];

    for names in [&derived[..1], &derived[1..2], &derived[2..], &derived[..]] {
        for name in names {
            fs::remove_file(folder.path().join(name)).expect("it was there");
        }

        let after = folder.view().expect("readable");

        assert_eq!(after.outcome, before.outcome, "{names:?}");
        assert_eq!(after.status, before.status, "{names:?}");
        assert_eq!(after.epoch, before.epoch, "{names:?}");
        assert_eq!(after.result(), before.result(), "{names:?}");
        assert_eq!(after.progress.progress, 1.0, "{names:?}");
        for name in derived {
            assert!(folder.path().join(name).exists(), "{name} of {names:?}");
        }
    }
    let log = folder.log(99).expect("readable").join("\n");
    for line in ["epoch 1", "a started", "a is done", "completed"] {
        assert!(log.contains(line), "{log}");
    }

    let state_db = folder.path().join("state.db");
    for lost_rows in [
        // A fleet that has ended.
        "DELETE FROM members;",
        // As if the coordinator had never seen the member.
        "DELETE FROM members; UPDATE fleets SET result = NULL; DELETE FROM decisions;",
        // As if there had been no coordinator.
        "DELETE FROM members; DELETE FROM decisions; DELETE FROM fleets;",
    ] {
        change(&home.path().join("meta_state.db"), lost_rows);
        for path in derived.map(|name| folder.path().join(name)) {
            fs::remove_file(path).expect("it was there");
        }
        fs::remove_file(&state_db).expect("it was there");

        let rebuilt = project.run(&agents, &order).run(&RunControl::new()).await;

        assert_eq!(rebuilt.expect("it ends"), first, "{lost_rows}");
        assert_eq!(project.turns(), ["project a"], "{lost_rows}");
        let record = home.fleet("f").await.expect("readable");
        let record = record.expect("it is kept");
        let [member] = &record.members[..] else {
            panic!("one member after {lost_rows}: {:?}", record.members);
        };
        let result = Box::new(first.results[0].clone());
        assert_eq!(member.state, MemberState::Ended { place: 0, result });
        assert_eq!(record.result.as_ref(), Some(&first), "{lost_rows}");
        assert_eq!(task_states(&state_db), ["completed"], "{lost_rows}");
        let after = folder.view().expect("readable");
        assert_eq!(after.outcome, before.outcome, "{lost_rows}");
        for name in derived {
            assert!(folder.path().join(name).exists(), "{name} of {lost_rows}");
        }
    }
}

#[tokio::test]
async fn a_stopped_member_that_was_killed_after_its_task_was_verified_has_completed_it() {
    for last_event in ["iterationEnded", "ended"] {
        let project = Project::new();
        let agents = project.agents(Duration::from_millis(20));
        let order = FleetOrder::from_tasks("f", &roadmap(&[("a", &[])]), Graph::default());
        let order = unhurried(order.expect("it can be done").without_worktrees());
        let first = project.run(&agents, &order).run(&RunControl::new()).await;
        first.expect("it ends");
        let home = project.home();
        let folder = home.member_folder("f", &MemberId::new("a")).expect("an id");
        // As if the process had been killed after this event, before it changed the state.
        let journal = folder.path().join("work.jsonl");
        let text = fs::read_to_string(&journal).expect("readable");
        let marker = format!("{{\"event\":\"{last_event}\"");
        let end = text.find(&marker).expect("it is there");
        let end = end + text[end..].find('\n').expect("a line") + 1;
        fs::write(&journal, &text[..end]).expect("writable");
        for name in ["outcome.json", "status.json"] {
            fs::remove_file(folder.path().join(name)).expect("it was there");
        }
        let state_db = folder.path().join("state.db");
        change(&state_db, "UPDATE tasks SET status = 'inProgress'");
        let meta = home.path().join("meta_state.db");
        change(
            &meta,
            "DELETE FROM members; UPDATE fleets SET result = NULL; DELETE FROM decisions",
        );
        folder.request_stop("enough").expect("writable");

        let second = project.run(&agents, &order).run(&RunControl::new()).await;

        assert!(!second.expect("it ends").success, "{last_event}");
        assert_eq!(task_states(&state_db), ["completed"], "{last_event}");
        assert_eq!(project.turns(), ["project a"], "{last_event}");
    }
}

/// Changes a database that no process uses.
fn change(path: &Path, statements: &str) {
    let database = rusqlite::Connection::open(path).expect("it opens");
    database.execute_batch(statements).expect("writable");
}

/// Returns the states of the tasks in a `state.db`.
fn task_states(path: &Path) -> Vec<String> {
    let database = rusqlite::Connection::open(path).expect("it opens");
    let mut tasks = database
        .prepare("SELECT status FROM tasks")
        .expect("it was rebuilt");
    let states = tasks.query_map([], |row| row.get(0)).expect("readable");
    states.map(|state| state.expect("a text")).collect()
}
