//! Initial environment, session and signals of a child.

use std::collections::BTreeSet;
use std::fs;

use autonoe_process::{Exit, Launch, StartedProcess, find_program};
use rustix::process::{Pid, geteuid, getpgid, getsid};
use tokio::io::AsyncWriteExt;
use tokio::runtime::Builder;

use crate::fixture::{CLOSE, Fixture, eventually, policy, ready, short_policy, within};

#[tokio::test]
async fn the_environment_has_the_variables_of_the_launch_and_the_marker() {
    let fixture = Fixture::new();
    let cat = find_program("cat", &std::env::var_os("PATH").expect("set")).expect("it is there");
    let launch = Launch::new(cat, fixture.folder(), fixture.marker.clone())
        .envs([("ONE", "1"), ("TWO", "2 = 2")])
        // A marker that the environment could override would not be one.
        .env(fixture.marker.name(), "something else");
    let StartedProcess {
        process,
        stdin: _stdin,
        ..
    } = launch.start().await.expect("it starts");

    let environ = fs::read_to_string(format!("/proc/{}/environ", process.pid()));

    let environ = environ.expect("it lives");
    let marker = format!("{}={}", fixture.marker.name(), fixture.marker.value());
    let found: BTreeSet<_> = environ.split_terminator('\0').collect();
    assert_eq!(found, ["ONE=1", "TWO=2 = 2", &marker].into());
    let end = within(process.shutdown(policy(&[], CLOSE))).await;
    assert_eq!(end.exit, Some(Exit::Code(0)));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_child_works_in_its_directory_and_in_a_session_of_its_own() {
    let fixture = Fixture::new();
    let launch = fixture.bash("echo ready; exec cat");
    let StartedProcess {
        process,
        stdin: _stdin,
        stdout,
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    let pid = Pid::from_raw(process.pid().try_into().expect("small"));

    let directory = fs::read_link(format!("/proc/{}/cwd", process.pid()));
    assert_eq!(
        directory.expect("it lives"),
        fixture.folder().canonicalize().expect("there")
    );
    assert_eq!(getsid(pid).ok(), pid);
    assert_eq!(getpgid(pid).ok(), pid);
    assert!(
        within(process.shutdown(policy(&[], CLOSE)))
            .await
            .is_complete()
    );
    fixture.assert_nothing_is_left();
}

#[test]
fn a_child_does_not_inherit_ignored_signals() {
    if let Some(fixture) = Fixture::as_host() {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let launch = fixture.bash("echo ready; exec cat");
            let started = launch.start().await.expect("it starts");
            let StartedProcess {
                process,
                stdin: _stdin,
                stdout,
            } = started;
            let _stdout = ready(stdout).await;
            let status = |pid| fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
            let ignored = |pid: String| {
                let status = status(pid);
                let line = status
                    .lines()
                    .find_map(|line| line.strip_prefix("SigIgn:\t"));
                u64::from_str_radix(line.expect("a line"), 16).expect("a number")
            };
            assert_eq!(
                ignored("self".into()) & 0x4003,
                0x4003,
                "not ignored to begin with"
            );
            assert_eq!(ignored(process.pid().to_string()) & 0x4003, 0);
            assert!(
                within(process.shutdown(policy(&[], CLOSE)))
                    .await
                    .is_complete()
            );
        });
        return;
    }
    let fixture = Fixture::new();
    let mut host = fixture.start_host_with(
        &["env", "--ignore-signal=HUP,INT,TERM"],
        "initial_state::a_child_does_not_inherit_ignored_signals",
    );

    host.end().expect("it passes");
    fixture.assert_nothing_is_left();
}

#[test]
fn a_child_of_a_host_that_ignores_its_children_has_an_exit_and_nothing_is_left() {
    if let Some(fixture) = Fixture::as_host() {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let launch = fixture.bash("sleep 600 & echo ready; read -r _; exit 3");
            let started = launch.start().await.expect("it starts");
            let _stdout = ready(started.stdout).await;
            let mut stdin = started.stdin;
            stdin.shutdown().await.expect("it is open");
            assert_eq!(within(started.process.exited()).await, Exit::Code(3));
            let end = within(started.process.shutdown(short_policy())).await;
            assert!(end.is_complete(), "{end:?}");
            assert_eq!(end.killed.len(), 1);
        });
        return;
    }
    let fixture = Fixture::new();
    let mut host = fixture.start_host_with(
        &["env", "--ignore-signal=CHLD"],
        "initial_state::a_child_of_a_host_that_ignores_its_children_has_an_exit_and_nothing_is_left",
    );

    host.end().expect("it passes");
    eventually("the end of its tool", || {
        fixture.marker.processes().is_empty()
    });
}

#[test]
fn a_host_with_a_session_from_outside_of_its_pid_namespace_ends_its_children() {
    if let Some(fixture) = Fixture::as_host() {
        let stat = fs::read_to_string("/proc/self/stat").expect("it lives");
        let session = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.split(' ').nth(3));
        assert_eq!(session, Some("0"), "not outside: {stat}");
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let launch = fixture.bash("setsid sleep 600 & sleep 600 & echo ready; wait");
            let started = launch.start().await.expect("it starts");
            let _stdout = ready(started.stdout).await;
            let end = within(started.process.shutdown(short_policy())).await;
            assert!(end.is_complete(), "{end:?}");
            assert_eq!(end.killed.len(), 2, "{end:?}");
            fixture.assert_nothing_is_left();
        });
        return;
    }
    let fixture = Fixture::new();
    // As in a container in which a command is started from outside.
    let mut before = vec!["unshare", "--fork", "--pid", "--mount-proc"];
    if !geteuid().is_root() {
        before.push("--map-root-user");
    }
    let mut host = fixture.start_host_with(
        &before,
        "initial_state::a_host_with_a_session_from_outside_of_its_pid_namespace_ends_its_children",
    );

    host.end().expect("it passes");
    fixture.assert_nothing_is_left();
}
