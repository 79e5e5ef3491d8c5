//! Tools that detach from the child.

use std::collections::HashSet;
use std::fs;

use autonoe_process::{EndedBy, Exit, Process, ProcessInfo, StartedProcess};

use crate::fixture::{
    CLOSE, DEADLINE, Fixture, Pipes, eventually, is_alive, kill_at_once, ladder, ready, within,
};

/// A tool in a session of its own that ignores everything but a kill.
const TOOL: &str = r#"setsid bash -c 'trap "" HUP INT TERM; echo $$ >tool; exec sleep 600'"#;

fn pids(processes: &[ProcessInfo]) -> HashSet<u32> {
    processes.iter().map(|process| process.pid).collect()
}

async fn start(trial: &Fixture, script: &str) -> (Process, Pipes) {
    let started = trial.bash(script).start().await.expect("it starts");
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = started;
    (process, (stdin, ready(stdout).await))
}

/// Waits until the tool of `process` executes `sleep` and is found by its marker.
///
/// The environment of a process is empty for a moment while the process executes another program.
fn wait_for_sleep(process: &Process) {
    let is_found = || {
        let found = process.leftovers();
        found.iter().any(|process| process.name == "sleep")
    };
    eventually("a tool that executes sleep", is_found);
    // The first check may have read the environment before that moment and the name after it.
    eventually("the marker of the tool", is_found);
}

#[tokio::test]
async fn a_tool_in_a_session_of_its_own_is_killed_with_the_child() {
    let trial = Fixture::new();
    let (process, _pipes) = start(&trial, &format!("{TOOL} & echo ready; wait")).await;
    let tool = trial.wait_for_file("tool").parse().expect("a number");
    assert!(pids(&process.descendants()).contains(&tool));

    let end = within(process.shutdown(kill_at_once())).await;

    assert_eq!(end.ended_by, EndedBy::Kill);
    assert_eq!(pids(&end.killed), [tool].into());
    assert!(!is_alive(tool));
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn a_tool_that_was_orphaned_by_the_death_of_the_child_is_killed() {
    let trial = Fixture::new();
    let (process, _pipes) = start(&trial, &format!("{TOOL} & echo ready; wait")).await;
    let tool = trial.wait_for_file("tool").parse().expect("a number");
    process
        .signal(autonoe_process::Signal::Kill)
        .expect("it lives");
    assert_eq!(within(process.exited()).await, Exit::Signal(9));
    assert_eq!(pids(&process.descendants()), [].into());
    wait_for_sleep(&process);
    assert_eq!(pids(&process.leftovers()), [tool].into());

    let end = within(process.shutdown(kill_at_once())).await;

    assert_eq!(
        (end.ended_by, pids(&end.killed)),
        (EndedBy::Itself, [tool].into())
    );
    assert!(!is_alive(tool));
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn background_processes_do_not_survive_a_clean_exit() {
    let trial = Fixture::new();
    let script = "nohup sleep 600 >/dev/null 2>&1 & echo ready; read -r _; exit 0";
    let (process, _pipes) = start(&trial, script).await;
    wait_for_sleep(&process);

    let end = within(process.shutdown(ladder(&[], CLOSE))).await;

    assert_eq!(
        (end.exit, end.ended_by),
        (Some(Exit::Code(0)), EndedBy::Step(CLOSE))
    );
    let killed: Vec<_> = end
        .killed
        .iter()
        .map(|process| process.name.as_str())
        .collect();
    assert_eq!(killed, ["sleep"]);
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn a_daemon_without_the_marker_is_found_as_long_as_the_child_lives() {
    let trial = Fixture::new();
    // The shell in between exits at once, so the daemon is an orphan, and has no environment.
    let daemon =
        r#"(env -i "$(type -P setsid)" "$(type -P bash)" -c 'echo $$ >daemon; read -r _ <hold' &)"#;
    let script = format!("mkfifo hold; {daemon}; echo ready; read -r _; exit 0");
    let (process, _pipes) = start(&trial, &script).await;
    let daemon = trial.wait_for_file("daemon").parse().expect("a number");
    assert!(
        !pids(&process.leftovers()).contains(&daemon),
        "it has the marker"
    );
    assert!(pids(&process.descendants()).contains(&daemon));

    let end = within(process.shutdown(ladder(&[], CLOSE))).await;

    assert_eq!(end.ended_by, EndedBy::Step(CLOSE));
    assert!(pids(&end.killed).contains(&daemon), "{end:?}");
    eventually("the end of the daemon", || !is_alive(daemon));
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn children_of_a_leftover_without_the_marker_are_killed_too() {
    let trial = Fixture::new();
    let inner = r#"env -i "$(type -P bash)" -c "echo \$\$ >inner; read -r _ <hold"; true"#;
    let script = format!("mkfifo hold; setsid bash -c '{inner}' & echo ready; read -r _; exit 0");
    let (process, _pipes) = start(&trial, &script).await;
    let inner = trial.wait_for_file("inner").parse().expect("a number");

    let end = within(process.shutdown(ladder(&[], CLOSE))).await;

    assert!(pids(&end.killed).contains(&inner), "{end:?}");
    eventually("the end of what it started", || !is_alive(inner));
    trial.assert_nothing_is_left();
}

#[tokio::test]
async fn a_process_that_keeps_restarting_itself_is_caught() {
    // It is alive for two milliseconds, each time in a session of its own; catching it once could
    // be chance.
    for _ in 0..10 {
        let trial = Fixture::new();
        fs::write(trial.path("hop"), "echo x >>hops; setsid bash hop &\n").expect("writable");
        let (process, _pipes) =
            start(&trial, "setsid bash hop & echo ready; wait; read -r _").await;
        let hops = || fs::metadata(trial.path("hops")).map_or(0, |file| file.len() / 2);
        eventually("a few hops", || hops() > 10);

        let end = within(process.shutdown(kill_at_once())).await;

        assert!(end.is_complete(), "{end:?}");
        let then = hops();
        for _ in 0..10 {
            trial.assert_nothing_is_left();
        }
        assert_eq!(hops(), then, "it goes on");
    }
}

#[tokio::test]
async fn only_processes_with_the_marker_are_found() {
    let (trial, other) = (Fixture::new(), Fixture::new());
    let (process, _pipes) = start(&trial, "sleep 600 & echo ready; wait").await;
    let (stranger, _others) = start(&other, "sleep 600 & echo ready; wait").await;
    wait_for_sleep(&process);
    wait_for_sleep(&stranger);

    let found = pids(&process.leftovers());

    assert_eq!(found, pids(&process.descendants()));
    assert_eq!(found.len(), 1);
    let mut all = found.clone();
    all.insert(process.pid());
    assert_eq!(pids(&trial.marker.processes()), all);
    let end = within(process.shutdown(kill_at_once())).await;
    assert_eq!(pids(&end.killed), found);
    assert_eq!(stranger.try_exit(), None);
    assert_eq!(stranger.leftovers().len(), 1);
    let end = within(stranger.shutdown(kill_at_once())).await;
    assert!(end.is_complete(), "{end:?}");
    trial.assert_nothing_is_left();
    other.assert_nothing_is_left();
}

#[tokio::test]
async fn processes_with_a_marker_are_killed_without_a_handle() {
    let trial = Fixture::new();
    let (process, _pipes) = start(&trial, &format!("{TOOL} & echo ready; wait")).await;
    let tool = trial.wait_for_file("tool").parse().expect("a number");
    wait_for_sleep(&process);

    let sweep = trial.marker.kill_all(DEADLINE);

    assert!(
        pids(&sweep.killed).is_superset(&[tool, process.pid()].into()),
        "{sweep:?}"
    );
    assert_eq!(sweep.left, []);
    trial.assert_nothing_is_left();
    assert_eq!(within(process.exited()).await, Exit::Signal(9));
}
