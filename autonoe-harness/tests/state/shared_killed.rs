//! Test of processes that are killed while they share values, files and events.

use std::path::Path;
use std::time::{Duration, Instant};

use autonoe_harness::shared::{Cursor, NewMemberEvent, Scope, SharedContext};
use autonoe_harness::strategy::MemberId;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::intact::assert_intact;
use crate::state::worker::{Worker, report, worker_config};

const SHARES_THINGS: &str = "state::shared_killed::child_process_shares_items";
const WORKERS: usize = 3;
const KILLS: usize = 20;

/// Runs in a process of its own: shares one item after another until it is killed.
#[test]
fn child_process_shares_items() {
    let Some((folder, name)) = worker_config() else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(share(&folder, &name));
}

async fn share(folder: &Path, name: &str) {
    let shared = SharedContext::open(folder).await.expect("it opens");
    let own = Scope::Member(MemberId::new(name));
    let file = folder.join(format!("{name}.txt"));
    for number in 0_u64.. {
        // The parent process is gone, and its folder with it.
        if !folder.exists() {
            return;
        }
        let now = Timestamp::now();
        let value = json!(number);
        shared.set(&own, "number", &value, now).await.expect("kept");
        report(&format!("value {number}"));
        let event = NewMemberEvent {
            member: Some(MemberId::new(name)),
            details: value,
            ..NewMemberEvent::new("progress", now)
        };
        let cursor = shared.emit_event(&event).await.expect("kept");
        report(&format!("event {number} {cursor}"));
        std::fs::write(&file, number.to_string()).expect("writable");
        let artifact = format!("{name}.out").parse().expect("a name");
        let harness = MemberId::new(name);
        let published = shared.publish_artifact(&artifact, &file, &harness, &Value::Null, now);
        published.await.expect("it is published");
        report(&format!("artifact {number}"));
    }
}

// Shows: fleets/shared/sync
#[tokio::test]
async fn acknowledged_writes_of_killed_processes_survive() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("shared");
    let shared = SharedContext::open(&folder).await.expect("it opens");
    let start = |number: usize| Worker::start(SHARES_THINGS, &folder, format!("w{number}"));
    let mut workers: Vec<_> = (0..WORKERS).map(start).collect();
    let mut ended = Vec::new();
    let mut last_kill = Instant::now();
    while ended.len() < KILLS {
        assert!(
            last_kill.elapsed() < Duration::from_secs(120),
            "no worker makes progress"
        );
        let has_worked = |worker: &Worker| worker.reported() > 4 + ended.len() % 5;
        let Some(victim) = workers.iter().position(has_worked) else {
            tokio::time::sleep(Duration::from_micros(300)).await;
            continue;
        };
        let killed = workers.swap_remove(victim);
        ended.push((killed.name.clone(), killed.kill()));
        last_kill = Instant::now();
        workers.push(start(WORKERS + ended.len()));
    }
    for worker in workers {
        ended.push((worker.name.clone(), worker.kill()));
    }

    assert_intact(&folder.join("context.db"));
    let events = shared.events_since(Cursor::START, usize::MAX).await;
    let events = events.expect("read");
    assert!(events.is_sorted_by(|one, other| one.cursor < other.cursor));
    for (name, output) in ended {
        let last = |kind: &str| {
            let output = output.iter().rev();
            let mut output = output.filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
            output.next().map(str::to_owned)
        };
        let own = Scope::Member(MemberId::new(&name));
        let value = shared.get(&own, "number").await.expect("read");
        let value = value.and_then(|value| value.as_u64());
        let reported_value = last("value").map(|number| number.parse::<u64>().expect("a number"));
        assert!(
            value >= reported_value,
            "{name}: {value:?} after {reported_value:?}"
        );
        for line in output.iter().filter_map(|line| line.strip_prefix("event ")) {
            let (number, cursor) = line.split_once(' ').expect("two numbers");
            let is_it = |read: &&autonoe_harness::shared::MemberEvent| {
                read.cursor.to_string() == cursor
                    && read.event.member == Some(MemberId::new(&name))
                    && read.event.details.as_u64() == number.parse().ok()
            };
            assert_eq!(events.iter().filter(is_it).count(), 1, "{name}: {line}");
        }
        if let Some(number) = last("artifact") {
            let artifact = format!("{name}.out").parse().expect("a name");
            let consumed = shared
                .consume_artifact(&artifact)
                .await
                .expect("it is whole");
            let text = std::fs::read_to_string(consumed.path).expect("readable");
            let (text, number): (u64, u64) = (
                text.parse().expect("a number"),
                number.parse().expect("a number"),
            );
            assert!(text >= number, "{name}: {text} after {number}");
        }
    }
}
