//! Tests of instructions: each reaches the agent's next turn, exactly once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::RunId;
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::engine::{Engine, JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_core::time::Epoch;
use autonoe_harness::folder::MemberFact;
use autonoe_harness::{AgentExecutor, Execution, Executor, MemberServer, Task};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use serde_json::{Value, json};

use crate::handles::fixture::{Fixture, eventually, kill_nine, order, within};
use crate::handles::roles::recorded;

/// Runs tasks one after the other, whatever their results.
struct Tasks(Vec<AgentExecutor>);

#[async_trait]
impl JobRunner for Tasks {
    async fn run(&self, _: &RunSpec, context: &JobContext) -> RunOutcome {
        for (number, executor) in (1..).zip(&self.0) {
            let task = Task::new(&format!("T-{number}"), "Do it.").expect("an id");
            let execution = Execution::new(context.control());
            executor
                .run(&task, &execution)
                .await
                .expect("the task is right");
        }
        RunOutcome::succeeded(Value::Null)
    }
}

/// Serves a folder whose tasks follow these scripts. Returns how often each prompt contains the
/// instruction that existed from the start, and the facts of the journal.
async fn instruction_counts(scripts: [SessionScript; 2]) -> (Vec<usize>, Vec<MemberFact>) {
    let fixture = Fixture::new();
    let folder = fixture.folder("a");
    let clock = Arc::new(VirtualClock::new());
    let agents = scripts.map(|script| Arc::new(ScriptedBackend::new([script])));
    let executors = agents.iter().map(|agents| {
        AgentExecutor::new("scripted", agents.clone(), fixture.path()).clock(clock.clone())
    });
    let runner = Arc::new(Tasks(executors.collect()));
    folder
        .submit(&order("a", "tasks", Value::Null))
        .expect("writable");
    folder
        .post("Use Postgres.", jiff::Timestamp::UNIX_EPOCH)
        .expect("writable");

    let served = MemberServer::new(folder.clone(), runner).clock(clock).run();

    served.await.expect("it can be served");
    assert!(folder.path().join("taken/0000000001.json").exists());
    assert!(!folder.path().join("inbox/0000000001.json").exists());
    let prompts = agents.iter().flat_map(|agents| agents.prompts());
    let counts = prompts.map(|prompt| prompt.matches("Use Postgres.").count());
    let journal = folder.journal().expect("readable");
    (
        counts.collect(),
        journal.into_iter().map(|entry| entry.fact).collect(),
    )
}

#[tokio::test(start_paused = true)]
async fn upstream_2_instructions_in_the_inbox_are_used_by_the_next_turn_and_only_there() {
    let work = || SessionScript::new("work").says("Done.").ends();

    let (counts, facts) = instruction_counts([work(), work()]).await;

    assert_eq!(counts, [1, 0]);
    let text = "Use Postgres.".to_owned();
    let queued = MemberFact::InstructionQueued { number: 1, text };
    assert_eq!(
        facts[1..3],
        [queued, MemberFact::InstructionDelivered { number: 1 }]
    );
}

#[tokio::test(start_paused = true)]
async fn an_instruction_of_a_failed_session_is_delivered_again() {
    let crashes = SessionScript::new("work").fails(AgentErrorKind::Crashed, "it crashed");
    let works = SessionScript::new("work").says("Done.").ends();

    let (counts, facts) = instruction_counts([crashes, works]).await;

    assert_eq!(counts, [1, 1]);
    let is_delivered = |fact: &&MemberFact| matches!(fact, MemberFact::InstructionDelivered { .. });
    assert_eq!(facts.iter().filter(is_delivered).count(), 1);
}

#[tokio::test]
async fn an_instruction_of_a_killed_process_is_delivered_again_until_it_is_used() {
    let fixture = Fixture::new();
    let manager = fixture.manager().restarts(5);
    let turns = fixture.path().join("turns");
    let input = json!({"folder": fixture.path()});
    let handle = manager
        .spawn(order("a", "careless", input))
        .await
        .expect("it starts");

    // Read, and killed before the turn is over.
    handle.send_instruction("one").await.expect("it listens");
    eventually("the first turn", || recorded(&turns).len() == 1).await;
    kill_nine(recorded(&turns)[0].pid);
    eventually("the second turn", || recorded(&turns).len() == 2).await;
    // Used, and killed afterwards.
    std::fs::write(fixture.path().join("go-on"), "").expect("writable");
    let is_delivered = || {
        handle
            .folder()
            .journal()
            .expect("readable")
            .into_iter()
            .any(|entry| entry.fact == MemberFact::InstructionDelivered { number: 1 })
    };
    eventually("the delivery", is_delivered).await;
    kill_nine(recorded(&turns)[1].pid);
    handle.send_instruction("end").await.expect("it listens");
    let outcome = within(manager.wait(&RunId::new("a")))
        .await
        .expect("it ends");

    // The third process received the second instruction and not the first.
    assert_eq!(outcome.output, json!(["end"]));
    let all = recorded(&turns);
    let all: Vec<_> = all
        .iter()
        .map(|turn| (turn.id.as_deref(), &*turn.text))
        .collect();
    assert_eq!(
        all,
        [(Some("1"), "one"), (Some("1"), "one"), (Some("2"), "end")]
    );
    assert_eq!(handle.refresh().await.expect("readable").epoch, Epoch(3));
    assert!(fixture.has_no_processes("a"));
}

#[tokio::test]
async fn a_text_file_in_the_inbox_is_delivered_until_a_turn_has_used_it() {
    let fixture = Fixture::new();
    let manager = fixture.manager().restarts(5);
    let turns = fixture.path().join("turns");
    let input = json!({"folder": fixture.path()});
    let handle = manager
        .spawn(order("a", "careless", input))
        .await
        .expect("it starts");
    let folder = handle.folder().path().to_owned();

    // Read, and killed before the turn is over.
    std::fs::write(folder.join("inbox/note.txt"), "Use Postgres.").expect("writable");
    eventually("the first turn", || recorded(&turns).len() == 1).await;
    kill_nine(recorded(&turns)[0].pid);
    eventually("the second turn", || recorded(&turns).len() == 2).await;
    // Used, and killed afterwards.
    std::fs::write(fixture.path().join("go-on"), "").expect("writable");
    let received = folder.join("taken/0000000001.text");
    eventually("the delivery", || received.exists()).await;
    kill_nine(recorded(&turns)[1].pid);
    handle.send_instruction("end").await.expect("it listens");
    within(manager.wait(&RunId::new("a")))
        .await
        .expect("it ends");

    let all = recorded(&turns);
    let all: Vec<_> = all
        .iter()
        .map(|turn| (turn.id.as_deref(), &*turn.text))
        .collect();
    assert_eq!(
        all,
        [
            (Some("1"), "Use Postgres."),
            (Some("1"), "Use Postgres."),
            (Some("2"), "end")
        ]
    );
    let left = std::fs::read_dir(folder.join("inbox")).expect("readable");
    assert_eq!(left.count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_instruction_is_in_one_turn_however_often_the_process_is_killed() {
    const ROUNDS: u64 = 25;
    const INSTRUCTIONS: u64 = 2 * ROUNDS + 1;
    let fixture = Fixture::new();
    let manager = Arc::new(fixture.manager().restarts(1000));
    let turns = fixture.path().join("turns");
    let input = json!({"turns": turns, "count": INSTRUCTIONS});
    let handle = manager
        .spawn(order("a", "turns", input))
        .await
        .expect("it starts");
    let send = async |number: u64| {
        let text = format!("line {number}");
        handle.send_instruction(&text).await.expect("it listens");
    };
    let pid = || handle.folder().view().expect("readable").pid;

    let mut killed = None;
    for round in 0..ROUNDS {
        let mut next = None;
        eventually("the next process", || {
            next = pid();
            next.is_some() && next != killed
        })
        .await;
        killed = next;
        send(2 * round + 1).await;
        send(2 * round + 2).await;
        // At any moment of its processing, the same moments in each run of the test.
        tokio::time::sleep(Duration::from_micros(round * 7_919 % 23_000)).await;
        kill_nine(killed.expect("it lives"));
    }
    send(INSTRUCTIONS).await;
    let outcome = within(manager.wait(&RunId::new("a"))).await;

    let outcome = outcome.expect("it ends");
    assert_eq!(
        handle
            .folder()
            .state()
            .expect("readable")
            .expect("there")
            .epoch,
        Epoch(ROUNDS + 1)
    );
    assert_eq!(outcome, RunOutcome::succeeded(json!(INSTRUCTIONS)));
    let texts: Vec<_> = recorded(&turns).into_iter().map(|turn| turn.text).collect();
    let expected: Vec<_> = (1..=INSTRUCTIONS)
        .map(|number| format!("line {number}"))
        .collect();
    assert_eq!(texts, expected);
    assert!(fixture.has_no_processes("a"));
}
