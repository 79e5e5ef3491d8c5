//! Handles that are dropped instead of shut down.

use std::time::Duration;

use autonoe_process::{Process, ShutdownPolicy, StartedProcess};
use futures::FutureExt;
use tokio::runtime::Builder;

use crate::fixture::{
    CLOSE, DEADLINE, Fixture, INTERRUPT, Pipes, SHORT_WAIT, STUBBORN, eventually, is_listed,
    policy, ready, short_policy, within,
};

/// A policy that takes seconds, for a test that inspects a running shutdown.
fn slow_policy() -> ShutdownPolicy {
    let step = Duration::from_secs(2);
    let policy = ShutdownPolicy::kill_at_once().then(CLOSE, step);
    policy.then(INTERRUPT, step).kill_within(DEADLINE)
}

/// Starts a child with a tool in a session of its own, both of which ignore everything but a kill.
async fn stubborn(fixture: &Fixture, when_dropped: ShutdownPolicy) -> (Process, Pipes) {
    let tool = r#"setsid bash -c 'trap "" HUP INT TERM; echo $$ >tool; exec sleep 600' &"#;
    let launch = fixture.bash(&format!("{tool} {STUBBORN}"));
    let started = launch.on_drop(when_dropped).start().await;
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = started.expect("it starts");
    let stdout = ready(stdout).await;
    fixture.wait_for_file("tool");
    (process, (stdin, stdout))
}

#[tokio::test]
async fn dropping_the_handle_ends_the_child_and_its_tools() {
    let fixture = Fixture::new();
    let (process, pipes) = stubborn(&fixture, short_policy()).await;
    let pid = process.pid();

    drop(process);

    fixture.eventually_nothing_is_left();
    eventually("its entry to go", || !is_listed(pid));
    drop(pipes);
}

#[test]
fn dropping_the_handle_after_the_runtime_ends_the_child() {
    let fixture = Fixture::new();
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (process, pipes) = runtime.block_on(stubborn(&fixture, short_policy()));
    let pid = process.pid();

    drop(runtime);
    assert_eq!(process.try_exit(), None);
    drop(process);

    fixture.eventually_nothing_is_left();
    eventually("its entry to go", || !is_listed(pid));
    drop(pipes);
}

#[tokio::test]
async fn a_panic_of_the_task_ends_the_child() {
    let fixture = Fixture::new();
    let (process, pipes) = stubborn(&fixture, short_policy()).await;

    let task = tokio::spawn(async move {
        let _held = (process, pipes);
        panic!("as it must");
    });

    assert!(within(task).await.expect_err("it panics").is_panic());
    fixture.eventually_nothing_is_left();
}

#[tokio::test]
async fn a_shutdown_continues_when_its_future_is_dropped() {
    let fixture = Fixture::new();
    let (process, _pipes) = stubborn(&fixture, short_policy()).await;

    let waited = process.shutdown(slow_policy()).now_or_never();

    assert!(waited.is_none(), "it was faster than its first step");
    fixture.eventually_nothing_is_left();
}

#[tokio::test]
async fn a_child_is_ended_when_the_future_of_its_start_is_dropped() {
    let fixture = Fixture::new();
    let launch = fixture.bash("echo begun >begun; read -r _; echo ended >ended");
    let start = launch.on_drop(policy(&[], CLOSE)).start();

    // On a busy machine the child may exist already; it is dropped then.
    drop(start.now_or_never());

    // The child is started nevertheless, and then ended by the policy.
    fixture.wait_for_file("begun");
    fixture.wait_for_file("ended");
    fixture.eventually_nothing_is_left();
}

#[test]
fn a_program_can_wait_for_dropped_children_before_it_exits() {
    if let Some(fixture) = Fixture::as_host() {
        let runtime = Builder::new_current_thread().enable_all().build();
        let starting = stubborn(&fixture, slow_policy());
        let (process, _pipes) = runtime.expect("a runtime").block_on(starting);

        drop(process);

        assert_eq!(autonoe_process::wait_for_shutdowns(SHORT_WAIT / 50), 1);
        assert_eq!(autonoe_process::wait_for_shutdowns(DEADLINE), 0);
        return;
    }
    let fixture = Fixture::new();
    let mut host =
        fixture.start_host("dropped::a_program_can_wait_for_dropped_children_before_it_exits");

    host.end().expect("it passes");

    fixture.wait_for_file("tool");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn an_agent_that_was_dropped_is_interrupted_before_its_input_ends() {
    let fixture = Fixture::new();
    // The status of `read` shows whether it timed out or saw the end of its input.
    let judge = "read -t 0.1 -r _; [ $? -gt 128 ] && echo open >how || echo ended >how; exit 0";
    let script = format!("trap '{judge}' INT; echo ready; while :; do sleep 0.01; done");
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = fixture.bash(&script).start().await.expect("it starts");
    let stdout = ready(stdout).await;

    drop((stdin, stdout, process));

    assert_eq!(fixture.wait_for_file("how"), "open");
    fixture.eventually_nothing_is_left();
}
