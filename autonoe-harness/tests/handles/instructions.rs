//! An instruction reaches the agent's next turn, exactly once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{AgentErrorKind, Engine, Epoch, JobRunner, RunDesk, RunId, RunOutcome, RunSpec};
use autonoe_harness::{
    AgentExecutor, Execution, Executor, HarnessFact, HarnessHandle, Serving, Task,
};
use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
use serde_json::{Value, json};

use crate::handles::roles::recorded;
use crate::handles::stage::{Stage, eventually, kill_nine, order, within};

/// Tries tasks one after the other, whatever comes of each.
struct Tasks(Vec<AgentExecutor>);

#[async_trait]
impl JobRunner for Tasks {
    async fn run(&self, _: &RunSpec, desk: &RunDesk) -> RunOutcome {
        for (number, executor) in (1..).zip(&self.0) {
            let task = Task::new(&format!("T-{number}"), "Do it.").expect("an id");
            let mut execution = Execution::default();
            execution.control = desk.control().clone();
            executor
                .run(&task, &execution)
                .await
                .expect("the task is right");
        }
        RunOutcome::succeeded(Value::Null)
    }
}

/// Serves a folder whose tasks follow these scripts, and returns how often each prompt has the
/// instruction that was there from the start, and the facts of the journal.
async fn told_in(scripts: [SessionScript; 2]) -> (Vec<usize>, Vec<HarnessFact>) {
    let stage = Stage::new();
    let folder = stage.folder("a");
    let clock = Arc::new(VirtualClock::new());
    let agents = scripts.map(|script| Arc::new(ScriptedAgents::new([script])));
    let executors = agents.iter().map(|agents| {
        AgentExecutor::new("scripted", agents.clone(), stage.path()).clock(clock.clone())
    });
    let runner = Arc::new(Tasks(executors.collect()));
    folder
        .submit(&order("a", "tasks", Value::Null))
        .expect("writable");
    folder
        .post("Use Postgres.", jiff::Timestamp::UNIX_EPOCH)
        .expect("writable");

    let served = Serving::new(folder.clone(), runner).clock(clock).run();

    served.await.expect("it can be served");
    assert!(folder.path().join("taken/0000000001.json").exists());
    assert!(!folder.path().join("inbox/0000000001.json").exists());
    let prompts = agents.iter().flat_map(|agents| agents.prompts());
    let told = prompts.map(|prompt| prompt.matches("Use Postgres.").count());
    let journal = folder.journal().expect("readable");
    (
        told.collect(),
        journal.into_iter().map(|entry| entry.fact).collect(),
    )
}

#[tokio::test(start_paused = true)]
async fn upstream_2_instructions_in_the_inbox_are_used_by_the_next_turn_and_only_there() {
    let work = || SessionScript::new("work").says("Done.").ends();

    let (told, facts) = told_in([work(), work()]).await;

    assert_eq!(told, [1, 0]);
    let text = "Use Postgres.".to_owned();
    let given = HarnessFact::InstructionGiven { number: 1, text };
    assert_eq!(
        facts[1..3],
        [given, HarnessFact::InstructionTold { number: 1 }]
    );
}

#[tokio::test(start_paused = true)]
async fn an_instruction_that_a_failed_session_had_is_told_to_the_next_one() {
    let crashes = SessionScript::new("work").fails(AgentErrorKind::Crashed, "it crashed");
    let works = SessionScript::new("work").says("Done.").ends();

    let (told, facts) = told_in([crashes, works]).await;

    assert_eq!(told, [1, 1]);
    let is_told = |fact: &&HarnessFact| matches!(fact, HarnessFact::InstructionTold { .. });
    assert_eq!(facts.iter().filter(is_told).count(), 1);
}

#[tokio::test]
async fn what_a_killed_process_had_read_and_not_used_is_told_again_and_then_never() {
    let stage = Stage::new();
    let manager = stage.manager().restarts(5);
    let turns = stage.path().join("turns");
    let input = json!({"folder": stage.path()});
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
    std::fs::write(stage.path().join("go-on"), "").expect("writable");
    let told = || {
        handle
            .folder()
            .journal()
            .expect("readable")
            .into_iter()
            .any(|entry| entry.fact == HarnessFact::InstructionTold { number: 1 })
    };
    eventually("that it was told", told).await;
    kill_nine(recorded(&turns)[1].pid);
    handle.send_instruction("end").await.expect("it listens");
    let outcome = within(manager.wait(&RunId::new("a")))
        .await
        .expect("it ends");

    // The third process was told the second instruction and not the first.
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
    assert!(stage.nothing_is_left_of("a"));
}

#[tokio::test]
async fn a_text_file_in_the_inbox_is_told_until_an_agent_has_read_it_and_then_never() {
    let stage = Stage::new();
    let manager = stage.manager().restarts(5);
    let turns = stage.path().join("turns");
    let input = json!({"folder": stage.path()});
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
    std::fs::write(stage.path().join("go-on"), "").expect("writable");
    let aside = folder.join("taken/0000000001.text");
    eventually("that it was told", || aside.exists()).await;
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
    let stage = Stage::new();
    let manager = Arc::new(stage.manager().restarts(1000));
    let turns = stage.path().join("turns");
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
        // At any moment of what it does about them, the same ones each time.
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
    assert!(stage.nothing_is_left_of("a"));
}
