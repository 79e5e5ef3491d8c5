//! Steps of a [`ShutdownPolicy`], and the children that they end.

use autonoe_process::{EndedBy, Exit, ShutdownPolicy, StartedProcess};
use std::time::Duration;

use crate::fixture::{
    CLOSE, Fixture, INTERRUPT, STUBBORN, TERMINATE, eventually, is_listed, policy, ready,
    short_policy, state, within,
};

#[tokio::test]
async fn a_child_that_reads_its_input_ends_when_it_is_closed() {
    let fixture = Fixture::new();
    let launch = fixture.bash("echo ready; exec cat");
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    let pid = process.pid();

    // The policy closes the input, although the test holds it.
    let end = within(process.shutdown(policy(&[], CLOSE))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(0)), EndedBy::Step(CLOSE))
    );
    assert_eq!((&end.killed[..], &end.left[..]), (&[][..], &[][..]));
    assert!(end.is_complete());
    assert!(!is_listed(pid), "its entry is still there");
    fixture.assert_nothing_is_left();
    drop(stdin);
}

#[tokio::test]
async fn a_child_that_listens_to_an_interrupt_ends_by_it() {
    let fixture = Fixture::new();
    let launch = fixture.bash("trap 'exit 4' INT; echo ready; while :; do sleep 0.01; done");
    let StartedProcess {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    let end = within(process.shutdown(policy(&[CLOSE], INTERRUPT))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(4)), EndedBy::Step(INTERRUPT))
    );
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_child_that_listens_to_nothing_but_a_termination_ends_by_it() {
    let fixture = Fixture::new();
    let launch = fixture.bash("trap '' INT; echo ready; while :; do sleep 0.01; done");
    let StartedProcess {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    let end = within(process.shutdown(policy(&[CLOSE, INTERRUPT], TERMINATE))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Signal(15)), EndedBy::Step(TERMINATE))
    );
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_child_that_ignores_everything_is_killed() {
    let fixture = Fixture::new();
    let started = fixture.bash(STUBBORN).start().await.expect("it starts");
    let StartedProcess {
        process, stdout, ..
    } = started;
    let _stdout = ready(stdout).await;
    let pid = process.pid();

    let end = within(process.shutdown(short_policy())).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Signal(9)), EndedBy::Kill)
    );
    assert!(end.is_complete());
    assert!(!is_listed(pid), "its entry is still there");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_child_that_is_stopped_is_killed() {
    let fixture = Fixture::new();
    let launch = fixture.bash("echo ready; kill -STOP $$");
    let StartedProcess {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    eventually("the child to stop", || state(process.pid()) == Some('T'));

    let end = within(process.shutdown(short_policy())).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Signal(9)), EndedBy::Kill)
    );
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_child_that_has_ended_by_itself_is_reported_as_such() {
    let fixture = Fixture::new();
    let started = fixture.bash("exit 7").start().await.expect("it starts");
    let process = started.process;

    assert_eq!(within(process.exited()).await, Exit::Code(7));
    assert_eq!(process.try_exit(), Some(Exit::Code(7)));
    let end = within(process.shutdown(ShutdownPolicy::default())).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(7)), EndedBy::Itself)
    );
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_signal_reaches_the_child_and_not_its_tools() {
    let fixture = Fixture::new();
    let script = "trap 'kill -0 $! && echo lives; exit 4' INT; sleep 600 & echo ready; wait";
    let started = fixture.bash(script).start().await.expect("it starts");
    let mut stdout = ready(started.stdout).await;
    assert_eq!(started.process.try_exit(), None);

    let end = within(started.process.shutdown(policy(&[], INTERRUPT))).await;

    assert_eq!(crate::fixture::line(&mut stdout).await, "lives\n");
    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(4)), EndedBy::Step(INTERRUPT))
    );
    assert!(end.is_complete(), "{end:?}");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_step_can_have_all_the_time_there_is() {
    let fixture = Fixture::new();
    let launch = fixture.bash("echo ready; exec cat");
    let StartedProcess {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    let endless = ShutdownPolicy::kill_at_once().then(CLOSE, Duration::MAX);

    let end = within(process.shutdown(endless.kill_within(Duration::MAX))).await;

    assert_eq!(end.ended_by, EndedBy::Step(CLOSE));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn processes_alive_after_the_limit_are_reported_and_end_a_little_later() {
    let fixture = Fixture::new();
    let launch = fixture.bash("sleep 600 & echo ready; wait");
    let StartedProcess {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    let pid = process.pid();

    let end =
        within(process.shutdown(ShutdownPolicy::kill_at_once().kill_within(Duration::ZERO))).await;

    assert!(!end.is_complete());
    assert_eq!((end.exit, end.ended_by), (None, EndedBy::Nothing));
    assert_eq!(end.left.len(), 1, "{end:?}");
    fixture.eventually_nothing_is_left();
    eventually("the entry of the child to go", || !is_listed(pid));
}
