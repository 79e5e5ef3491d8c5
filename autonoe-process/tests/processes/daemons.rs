//! Daemons without the marker, in sessions of their own, whose parents have ended.
//!
//! Only the supervisor process connects them to the child. All of them work in the folder of the
//! test, which is how the tests find them.

use std::fs;
use std::time::Duration;

use autonoe_process::{CommandOutcome, Exit, Process, ProcessRunner, StartedProcess};
use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::Builder;

use crate::fixture::{
    DEADLINE, Fixture, Pipes, SHORT_WAIT, STUBBORN, eventually, kill_at_once, ready, state, within,
};

/// Shell commands that each leave one daemon, `sleep 97`.
const DAEMONS: [&str; 4] = [
    r#"node -e "require('child_process').spawn('sleep',['97'],{detached:true,stdio:'ignore',env:{}}).unref()""#,
    // Forked twice.
    "( ( exec env -i setsid sleep 97 </dev/null >/dev/null 2>&1 & ) & )",
    // Started by a daemon.
    "env -i setsid bash -c '(env -i setsid sleep 97 &)' </dev/null >/dev/null 2>&1 &",
    "setsid env -i sleep 97 </dev/null >/dev/null 2>&1 &",
];

/// Leaves a chain of processes without the marker. Each adds two bytes to the file `hops`, starts
/// its successor in a new session and exits.
const HOPS: &str = "env -i setsid bash hop </dev/null >/dev/null 2>&1 &";

/// Exits when it is interrupted.
const LISTENING: &str = "trap 'exit 0' INT; echo ready; while :; do sleep 0.01; done";

fn wait_for_daemon(fixture: &Fixture) {
    eventually("a daemon that only its parent identifies", || {
        let processes = fixture.processes();
        let is_alone = matches!(&processes[..], [daemon] if daemon.name == "sleep");
        is_alone && fixture.marker.processes().is_empty()
    });
}

fn write_hops(fixture: &Fixture) {
    let hop = "echo x >>hops; env -i setsid bash hop &\n";
    fs::write(fixture.path("hop"), hop).expect("writable");
}

fn hops(fixture: &Fixture) -> u64 {
    fs::metadata(fixture.path("hops")).map_or(0, |file| file.len())
}

/// Starts Bash with `script`, which prints `ready`.
async fn start(fixture: &Fixture, script: &str) -> (Process, Pipes) {
    let started = fixture.bash(script).start().await.expect("it starts");
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = started;
    (process, (stdin, ready(stdout).await))
}

/// Starts Bash with `script` in a host, which runs until it is killed.
fn run_host(fixture: &Fixture, script: &str, has_ended: bool) -> ! {
    let runtime = Builder::new_current_thread().enable_all().build();
    let held = runtime.expect("a runtime").block_on(async {
        let held = start(fixture, script).await;
        if has_ended {
            within(held.0.exited()).await;
        }
        held
    });
    fs::write(fixture.path("host"), "ready\n").expect("writable");
    loop {
        std::thread::park();
        let _ = &held;
    }
}

fn supervisor_of(process: &Process) -> Pid {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.pid())).expect("it runs");
    let (_, rest) = stat.rsplit_once(") ").expect("a whole line");
    let parent = rest.split(' ').nth(1).and_then(|pid| pid.parse().ok());
    let parent = parent.and_then(Pid::from_raw).expect("a number");
    assert_ne!(parent, rustix::process::getpid(), "there is no supervisor");
    parent
}

#[tokio::test]
async fn daemons_are_killed_after_the_child_has_ended() {
    for daemon in DAEMONS {
        let fixture = Fixture::new();
        let started = fixture.bash(daemon).start().await.expect("it starts");
        assert_eq!(within(started.process.exited()).await, Exit::Code(0));
        wait_for_daemon(&fixture);

        let end = within(started.process.shutdown(kill_at_once())).await;

        let killed: Vec<_> = end.killed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(killed, ["sleep"], "{daemon}");
        assert_eq!(fixture.processes(), [], "{daemon}");
        assert!(end.is_complete(), "{daemon}: {end:?}");
    }
}

#[tokio::test]
async fn commands_leave_no_daemons() {
    for daemon in DAEMONS {
        let fixture = Fixture::new();
        let commands = ProcessRunner::unconfined(fixture.folder())
            .env("PATH", std::env::var_os("PATH").expect("set"));
        let command = ["bash", "-c", daemon].map(str::to_owned);

        let end = commands.run(&command, DEADLINE).await.expect("it starts");

        assert_eq!(end, CommandOutcome::Exited { code: 0 }, "{daemon}");
        assert_eq!(fixture.processes(), [], "{daemon}");
    }
}

#[test]
fn daemons_are_killed_when_the_host_is_killed() {
    if let Some(fixture) = Fixture::as_host() {
        run_host(&fixture, &format!("{}; {LISTENING}", DAEMONS[0]), false);
    }
    let fixture = Fixture::new();
    let mut host = fixture.start_host("daemons::daemons_are_killed_when_the_host_is_killed");
    fixture.wait_for_file("host");
    eventually("a daemon", || fixture.processes().len() > 1);

    host.kill();

    eventually("the end of the daemon", || fixture.processes().is_empty());
}

#[test]
fn daemons_of_a_child_that_has_ended_are_killed_when_the_host_is_killed() {
    if let Some(fixture) = Fixture::as_host() {
        run_host(&fixture, &format!("{}; echo ready", DAEMONS[0]), true);
    }
    let fixture = Fixture::new();
    let name = "daemons_of_a_child_that_has_ended_are_killed_when_the_host_is_killed";
    let mut host = fixture.start_host(&format!("daemons::{name}"));
    fixture.wait_for_file("host");
    wait_for_daemon(&fixture);

    host.kill();

    eventually("the end of the daemon", || fixture.processes().is_empty());
}

#[test]
fn daemons_that_start_each_other_are_killed_when_the_host_is_killed() {
    if let Some(fixture) = Fixture::as_host() {
        run_host(&fixture, &format!("{HOPS} echo ready"), true);
    }
    let fixture = Fixture::new();
    write_hops(&fixture);
    let name = "daemons_that_start_each_other_are_killed_when_the_host_is_killed";
    let mut host = fixture.start_host(&format!("daemons::{name}"));
    fixture.wait_for_file("host");
    eventually("a few hops", || hops(&fixture) > 20);

    host.kill();

    eventually("the last hop", || {
        let then = hops(&fixture);
        std::thread::sleep(Duration::from_millis(200));
        hops(&fixture) == then && fixture.processes().is_empty()
    });
}

#[tokio::test]
async fn daemons_that_start_each_other_are_killed_after_the_child_has_ended() {
    let fixture = Fixture::new();
    write_hops(&fixture);
    let started = fixture.bash(HOPS).start().await.expect("it starts");
    assert_eq!(within(started.process.exited()).await, Exit::Code(0));
    eventually("a few hops", || hops(&fixture) > 20);

    let end = within(started.process.shutdown(kill_at_once())).await;

    assert!(end.is_complete(), "{end:?}");
    let then = hops(&fixture);
    std::thread::sleep(SHORT_WAIT);
    assert_eq!(hops(&fixture), then, "the chain continues");
    assert_eq!(fixture.processes(), []);
}

#[tokio::test]
async fn killing_the_supervisor_kills_the_child_and_its_daemons() {
    let fixture = Fixture::new();
    // The child ignores the signal that it gets when its supervisor dies.
    let script = format!("{}; {STUBBORN}", DAEMONS[0]);
    let (process, _pipes) = start(&fixture, &script).await;
    eventually("a daemon", || fixture.processes().len() > 1);

    kill_process(supervisor_of(&process), Signal::KILL).expect("it runs");

    assert_eq!(within(process.exited()).await, Exit::Unknown);
    let end = within(process.shutdown(kill_at_once())).await;
    assert_eq!(end.left, []);
    assert_eq!(fixture.processes(), []);
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_supervisor_that_was_stopped_does_not_prevent_a_shut_down() {
    let fixture = Fixture::new();
    let (process, _pipes) = start(&fixture, LISTENING).await;
    let supervisor = supervisor_of(&process);
    kill_process(supervisor, Signal::STOP).expect("it runs");
    let number = supervisor.as_raw_pid().unsigned_abs();
    eventually("the supervisor to stop", || state(number) == Some('T'));

    let end = within(process.shutdown(kill_at_once())).await;

    assert!(end.is_complete(), "{end:?}");
    assert_eq!(end.exit, Some(Exit::Signal(9)));
    assert_eq!(state(number), None, "the supervisor is still there");
}

#[tokio::test]
async fn the_orphans_of_a_child_are_reaped() {
    let fixture = Fixture::new();
    let script = "(env -i setsid bash -c 'echo $$ >orphan; read -r _ <hold' &); exit 0";
    let script = format!("mkfifo hold; {script}");
    let started = fixture.bash(&script).start().await.expect("it starts");
    within(started.process.exited()).await;
    let child = started.process.pid();
    let orphan = fixture.wait_for_file("orphan").parse().expect("a number");

    let end = within(started.process.shutdown(kill_at_once())).await;

    assert!(end.is_complete(), "{end:?}");
    assert_eq!((state(child), state(orphan)), (None, None));
}
