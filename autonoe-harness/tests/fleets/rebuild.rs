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

    // The rows of the member and of its fleet, as if the coordinator had never seen the member.
    let database = rusqlite::Connection::open(home.path().join("meta_state.db"));
    let waiting = serde_json::to_string(&MemberState::Waiting).expect("it serialises");
    let database = database.expect("it opens");
    database
        .execute("UPDATE members SET state = ?1", [waiting])
        .expect("writable");
    database
        .execute_batch("UPDATE fleets SET result = NULL; DELETE FROM decisions;")
        .expect("writable");
    for name in derived.into_iter().chain(["state.db"]) {
        fs::remove_file(folder.path().join(name)).expect("it was there");
    }

    let again = project.run(&agents, &order).run(&RunControl::new()).await;

    assert_eq!(again.expect("it ends").result, first.result);
    assert_eq!(project.turns(), ["project a"]);
    let record = home.fleet("f").await.expect("readable");
    let record = record.expect("it is kept");
    assert!(matches!(record.members[0].state, MemberState::Ended { .. }));
    assert_eq!(record.result, Some(first.result));
    let database = folder.path().join("state.db");
    assert_eq!(task_states(&database), ["completed"]);

    // Another look at a fleet that has ended rebuilds it, too.
    fs::remove_file(&database).expect("it was there");
    let run = project.run(&agents, &order).run(&RunControl::new()).await;
    assert!(run.expect("it has ended").result.success);
    assert_eq!(task_states(&database), ["completed"]);
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
