//! Shutdown of a sandbox, after which no process is left.

use autonoe_process::{EndedBy, Exit, ShutdownPolicy, StartedProcess, wait_for_shutdowns};
use tokio::runtime::Builder;

use super::run_to_end;
use crate::fixture::{
    DEADLINE, Fixture, INTERRUPT, STUBBORN, TERMINATE, eventually, kill_at_once, line, policy,
    ready, short_policy, within,
};

/// Returns a command that daemonizes twice, in a session and with an environment of its own. Its
/// processes are found by their names.
fn daemon(fixture: &Fixture) -> String {
    let sleep = format!("(exec -a {} sleep 600)", name_of_daemon(fixture));
    format!("(env -i setsid bash -c 'trap \"\" HUP INT TERM; {sleep} & {sleep}' &)")
}

fn name_of_daemon(fixture: &Fixture) -> String {
    format!("daemon-of-{}", fixture.marker.value())
}

/// Asserts that no process is alive, including those without the marker.
fn assert_nothing_is_left(fixture: &Fixture) {
    fixture.assert_nothing_is_left();
    assert_eq!(daemons(fixture), 0);
}

fn daemons(fixture: &Fixture) -> usize {
    let name = name_of_daemon(fixture);
    let entries = std::fs::read_dir("/proc").expect("Linux").flatten();
    let is_one = |path: std::path::PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&name)
    };
    entries.filter(|entry| is_one(entry.path())).count()
}

#[tokio::test]
async fn a_daemon_ends_with_the_program_and_holds_no_pipe_open() {
    let fixture = Fixture::new();
    let script = format!("{}; echo done; exit 3", daemon(&fixture));

    // The pipe is read to its end, which a daemon that holds the pipe would prevent.
    let (text, exit) = run_to_end(fixture.bash(&script).sandbox(fixture.sandbox())).await;

    assert_eq!((text.as_str(), exit), ("done\n", Exit::Code(3)));
    assert_nothing_is_left(&fixture);
}

#[tokio::test]
async fn an_interrupt_reaches_the_program_in_the_sandbox() {
    let fixture = Fixture::new();
    let script = format!(
        "{}; trap 'exit 4' INT; echo ready; while :; do sleep 0.01; done",
        daemon(&fixture)
    );
    let launch = fixture.bash(&script).sandbox(fixture.sandbox());
    let StartedProcess {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    let end = within(process.shutdown(policy(&[], INTERRUPT))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(4)), EndedBy::Step(INTERRUPT))
    );
    assert!(end.is_complete(), "{end:?}");
    assert_nothing_is_left(&fixture);
}

#[tokio::test]
async fn a_signal_reaches_the_program_and_is_reported_as_its_exit() {
    let fixture = Fixture::new();
    // Bash runs the trap of the interrupt first, even if both signals have arrived.
    let script = "trap 'echo interrupted' INT; trap 'trap - TERM; kill -TERM $$' TERM
                  echo ready; while :; do sleep 0.01; done";
    let launch = fixture.bash(script).sandbox(fixture.sandbox());
    let started = launch.start().await.expect("it starts");
    let mut stdout = ready(started.stdout).await;

    let steps = policy(&[INTERRUPT], TERMINATE);
    let end = within(started.process.shutdown(steps)).await;

    assert_eq!(line(&mut stdout).await, "interrupted\n");
    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(128 + 15)), EndedBy::Step(TERMINATE))
    );
    assert_nothing_is_left(&fixture);
}

#[tokio::test]
async fn a_program_that_ignores_all_signals_is_killed_with_its_process_tree() {
    let fixture = Fixture::new();
    let launch = fixture.bash(&format!("{}; {STUBBORN}", daemon(&fixture)));
    let started = launch.sandbox(fixture.sandbox()).start().await;
    let StartedProcess {
        process, stdout, ..
    } = started.expect("it starts");
    let _stdout = ready(stdout).await;
    eventually("the daemon", || daemons(&fixture) >= 2);

    let end = within(process.shutdown(short_policy())).await;

    assert_eq!(end.ended_by, EndedBy::Kill);
    assert!(end.is_complete(), "{end:?}");
    assert_nothing_is_left(&fixture);
}

#[tokio::test]
async fn a_program_that_restarts_itself_for_ever_ends_with_its_sandbox() {
    let fixture = Fixture::new();
    let script = "hop() { hop & }; hop; hop; hop; echo ready; sleep 600";
    let launch = fixture.bash(script).sandbox(fixture.sandbox());
    let started = launch.start().await.expect("it starts");
    let _stdout = ready(started.stdout).await;

    let end = within(started.process.shutdown(kill_at_once())).await;

    assert!(end.is_complete(), "{end:?}");
    assert_nothing_is_left(&fixture);
}

#[tokio::test]
async fn a_handle_that_is_dropped_ends_the_sandbox() {
    let fixture = Fixture::new();
    let launch = fixture
        .bash(&format!("{}; {STUBBORN}", daemon(&fixture)))
        .sandbox(fixture.sandbox())
        .on_drop(ShutdownPolicy::kill_at_once());
    let started = launch.start().await.expect("it starts");
    let stdout = ready(started.stdout).await;

    drop((started.process, stdout));

    fixture.eventually_nothing_is_left();
    eventually("the end of the daemon", || daemons(&fixture) == 0);
    assert_eq!(wait_for_shutdowns(DEADLINE), 0);
}

#[test]
fn a_sandbox_dies_with_the_host_that_is_killed() {
    if let Some(fixture) = Fixture::as_host() {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let launch = fixture.bash(&format!("{}; {STUBBORN}", daemon(&fixture)));
            let started = launch.sandbox(fixture.sandbox()).start().await;
            let started = started.expect("it starts");
            let _stdout = ready(started.stdout).await;
            std::fs::write(fixture.path("told"), "ready\n").expect("writable");
            std::future::pending::<()>().await;
        });
        return;
    }
    let fixture = Fixture::new();
    let mut host =
        fixture.start_host("sandbox::shutdown::a_sandbox_dies_with_the_host_that_is_killed");
    assert_eq!(fixture.wait_for_file("told"), "ready");
    assert!(!fixture.marker.processes().is_empty());

    host.kill();

    fixture.eventually_nothing_is_left();
    eventually("the end of the daemon", || daemons(&fixture) == 0);
}
