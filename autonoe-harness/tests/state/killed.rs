//! Workers that are killed in the middle.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use autonoe_harness::{
    AttemptEnding, HarnessId, HarnessPlan, SqliteState, StateStore, Task, TaskPlan, TaskStatus,
};
use jiff::Timestamp;

use crate::state::worker::{WORKS_ON_TASKS, Worker};

const AT_FIRST: usize = 60;
/// How many tasks come with every kill, so that there is work until the last.
const MORE: usize = 4;
const WORKERS: usize = 4;
const KILLS: usize = 30;

/// Every fourth task waits for the one before it and for one long before.
fn task(number: usize) -> TaskPlan {
    let name = |number: usize| format!("t{number:03}");
    let task = TaskPlan::new(Task::new(&name(number), "Do it.").expect("an id"));
    match number % 4 {
        3 => task
            .after(name(number - 1).parse().expect("an id"))
            .after(name(number / 2).parse().expect("an id")),
        _ => task,
    }
}

#[tokio::test]
async fn every_task_ends_exactly_once_however_many_workers_are_killed() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join(".harness/state.db");
    let state = SqliteState::open(&file).await.expect("it opens");
    let plan = HarnessPlan::new(HarnessId::new("h"), (0..AT_FIRST).map(task));
    let planned = state.init_harness(&plan, Timestamp::now()).await;
    planned.expect("it is kept");
    let mut names = (0..).map(|number| format!("w{number}"));
    let mut start = || {
        let name = names.next().expect("there is no end of them");
        Worker::start(WORKS_ON_TASKS, &file, name)
    };
    let mut workers: Vec<_> = (0..WORKERS).map(|_| start()).collect();
    let (mut told, mut kills) = (Vec::new(), 0);

    let (mut left, mut changed) = (0, Instant::now());
    loop {
        let incomplete = state.get_incomplete_tasks().await.expect("read").len();
        if kills == KILLS && incomplete == 0 {
            break;
        }
        if incomplete != left {
            (left, changed) = (incomplete, Instant::now());
        }
        assert!(changed.elapsed() < Duration::from_secs(120), "no end");
        // A blow at one that has not begun anything shows nothing.
        let has_worked = |worker: &Worker| worker.told() > kills % 4;
        let victim = workers.iter().position(has_worked);
        let Some(victim) = victim.filter(|_| kills < KILLS) else {
            tokio::time::sleep(Duration::from_micros(300)).await;
            continue;
        };
        let killed = workers.swap_remove(victim);
        let name = killed.name.clone();
        told.extend(killed.kill());
        kills += 1;
        if kills % 2 == 0 {
            // Who knows that it is gone says so; otherwise its lease runs out.
            let now = Timestamp::now();
            state.release_owner(&name, now).await.expect("it is freed");
        }
        for number in 0..MORE {
            let task = task(AT_FIRST + (kills - 1) * MORE + number);
            let saved = state.save_task(&task, Timestamp::now()).await;
            saved.expect("it is kept");
        }
        workers.push(start());
    }
    for worker in workers {
        told.extend(worker.wait());
    }

    state.integrity_check().await.expect("it is whole");
    let mut acknowledged = BTreeMap::new();
    for line in told.iter().filter_map(|line| line.strip_prefix("done ")) {
        let (task, epoch) = line.split_once(' ').expect("a task and its epoch");
        let twice = acknowledged.insert(task.to_owned(), epoch.to_owned());
        assert_eq!(twice, None, "{task} was acknowledged twice");
    }
    let (mut epochs, mut losses) = (BTreeMap::new(), 0);
    let tasks = state.tasks().await.expect("read");
    assert_eq!(tasks.len(), AT_FIRST + KILLS * MORE);
    for task in tasks {
        let id = &task.task.id;
        assert_eq!(task.status, TaskStatus::Completed, "{id}");
        let attempts = state.attempts(id).await.expect("read");
        let (last, lost) = attempts.split_last().expect("it was tried");
        assert_eq!(last.ending, Some(AttemptEnding::Completed), "{id}");
        assert_eq!(Some(&last.owner), task.output.as_ref(), "{id}");
        for attempt in lost {
            assert_eq!(attempt.ending, Some(AttemptEnding::Lost), "{id}");
            losses += 1;
        }
        for attempt in &attempts {
            let other = epochs.insert(attempt.epoch, id.clone());
            assert_eq!(other, None, "the epoch {} of {id}", attempt.epoch);
        }
        if let Some(epoch) = acknowledged.remove(id.as_str()) {
            assert_eq!(epoch, last.epoch.to_string(), "{id}");
        }
    }
    assert_eq!(acknowledged, BTreeMap::new(), "acknowledged and lost");
    assert!(losses > 0, "nobody was killed in the middle of a task");
}
