//! Shutdown of a sandbox, after which no process is left.

use autonoe_process::{EndedBy, Exit, ShutdownPolicy, Signal, StartedProcess, wait_for_shutdowns};
use tokio::runtime::Builder;

use super::run_to_end;
use crate::fixture::{
    DEADLINE, Fixture, INTERRUPT, STUBBORN, eventually, kill_at_once, ladder, line, ready,
    short_ladder, within,
};

/// Returns a command that daemonizes twice, in a session and with an environment of its own. Its
/// processes are found by their names.
fn daemon(trial: &Fixture) -> String {
    let sleep = format!("(exec -a {} sleep 600)", name_of_daemon(trial));
    format!("(env -i setsid bash -c 'trap \"\" HUP INT TERM; {sleep} & {sleep}' &)")
}

fn name_of_daemon(trial: &Fixture) -> String {
    format!("daemon-of-{}", trial.marker.value())
}

/// Asserts that no process is alive, including those without the marker.
fn assert_nothing_is_left(trial: &Fixture) {
    trial.assert_nothing_is_left();
    assert_eq!(daemons(trial), 0);
}

fn daemons(trial: &Fixture) -> usize {
    let name = name_of_daemon(trial);
    let entries = std::fs::read_dir("/proc").expect("Linux").flatten();
    let is_one = |path: std::path::PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&name)
    };
    entries.filter(|entry| is_one(entry.path())).count()
}

#[tokio::test]
async fn a_daemon_ends_with_the_program_and_holds_no_pipe_open() {
    let trial = Fixture::new();
    let script = format!("{}; echo said; exit 3", daemon(&trial));

    // The pipe is read to its end, which a daemon that holds the pipe would prevent.
    let (text, exit) = run_to_end(trial.bash(&script).sandbox(trial.sandbox())).await;

    assert_eq!((text.as_str(), exit), ("said\n", Exit::Code(3)));
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn an_interrupt_reaches_the_program_in_the_sandbox() {
    let trial = Fixture::new();
    let script = format!(
        "{}; trap 'exit 4' INT; echo ready; while :; do sleep 0.01; done",
        daemon(&trial)
    );
    let launch = trial.bash(&script).sandbox(trial.sandbox());
    let StartedProcess {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    let end = within(process.shutdown(ladder(&[], INTERRUPT))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(4)), EndedBy::Step(INTERRUPT))
    );
    assert!(end.is_complete(), "{end:?}");
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn a_signal_reaches_the_program_and_is_reported_as_its_exit() {
    let trial = Fixture::new();
    let script = "trap 'echo heard' INT; echo ready; while :; do sleep 0.01; done";
    let launch = trial.bash(script).sandbox(trial.sandbox());
    let started = launch.start().await.expect("it starts");
    let mut stdout = ready(started.stdout).await;

    started.process.signal(Signal::Interrupt).expect("it lives");
    assert_eq!(line(&mut stdout).await, "heard\n");
    started.process.signal(Signal::Terminate).expect("it lives");

    assert_eq!(within(started.process.exited()).await, Exit::Code(128 + 15));
    within(started.process.shutdown(kill_at_once())).await;
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn a_program_that_ignores_all_signals_is_killed_with_its_process_tree() {
    let trial = Fixture::new();
    let launch = trial.bash(&format!("{}; {STUBBORN}", daemon(&trial)));
    let started = launch.sandbox(trial.sandbox()).start().await;
    let StartedProcess {
        process, stdout, ..
    } = started.expect("it starts");
    let _stdout = ready(stdout).await;
    eventually("the daemon", || daemons(&trial) >= 2);

    let end = within(process.shutdown(short_ladder())).await;

    assert_eq!(end.ended_by, EndedBy::Kill);
    assert!(end.is_complete(), "{end:?}");
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn a_program_that_restarts_itself_for_ever_ends_with_its_sandbox() {
    let trial = Fixture::new();
    let script = "hop() { hop & }; hop; hop; hop; echo ready; sleep 600";
    let launch = trial.bash(script).sandbox(trial.sandbox());
    let started = launch.start().await.expect("it starts");
    let _stdout = ready(started.stdout).await;

    let end = within(started.process.shutdown(kill_at_once())).await;

    assert!(end.is_complete(), "{end:?}");
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn a_handle_that_is_dropped_ends_the_sandbox() {
    let trial = Fixture::new();
    let launch = trial.bash(&format!("{}; {STUBBORN}", daemon(&trial)));
    let launch = launch.sandbox(trial.sandbox());
    let launch = launch.on_drop(ShutdownPolicy::kill_at_once());
    let started = launch.start().await.expect("it starts");
    let stdout = ready(started.stdout).await;

    drop((started.process, stdout));

    trial.eventually_nothing_is_left();
    eventually("the end of the daemon", || daemons(&trial) == 0);
    assert_eq!(wait_for_shutdowns(DEADLINE), 0);
}

#[test]
fn a_sandbox_dies_with_the_host_that_is_killed() {
    if let Some(trial) = Fixture::as_host() {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let launch = trial.bash(&format!("{}; {STUBBORN}", daemon(&trial)));
            let started = launch.sandbox(trial.sandbox()).start().await;
            let started = started.expect("it starts");
            let _stdout = ready(started.stdout).await;
            std::fs::write(trial.path("told"), "ready\n").expect("writable");
            std::future::pending::<()>().await;
        });
        return;
    }
    let trial = Fixture::new();
    let mut host =
        trial.start_host("sandbox::shutdown::a_sandbox_dies_with_the_host_that_is_killed");
    assert_eq!(trial.wait_for_file("told"), "ready");
    assert!(!trial.marker.processes().is_empty());

    host.kill();

    trial.eventually_nothing_is_left();
    eventually("the end of the daemon", || daemons(&trial) == 0);
}
