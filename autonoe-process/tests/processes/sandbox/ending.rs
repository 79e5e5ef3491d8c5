//! How what is in a sandbox ends, and that nothing of it is left.

use autonoe_process::{EndedBy, Exit, Ladder, Signal, Started, wait_for_shut_downs};
use tokio::runtime::Builder;

use super::said;
use crate::trial::{
    DEADLINE, INTERRUPT, STUBBORN, Trial, eventually, kill_at_once, ladder, line, ready,
    short_ladder, within,
};

/// A command that goes into the background twice, in a session and with an environment of its
/// own. Its processes are known by their names.
fn daemon(trial: &Trial) -> String {
    let sleep = format!("(exec -a {} sleep 600)", name_of_daemon(trial));
    format!("(env -i setsid bash -c 'trap \"\" HUP INT TERM; {sleep} & {sleep}' &)")
}

fn name_of_daemon(trial: &Trial) -> String {
    format!("daemon-of-{}", trial.marker.value())
}

/// Looks whether anything lives, also without the marker.
fn assert_nothing_is_left(trial: &Trial) {
    trial.assert_nothing_is_left();
    assert_eq!(daemons(trial), 0);
}

fn daemons(trial: &Trial) -> usize {
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
    let trial = Trial::new();
    let script = format!("{}; echo said; exit 3", daemon(&trial));

    // It is read to its end, which a daemon with the pipe would keep from coming.
    let (text, exit) = said(trial.bash(&script).inside(trial.sandbox())).await;

    assert_eq!((text.as_str(), exit), ("said\n", Exit::Code(3)));
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn an_interrupt_reaches_the_program_in_the_sandbox() {
    let trial = Trial::new();
    let script = format!(
        "{}; trap 'exit 4' INT; echo ready; while :; do sleep 0.01; done",
        daemon(&trial)
    );
    let launch = trial.bash(&script).inside(trial.sandbox());
    let Started {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    let end = within(process.shut_down(ladder(&[], INTERRUPT))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(4)), EndedBy::Step(INTERRUPT))
    );
    assert!(end.is_complete(), "{end:?}");
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn a_signal_reaches_the_program_and_its_end_by_one_is_told() {
    let trial = Trial::new();
    let script = "trap 'echo heard' INT; echo ready; while :; do sleep 0.01; done";
    let launch = trial.bash(script).inside(trial.sandbox());
    let started = launch.start().await.expect("it starts");
    let mut stdout = ready(started.stdout).await;

    started.process.signal(Signal::Interrupt).expect("it lives");
    assert_eq!(line(&mut stdout).await, "heard\n");
    started.process.signal(Signal::Terminate).expect("it lives");

    assert_eq!(within(started.process.exited()).await, Exit::Code(128 + 15));
    within(started.process.shut_down(kill_at_once())).await;
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn what_ignores_everything_is_killed_with_all_that_it_has_started() {
    let trial = Trial::new();
    let launch = trial.bash(&format!("{}; {STUBBORN}", daemon(&trial)));
    let started = launch.inside(trial.sandbox()).start().await;
    let Started {
        process, stdout, ..
    } = started.expect("it starts");
    let _stdout = ready(stdout).await;
    eventually("the daemon", || daemons(&trial) >= 2);

    let end = within(process.shut_down(short_ladder())).await;

    assert_eq!(end.ended_by, EndedBy::Kill);
    assert!(end.is_complete(), "{end:?}");
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn what_starts_its_successor_for_ever_ends_with_its_sandbox() {
    let trial = Trial::new();
    let script = "hop() { hop & }; hop; hop; hop; echo ready; sleep 600";
    let launch = trial.bash(script).inside(trial.sandbox());
    let started = launch.start().await.expect("it starts");
    let _stdout = ready(started.stdout).await;

    let end = within(started.process.shut_down(kill_at_once())).await;

    assert!(end.is_complete(), "{end:?}");
    assert_nothing_is_left(&trial);
}

#[tokio::test]
async fn a_handle_that_is_dropped_ends_the_sandbox() {
    let trial = Trial::new();
    let launch = trial.bash(&format!("{}; {STUBBORN}", daemon(&trial)));
    let launch = launch.inside(trial.sandbox());
    let launch = launch.when_dropped(Ladder::kill_at_once());
    let started = launch.start().await.expect("it starts");
    let stdout = ready(started.stdout).await;

    drop((started.process, stdout));

    trial.eventually_nothing_is_left();
    eventually("the end of the daemon", || daemons(&trial) == 0);
    assert_eq!(wait_for_shut_downs(DEADLINE), 0);
}

#[test]
fn a_sandbox_dies_with_the_host_that_is_killed() {
    if let Some(trial) = Trial::as_host() {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let launch = trial.bash(&format!("{}; {STUBBORN}", daemon(&trial)));
            let started = launch.inside(trial.sandbox()).start().await;
            let started = started.expect("it starts");
            let _stdout = ready(started.stdout).await;
            std::fs::write(trial.path("told"), "ready\n").expect("writable");
            std::future::pending::<()>().await;
        });
        return;
    }
    let trial = Trial::new();
    let mut host = trial.start_host("sandbox::ending::a_sandbox_dies_with_the_host_that_is_killed");
    assert_eq!(trial.told_in("told"), "ready");
    assert!(!trial.marker.processes().is_empty());

    host.kill();

    trial.eventually_nothing_is_left();
    eventually("the end of the daemon", || daemons(&trial) == 0);
}
