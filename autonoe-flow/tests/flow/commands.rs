//! Commands of checks and conditions, with real processes.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use autonoe_flow::check::{CommandOutcome, ProcessRunner};
use autonoe_flow::{CommandRunner, FlowErrorKind};
use autonoe_process::{OsSandbox, find_program};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// More than any command of these tests needs.
const AMPLE: Duration = Duration::from_secs(120);

fn commands(folder: &Path) -> ProcessRunner {
    ProcessRunner::unconfined(folder).env("PATH", PATH)
}

fn shell(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

/// Waits until `path` exists and is not empty, and returns its content.
async fn content_of(path: &Path) -> String {
    let started = Instant::now();
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ if started.elapsed() > AMPLE => panic!("{path:?} did not come"),
            _ => tokio::task::yield_now().await,
        }
    }
}

fn is_alive(pid: &str) -> bool {
    // A zombie that its new parent has not reaped yet is not alive.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

#[tokio::test]
async fn a_command_ends_with_its_code_or_its_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    for (script, expected) in [
        ("exit 0", CommandOutcome::Exited { code: 0 }),
        ("exit 7", CommandOutcome::Exited { code: 7 }),
        ("kill -9 $$", CommandOutcome::Signalled { number: 9 }),
        // There is no input.
        ("read line || exit 4", CommandOutcome::Exited { code: 4 }),
        // The output is not read, and does not block the command.
        (
            "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 5",
            CommandOutcome::Exited { code: 5 },
        ),
    ] {
        let end = commands(folder.path()).run(&shell(script), AMPLE).await;
        assert_eq!(end.expect("it was run"), expected, "{script}");
    }
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_killed_with_all_that_it_started() {
    // The second process is in its own session, where a signal to the group does not reach it.
    let script = "sleep 600 & echo $! > one; setsid sh -c 'echo $$ > two; exec sleep 600' & \
                  while [ ! -s two ]; do :; done; cat one two > written; mv written pids; wait";
    // A slow machine may need longer than the first limit to start both.
    for after in [3, 10, 60].map(Duration::from_secs) {
        let folder = tempfile::tempdir().expect("a folder");
        let started = Instant::now();

        let end = commands(folder.path()).run(&shell(script), after).await;

        assert_eq!(end.expect("it was run"), CommandOutcome::TimedOut { after });
        assert!(started.elapsed() < after + AMPLE, "{:?}", started.elapsed());
        let Ok(text) = fs::read_to_string(folder.path().join("pids")) else {
            continue;
        };
        let alive: Vec<&str> = text.lines().filter(|pid| is_alive(pid)).collect();
        assert_eq!(text.lines().count(), 2);
        assert_eq!(alive, Vec::<&str>::new());
        return;
    }
    panic!("the command did not start both in a minute");
}

#[tokio::test]
async fn background_processes_are_killed_with_the_command() {
    let folder = tempfile::tempdir().expect("a folder");

    let end = commands(folder.path())
        .run(&shell("sleep 600 & echo $! > pid; exit 0"), AMPLE)
        .await;

    assert_eq!(end.expect("it was run"), CommandOutcome::Exited { code: 0 });
    let pid = content_of(&folder.path().join("pid")).await;
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn a_command_is_killed_when_its_future_is_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    let running = tokio::spawn(async move {
        let script = shell("echo $$ > pid; exec sleep 600");
        commands(&path).run(&script, Duration::from_secs(600)).await
    });
    let pid = content_of(&folder.path().join("pid")).await;

    running.abort();
    let _ = running.await;

    let started = Instant::now();
    while is_alive(&pid) {
        assert!(started.elapsed() < AMPLE, "it lives on");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_command_gets_exactly_its_folder_and_its_variables() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("here"), "").expect("writable");
    let runner = commands(folder.path()).envs([("GIVEN", "yes")]);

    let script = r#"[ -e here ] && [ "$GIVEN" = yes ] && [ -z "$CARGO_MANIFEST_DIR" ]"#;
    let end = runner.run(&shell(script), AMPLE).await;

    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert_eq!(end.expect("it was run"), CommandOutcome::Exited { code: 0 });
    assert!(!format!("{runner:?}").contains("yes"), "{runner:?}");
}

#[tokio::test]
async fn a_program_is_found_by_name_in_the_path_or_by_path_in_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let runner = commands(folder.path());
    let command = |program: &str| vec![program.to_owned()];

    assert!(runner.resolve(&command("sh")).is_ok());
    // The flow may create it later.
    assert!(runner.resolve(&command("./is-done.sh")).is_ok());
    let error = runner
        .resolve(&command("no-such-program"))
        .expect_err("it is not there");
    assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
    assert!(error.to_string().contains("no-such-program"), "{error}");
    assert!(
        runner
            .run(&command("no-such-program"), AMPLE)
            .await
            .is_err()
    );
    assert!(runner.run(&command("./is-done.sh"), AMPLE).await.is_err());
    assert!(runner.run(&[], AMPLE).await.is_err());
    // A bare name is not searched in the folder that the agent writes to.
    fs::write(folder.path().join("no-such-program"), "#!/bin/sh\n").expect("writable");
    assert!(runner.resolve(&command("no-such-program")).is_err());
}

#[tokio::test]
async fn a_command_in_a_sandbox_writes_to_its_folder_and_nowhere_else() {
    let (folder, outside) = (
        tempfile::tempdir().expect("a folder"),
        // The sandbox has its own /tmp.
        tempfile::tempdir_in("/var/tmp").expect("another"),
    );
    let bubblewrap = find_program("bwrap", PATH.as_ref()).expect("bubblewrap is installed");
    let sandbox = OsSandbox::new(bubblewrap).writable(folder.path());
    let runner = ProcessRunner::confined(folder.path(), sandbox).env("PATH", PATH);
    let path = outside.path().join("file");

    let script = format!("echo x > file; echo x > {}; [ -e file ]", path.display());
    let end = runner.run(&shell(&script), AMPLE).await;

    assert_eq!(end.expect("it was run"), CommandOutcome::Exited { code: 0 });
    assert!(folder.path().join("file").exists());
    assert!(!path.exists());

    let nowhere = OsSandbox::new("/nowhere/bwrap").writable(folder.path());
    let runner = ProcessRunner::confined(folder.path(), nowhere).env("PATH", PATH);
    let end = runner.run(&shell("echo x > unguarded"), AMPLE).await;
    end.expect_err("without its sandbox it is not run");
    assert!(!folder.path().join("unguarded").exists());
}
