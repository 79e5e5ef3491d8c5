//! Tools that detach from the child.

use std::collections::HashSet;
use std::fs;

use autonoe_process::{EndedBy, Exit, Process, ProcessInfo, StartedProcess};
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::{
    CLOSE, DEADLINE, Fixture, Pipes, descendants, eventually, is_alive, kill_at_once, policy,
    ready, within,
};

/// A tool in a session of its own that ignores everything but a kill.
const TOOL: &str = r#"setsid bash -c 'trap "" HUP INT TERM; echo $$ >tool; exec sleep 600'"#;

fn pids(processes: &[ProcessInfo]) -> HashSet<u32> {
    processes.iter().map(|process| process.pid).collect()
}

async fn start(fixture: &Fixture, script: &str) -> (Process, Pipes) {
    let started = fixture.bash(script).start().await.expect("it starts");
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = started;
    (process, (stdin, ready(stdout).await))
}

/// Waits until a tool of the test executes `sleep` and is found by its marker.
///
/// The environment of a process is empty for a moment while the process executes another program.
fn wait_for_sleep(fixture: &Fixture) {
    let is_found = || {
        let found = fixture.marker.processes();
        found.iter().any(|process| process.name == "sleep")
    };
    eventually("a tool that executes sleep", is_found);
    // The first check may have read the environment before that moment and the name after it.
    eventually("the marker of the tool", is_found);
}

#[tokio::test]
async fn a_tool_in_a_session_of_its_own_is_killed_with_the_child() {
    let fixture = Fixture::new();
    let (process, _pipes) = start(&fixture, &format!("{TOOL} & echo ready; wait")).await;
    let tool = fixture.wait_for_file("tool").parse().expect("a number");
    assert!(descendants(process.pid()).contains(&tool));

    let end = within(process.shutdown(kill_at_once())).await;

    assert_eq!(end.ended_by, EndedBy::Kill);
    assert_eq!(pids(&end.killed), [tool].into());
    assert!(!is_alive(tool));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_tool_that_was_orphaned_by_the_death_of_the_child_is_killed() {
    let fixture = Fixture::new();
    let (process, _pipes) = start(&fixture, &format!("{TOOL} & echo ready; wait")).await;
    let tool = fixture.wait_for_file("tool").parse().expect("a number");
    let pid = Pid::from_raw(process.pid().try_into().expect("small"));
    kill_process(pid.expect("not zero"), Signal::KILL).expect("it lives");
    assert_eq!(within(process.exited()).await, Exit::Signal(9));
    wait_for_sleep(&fixture);
    assert_eq!(pids(&fixture.marker.processes()), [tool].into());

    let end = within(process.shutdown(kill_at_once())).await;

    assert_eq!(
        (end.ended_by, pids(&end.killed)),
        (EndedBy::Itself, [tool].into())
    );
    assert!(!is_alive(tool));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn background_processes_do_not_survive_a_clean_exit() {
    let fixture = Fixture::new();
    let script = "nohup sleep 600 >/dev/null 2>&1 & echo ready; read -r _; exit 0";
    let (process, _pipes) = start(&fixture, script).await;
    wait_for_sleep(&fixture);

    let end = within(process.shutdown(policy(&[], CLOSE))).await;

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
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_daemon_without_the_marker_is_found_as_long_as_the_child_lives() {
    let fixture = Fixture::new();
    // The shell in between exits at once, so the daemon is an orphan, and has no environment.
    let daemon =
        r#"(env -i "$(type -P setsid)" "$(type -P bash)" -c 'echo $$ >daemon; read -r _ <hold' &)"#;
    let script = format!("mkfifo hold; {daemon}; echo ready; read -r _; exit 0");
    let (process, _pipes) = start(&fixture, &script).await;
    let daemon = fixture.wait_for_file("daemon").parse().expect("a number");
    assert!(
        !pids(&fixture.marker.processes()).contains(&daemon),
        "it has the marker"
    );
    assert!(descendants(process.pid()).contains(&daemon));

    let end = within(process.shutdown(policy(&[], CLOSE))).await;

    assert_eq!(end.ended_by, EndedBy::Step(CLOSE));
    assert!(pids(&end.killed).contains(&daemon), "{end:?}");
    eventually("the end of the daemon", || !is_alive(daemon));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn children_of_a_leftover_without_the_marker_are_killed_too() {
    let fixture = Fixture::new();
    let inner = r#"env -i "$(type -P bash)" -c "echo \$\$ >inner; read -r _ <hold"; true"#;
    let script = format!("mkfifo hold; setsid bash -c '{inner}' & echo ready; read -r _; exit 0");
    let (process, _pipes) = start(&fixture, &script).await;
    let inner = fixture.wait_for_file("inner").parse().expect("a number");

    let end = within(process.shutdown(policy(&[], CLOSE))).await;

    assert!(pids(&end.killed).contains(&inner), "{end:?}");
    eventually("the end of what it started", || !is_alive(inner));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_process_that_keeps_restarting_itself_is_caught() {
    // It is alive for two milliseconds, each time in a session of its own; catching it once could
    // be chance.
    for _ in 0..10 {
        let fixture = Fixture::new();
        fs::write(fixture.path("hop"), "echo x >>hops; setsid bash hop &\n").expect("writable");
        let (process, _pipes) =
            start(&fixture, "setsid bash hop & echo ready; wait; read -r _").await;
        let hops = || fs::metadata(fixture.path("hops")).map_or(0, |file| file.len() / 2);
        eventually("a few hops", || hops() > 10);

        let end = within(process.shutdown(kill_at_once())).await;

        assert!(end.is_complete(), "{end:?}");
        let then = hops();
        for _ in 0..10 {
            fixture.assert_nothing_is_left();
        }
        assert_eq!(hops(), then, "it goes on");
    }
}

#[tokio::test]
async fn only_processes_with_the_marker_are_found() {
    let (fixture, other) = (Fixture::new(), Fixture::new());
    let (process, _pipes) = start(&fixture, "sleep 600 & echo ready; wait").await;
    let (stranger, _others) = start(&other, "sleep 600 & echo ready; wait").await;
    wait_for_sleep(&fixture);
    wait_for_sleep(&other);

    let mut found = pids(&fixture.marker.processes());

    assert!(found.remove(&process.pid()), "{found:?}");
    assert_eq!(found, descendants(process.pid()));
    assert_eq!(found.len(), 1);
    let end = within(process.shutdown(kill_at_once())).await;
    assert_eq!(pids(&end.killed), found);
    assert_eq!(stranger.try_exit(), None);
    assert_eq!(other.marker.processes().len(), 2);
    let end = within(stranger.shutdown(kill_at_once())).await;
    assert!(end.is_complete(), "{end:?}");
    fixture.assert_nothing_is_left();
    other.assert_nothing_is_left();
}

#[tokio::test]
async fn processes_with_a_marker_are_killed_without_a_handle() {
    let fixture = Fixture::new();
    let (process, _pipes) = start(&fixture, &format!("{TOOL} & echo ready; wait")).await;
    let tool = fixture.wait_for_file("tool").parse().expect("a number");
    wait_for_sleep(&fixture);

    let sweep = fixture.marker.kill_all(DEADLINE);

    assert!(
        pids(&sweep.killed).is_superset(&[tool, process.pid()].into()),
        "{sweep:?}"
    );
    assert_eq!(sweep.left, []);
    fixture.assert_nothing_is_left();
    assert_eq!(within(process.exited()).await, Exit::Signal(9));
}
