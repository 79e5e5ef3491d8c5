//! Children whose host dies. Each test starts itself again as the host.

use autonoe_process::{Exit, Process, StartedProcess};
use rustix::thread::gettid;
use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::runtime::{Builder, Handle};

use crate::fixture::{
    CLOSE, Fixture, Pipes, STUBBORN, eventually, is_alive, line, policy, ready, within,
};

/// An agent: it does not read its input, and ends its tool when it is interrupted.
///
/// The tool has a session of its own and does not depend on other processes.
const AGENT: &str = r#"
    setsid bash -c 'trap "" HUP INT; echo $$ >tool; exec sleep 600' &
    trap 'kill -KILL $(<tool); echo interrupted >how; exit 0' INT
    while [ ! -s tool ]; do sleep 0.01; done
    echo ready
    while :; do sleep 0.01; done
"#;

/// Starts an agent, and returns when it is running.
async fn start(fixture: &Fixture) -> (Process, Pipes) {
    let started = fixture.bash(AGENT).start().await.expect("it starts");
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = started;
    let stdout = ready(stdout).await;
    fs::write(fixture.path("agent"), format!("{}\n", process.pid())).expect("writable");
    (process, (stdin, stdout))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

fn assert_both_were_there(fixture: &Fixture) {
    for name in ["agent", "tool"] {
        let pid = fixture.wait_for_file(name).parse().expect("a number");
        eventually(name, || !is_alive(pid));
    }
}

#[test]
fn nothing_is_left_when_the_host_is_killed() {
    if let Some(fixture) = Fixture::as_host() {
        let held = block_on(start(&fixture));
        loop {
            std::thread::park();
            let _ = &held;
        }
    }
    let fixture = Fixture::new();
    let mut host = fixture.start_host("host_death::nothing_is_left_when_the_host_is_killed");
    fixture.wait_for_file("agent");
    assert!(!fixture.marker.processes().is_empty());

    host.kill();

    // It was interrupted, and did not see the end of its input.
    assert_eq!(fixture.wait_for_file("how"), "interrupted");
    fixture.eventually_nothing_is_left();
    assert_both_were_there(&fixture);
}

#[test]
fn nothing_is_left_when_the_host_panics() {
    if let Some(fixture) = Fixture::as_host() {
        let _held = block_on(start(&fixture));
        panic!("as it must");
    }
    let fixture = Fixture::new();
    let mut host = fixture.start_host("host_death::nothing_is_left_when_the_host_panics");

    let log = host.end().expect_err("it panics");
    assert!(log.contains("as it must"), "{log}");

    fixture.eventually_nothing_is_left();
    assert_both_were_there(&fixture);
}

#[test]
fn nothing_is_left_when_the_host_exits_without_a_shutdown() {
    if let Some(fixture) = Fixture::as_host() {
        let _held = block_on(start(&fixture));
        #[expect(clippy::exit, reason = "that is what the test is about")]
        std::process::exit(0);
    }
    let fixture = Fixture::new();
    let mut host =
        fixture.start_host("host_death::nothing_is_left_when_the_host_exits_without_a_shutdown");

    host.end().expect("it passes");

    fixture.eventually_nothing_is_left();
    assert_both_were_there(&fixture);
}

#[test]
fn a_later_host_can_kill_leftovers_that_ignore_signals() {
    if let Some(fixture) = Fixture::as_host() {
        let _held = block_on(async {
            let started = fixture.bash(STUBBORN).start().await.expect("it starts");
            let stdout = ready(started.stdout).await;
            let pid = started.process.pid();
            fs::write(fixture.path("agent"), format!("{pid}\n")).expect("writable");
            (started.process, started.stdin, stdout)
        });
        loop {
            std::thread::park();
        }
    }
    let fixture = Fixture::new();
    let mut host =
        fixture.start_host("host_death::a_later_host_can_kill_leftovers_that_ignore_signals");
    let agent: u32 = fixture.wait_for_file("agent").parse().expect("a number");
    host.kill();
    assert!(
        fixture
            .marker
            .processes()
            .iter()
            .any(|process| process.pid == agent)
    );

    let sweep = fixture.marker.kill_all(crate::fixture::DEADLINE);

    assert!(
        sweep.killed.iter().any(|process| process.pid == agent),
        "{sweep:?}"
    );
    assert_eq!(sweep.left, []);
    fixture.assert_nothing_is_left();
}

#[test]
fn a_child_outlives_the_thread_that_started_it() {
    let fixture = Fixture::new();
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_keep_alive(std::time::Duration::from_millis(1))
        .enable_all()
        .build()
        .expect("a runtime");
    let launch = fixture.bash("echo ready; exec cat");
    let (sender, receiver) = channel();

    let started = runtime.block_on(runtime.spawn_blocking(move || {
        sender.send(gettid()).expect("somebody listens");
        Handle::current().block_on(launch.start())
    }));
    let StartedProcess {
        process,
        mut stdin,
        stdout,
    } = started.expect("no panic").expect("it starts");
    let thread = receiver.recv().expect("it has told").as_raw_pid();
    let entry = format!("/proc/self/task/{thread}");
    eventually("the end of the thread", || !Path::new(&entry).exists());

    runtime.block_on(async {
        let mut stdout = BufReader::new(stdout);
        assert_eq!(line(&mut stdout).await, "ready\n");
        stdin.write_all(b"still here\n").await.expect("it reads");
        assert_eq!(line(&mut stdout).await, "still here\n");
        assert_eq!(process.try_exit(), None);
        let end = within(process.shutdown(policy(&[], CLOSE))).await;
        assert_eq!(end.exit, Some(Exit::Code(0)));
    });
    fixture.assert_nothing_is_left();
}

#[test]
fn a_host_that_must_end_at_once_kills_everything() {
    if let Some(fixture) = Fixture::as_host() {
        let _held = block_on(async {
            let started = fixture.bash(STUBBORN).start().await.expect("it starts");
            let stdout = ready(started.stdout).await;
            (started.process, started.stdin, stdout)
        });
        assert_ne!(fixture.marker.processes(), []);

        let left = autonoe_process::kill_all_children(crate::fixture::DEADLINE);

        assert_eq!(left, 0);
        fixture.assert_nothing_is_left();
        return;
    }
    let fixture = Fixture::new();
    let mut host = fixture.start_host("host_death::a_host_that_must_end_at_once_kills_everything");

    host.end().expect("it passes");
    fixture.assert_nothing_is_left();
}
