//! [`ProcessRunner`]: output, time limits, environment and inherited locks.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_process::{CommandOutcome, CommandOutput, ProcessRunner};

use crate::fixture::eventually;

const TIME: Duration = Duration::from_secs(60);

async fn sh(commands: &ProcessRunner, script: &str, time: Duration, limit: usize) -> CommandOutput {
    let command = ["sh", "-c", script].map(str::to_owned);
    let output = commands.output(&command, time, limit).await;
    output.expect("it is started")
}

fn commands() -> ProcessRunner {
    ProcessRunner::unconfined("/").env("PATH", "/usr/bin:/bin")
}

#[tokio::test]
async fn output_of_a_command_is_truncated_at_the_limit() {
    for (limit, expected, is_complete) in [
        (100, "abcdef", true),
        (6, "abcdef", true),
        (3, "abc", false),
    ] {
        let output = sh(
            &commands(),
            "printf abcdef; printf oh >&2; exit 3",
            TIME,
            limit,
        )
        .await;

        assert_eq!(output.stdout, expected.as_bytes());
        assert_eq!(output.is_complete, is_complete, "{limit}");
        assert_eq!(output.stderr, "oh");
        assert_eq!(output.end, CommandOutcome::Exited { code: 3 });
        assert!(!output.is_success());
    }
}

#[tokio::test]
async fn more_than_a_pipe_holds_is_read_to_the_end() {
    let output = sh(&commands(), "head -c 300000 /dev/zero", TIME, 1_000_000).await;

    assert_eq!((output.stdout.len(), output.is_complete), (300_000, true));
    assert!(output.is_success());
}

#[tokio::test]
async fn background_processes_are_not_waited_for() {
    let started = Instant::now();

    let output = sh(&commands(), "sleep 100 & printf done", TIME, 100).await;

    assert_eq!(output.stdout, b"done");
    assert!(output.is_success());
    assert!(started.elapsed() < TIME / 2, "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_timed_out_command_keeps_its_output() {
    // A slow machine may need longer than the first limit to start the command.
    for time in [1, 10, 60].map(Duration::from_secs) {
        let output = sh(&commands(), "printf begun; sleep 100", time, 100).await;

        assert_eq!(output.end, CommandOutcome::TimedOut { after: time });
        assert!(!output.is_complete);
        if !output.stdout.is_empty() {
            assert_eq!(output.stdout, b"begun");
            return;
        }
    }
    panic!("the command said nothing in a minute");
}

#[tokio::test]
async fn variables_that_are_not_retained_are_removed() {
    let commands = commands().env("GIT_DIR", "/elsewhere").env("GOOD", "yes");
    let commands = commands.retain_env(|name| name != "GIT_DIR");

    let output = sh(&commands, "printf \"${GIT_DIR-none} $GOOD\"", TIME, 100).await;

    assert_eq!(output.stdout, b"none yes");
}

#[tokio::test]
async fn a_command_can_hold_a_lock_of_this_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lock");
    let lock = Arc::new(File::create(&path).expect("a file"));
    lock.lock().expect("it is free");
    let holding = commands().inherit(lock.clone());
    drop(lock);
    let (going, stopped) = (folder.path().join("going"), folder.path().join("gone"));
    let script = format!(
        "touch {}; until test -e {}; do sleep 0.01; done",
        going.display(),
        stopped.display()
    );

    let (output, ()) = tokio::join!(sh(&holding, &script, TIME, 0), async {
        while !going.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let other = File::open(&path).expect("a file");
        assert!(other.try_lock().is_err());
        File::create(&stopped).expect("a file");
    });

    assert!(output.is_success());
    drop(holding);
    // A child that another test starts has the file open between fork and exec.
    eventually("the lock to be free", || {
        let other = File::open(&path).expect("a file");
        other.try_lock().is_ok()
    });
}
