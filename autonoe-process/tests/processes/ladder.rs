//! Which step ends which child.

use autonoe_process::{EndedBy, Exit, Ladder, Signal, Started};
use std::time::Duration;

use crate::trial::{
    CLOSE, INTERRUPT, STUBBORN, TERMINATE, Trial, eventually, is_listed, ladder, ready,
    short_ladder, state, within,
};

#[tokio::test]
async fn a_child_that_reads_its_input_ends_when_it_is_closed() {
    let trial = Trial::new();
    let launch = trial.bash("echo ready; exec cat");
    let Started {
        process,
        stdin,
        stdout,
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    let pid = process.pid();

    // The ladder closes the input, although somebody holds it.
    let end = within(process.shut_down(ladder(&[], CLOSE))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(0)), EndedBy::Step(CLOSE))
    );
    assert_eq!((&end.killed[..], &end.left[..]), (&[][..], &[][..]));
    assert!(end.is_complete());
    assert!(!is_listed(pid), "its entry is still there");
    trial.assert_nothing_is_left();
    drop(stdin);
}

#[tokio::test]
async fn a_child_that_listens_to_an_interrupt_ends_by_it() {
    let trial = Trial::new();
    let launch = trial.bash("trap 'exit 4' INT; echo ready; while :; do sleep 0.01; done");
    let Started {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    let end = within(process.shut_down(ladder(&[CLOSE], INTERRUPT))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(4)), EndedBy::Step(INTERRUPT))
    );
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn a_child_that_listens_to_nothing_but_a_termination_ends_by_it() {
    let trial = Trial::new();
    let launch = trial.bash("trap '' INT; echo ready; while :; do sleep 0.01; done");
    let Started {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    let end = within(process.shut_down(ladder(&[CLOSE, INTERRUPT], TERMINATE))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Signal(15)), EndedBy::Step(TERMINATE))
    );
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn a_child_that_ignores_everything_is_killed() {
    let trial = Trial::new();
    let started = trial.bash(STUBBORN).start().await.expect("it starts");
    let Started {
        process, stdout, ..
    } = started;
    let _stdout = ready(stdout).await;
    let pid = process.pid();

    let end = within(process.shut_down(short_ladder())).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Signal(9)), EndedBy::Kill)
    );
    assert!(end.is_complete());
    assert!(!is_listed(pid), "its entry is still there");
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn a_child_that_is_stopped_is_killed() {
    let trial = Trial::new();
    let launch = trial.bash("echo ready; kill -STOP $$");
    let Started {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    eventually("the child to stop", || state(process.pid()) == Some('T'));

    let end = within(process.shut_down(short_ladder())).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Signal(9)), EndedBy::Kill)
    );
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn a_child_that_has_ended_by_itself_is_reported_as_such() {
    let trial = Trial::new();
    let started = trial.bash("exit 7").start().await.expect("it starts");
    let process = started.process;

    assert_eq!(within(process.exited()).await, Exit::Code(7));
    assert_eq!(process.try_exit(), Some(Exit::Code(7)));
    assert!(
        process.signal(Signal::Kill).is_err(),
        "there is nobody to signal"
    );
    let end = within(process.shut_down(Ladder::default())).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(7)), EndedBy::Itself)
    );
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn a_signal_reaches_the_child_and_not_its_tools() {
    let trial = Trial::new();
    let script = "trap 'kill -0 $! && echo lives' INT; sleep 600 & echo ready; wait; wait";
    let started = trial.bash(script).start().await.expect("it starts");
    let mut stdout = ready(started.stdout).await;
    assert_eq!(started.process.try_exit(), None);

    started.process.signal(Signal::Interrupt).expect("it lives");

    assert_eq!(crate::trial::line(&mut stdout).await, "lives\n");
    let end = within(started.process.shut_down(short_ladder())).await;
    assert!(end.is_complete(), "{end:?}");
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn a_step_can_have_all_the_time_there_is() {
    let trial = Trial::new();
    let launch = trial.bash("echo ready; exec cat");
    let Started {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    let endless = Ladder::kill_at_once().then(CLOSE, Duration::MAX);

    let end = within(process.shut_down(endless.kill_within(Duration::MAX))).await;

    assert_eq!(end.ended_by, EndedBy::Step(CLOSE));
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn what_lives_when_the_limit_is_over_is_told_and_gone_a_little_later() {
    let trial = Trial::new();
    let launch = trial.bash("sleep 600 & echo ready; wait");
    let Started {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    let pid = process.pid();

    let end = within(process.shut_down(Ladder::kill_at_once().kill_within(Duration::ZERO))).await;

    assert!(!end.is_complete());
    assert_eq!((end.exit, end.ended_by), (None, EndedBy::Nothing));
    assert_eq!(end.left.len(), 1, "{end:?}");
    trial.eventually_nothing_is_left();
    eventually("the entry of the child to go", || !is_listed(pid));
}
