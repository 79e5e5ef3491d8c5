//! Handles that are dropped instead of shut down.

use std::time::Duration;

use autonoe_process::{Ladder, Process, Started};
use futures::FutureExt;
use tokio::runtime::Builder;

use crate::trial::{
    CLOSE, DEADLINE, INTERRUPT, MOMENT, Pipes, STUBBORN, Trial, eventually, is_listed, ladder,
    ready, short_ladder, within,
};

/// A ladder that takes seconds, for a test that looks while a child is being ended.
fn slow_ladder() -> Ladder {
    let step = Duration::from_secs(2);
    let ladder = Ladder::kill_at_once().then(CLOSE, step);
    ladder.then(INTERRUPT, step).kill_within(DEADLINE)
}

/// A child with a tool in a session of its own, both of which ignore everything but a kill.
async fn stubborn(trial: &Trial, when_dropped: Ladder) -> (Process, Pipes) {
    let tool = r#"setsid bash -c 'trap "" HUP INT TERM; echo $$ >tool; exec sleep 600' &"#;
    let launch = trial.bash(&format!("{tool} {STUBBORN}"));
    let started = launch.when_dropped(when_dropped).start().await;
    let Started {
        process,
        stdin,
        stdout,
    } = started.expect("it starts");
    let stdout = ready(stdout).await;
    trial.told_in("tool");
    (process, (stdin, stdout))
}

#[tokio::test]
async fn a_child_whose_handle_is_dropped_is_ended_with_its_tools() {
    let trial = Trial::new();
    let (process, pipes) = stubborn(&trial, short_ladder()).await;
    let pid = process.pid();

    drop(process);

    trial.eventually_nothing_is_left();
    eventually("its entry to go", || !is_listed(pid));
    drop(pipes);
}

#[test]
fn a_child_whose_handle_is_dropped_after_the_runtime_is_ended() {
    let trial = Trial::new();
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (process, pipes) = runtime.block_on(stubborn(&trial, short_ladder()));
    let pid = process.pid();

    drop(runtime);
    assert_eq!(process.try_exit(), None);
    drop(process);

    trial.eventually_nothing_is_left();
    eventually("its entry to go", || !is_listed(pid));
    drop(pipes);
}

#[tokio::test]
async fn a_child_whose_task_panics_is_ended() {
    let trial = Trial::new();
    let (process, pipes) = stubborn(&trial, short_ladder()).await;

    let task = tokio::spawn(async move {
        let _held = (process, pipes);
        panic!("as it must");
    });

    assert!(within(task).await.expect_err("it panics").is_panic());
    trial.eventually_nothing_is_left();
}

#[tokio::test]
async fn a_shut_down_goes_on_when_nobody_waits_for_it() {
    let trial = Trial::new();
    let (process, _pipes) = stubborn(&trial, short_ladder()).await;

    let waited = process.shut_down(slow_ladder()).now_or_never();

    assert!(waited.is_none(), "it was faster than its first step");
    trial.eventually_nothing_is_left();
}

#[tokio::test]
async fn a_child_whose_start_nobody_waits_for_is_ended() {
    let trial = Trial::new();
    let launch = trial.bash("echo begun >begun; read -r _; echo ended >ended");
    let start = launch.when_dropped(ladder(&[], CLOSE)).start();

    // On a busy machine it may be there already, and is dropped then.
    drop(start.now_or_never());

    // It is started all the same, and then ended by the ladder.
    trial.told_in("begun");
    trial.told_in("ended");
    trial.eventually_nothing_is_left();
}

#[test]
fn the_end_of_a_program_can_wait_for_what_was_dropped() {
    if let Some(trial) = Trial::as_host() {
        let runtime = Builder::new_current_thread().enable_all().build();
        let starting = stubborn(&trial, slow_ladder());
        let (process, _pipes) = runtime.expect("a runtime").block_on(starting);

        drop(process);

        assert_eq!(autonoe_process::wait_for_shut_downs(MOMENT / 50), 1);
        assert_eq!(autonoe_process::wait_for_shut_downs(DEADLINE), 0);
        return;
    }
    let trial = Trial::new();
    let mut host = trial.start_host("dropped::the_end_of_a_program_can_wait_for_what_was_dropped");

    host.end().expect("it passes");

    trial.told_in("tool");
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn an_agent_that_was_dropped_is_interrupted_before_its_input_ends() {
    let trial = Trial::new();
    // `read` says by its status whether it waited in vain or saw the end.
    let judge = "read -t 0.1 -r _; [ $? -gt 128 ] && echo open >how || echo ended >how; exit 0";
    let script = format!("trap '{judge}' INT; echo ready; while :; do sleep 0.01; done");
    let Started {
        process,
        stdin,
        stdout,
    } = trial.bash(&script).start().await.expect("it starts");
    let stdout = ready(stdout).await;

    drop((stdin, stdout, process));

    assert_eq!(trial.told_in("how"), "open");
    trial.eventually_nothing_is_left();
}
