//! [`ProcessRunner`]: output, time limits, environment and inherited locks.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_process::{CommandOutcome, CommandOutput, ProcessRunner};

use crate::fixture::eventually;

const TIME: Duration = Duration::from_secs(60);

async fn sh(commands: &ProcessRunner, script: &str, time: Duration, limit: usize) -> CommandOutput {
    let command = ["sh", "-c", script].map(str::to_owned);
    let said = commands.output(&command, time, limit).await;
    said.expect("it is started")
}

fn commands() -> ProcessRunner {
    ProcessRunner::unconfined("/").env("PATH", "/usr/bin:/bin")
}

#[tokio::test]
async fn output_of_a_command_is_kept_up_to_the_limit() {
    for (limit, kept, is_complete) in [
        (100, "abcdef", true),
        (6, "abcdef", true),
        (3, "abc", false),
    ] {
        let said = sh(
            &commands(),
            "printf abcdef; printf oh >&2; exit 3",
            TIME,
            limit,
        )
        .await;

        assert_eq!(said.stdout, kept.as_bytes());
        assert_eq!(said.is_complete, is_complete, "{limit}");
        assert_eq!(said.stderr, "oh");
        assert_eq!(said.end, CommandOutcome::Exited { code: 3 });
        assert!(!said.is_success());
    }
}

#[tokio::test]
async fn more_than_a_pipe_holds_is_read_to_the_end() {
    let said = sh(&commands(), "head -c 300000 /dev/zero", TIME, 1_000_000).await;

    assert_eq!((said.stdout.len(), said.is_complete), (300_000, true));
    assert!(said.is_success());
}

#[tokio::test]
async fn background_processes_are_not_waited_for() {
    let began = Instant::now();

    let said = sh(&commands(), "sleep 100 & printf done", TIME, 100).await;

    assert_eq!(said.stdout, b"done");
    assert!(said.is_success());
    assert!(began.elapsed() < TIME / 2, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_timed_out_command_keeps_its_output() {
    // A slow machine may need longer than the first limit to start the command.
    for time in [1, 10, 60].map(Duration::from_secs) {
        let said = sh(&commands(), "printf begun; sleep 100", time, 100).await;

        assert_eq!(said.end, CommandOutcome::TimedOut { after: time });
        assert!(!said.is_complete);
        if !said.stdout.is_empty() {
            assert_eq!(said.stdout, b"begun");
            return;
        }
    }
    panic!("the command said nothing in a minute");
}

#[tokio::test]
async fn unwanted_variables_are_removed() {
    let commands = commands().env("GIT_DIR", "/elsewhere").env("GOOD", "yes");
    let commands = commands.retain_env(|name| name != "GIT_DIR");

    let said = sh(&commands, "printf \"${GIT_DIR-none} $GOOD\"", TIME, 100).await;

    assert_eq!(said.stdout, b"none yes");
}

#[tokio::test]
async fn a_command_can_hold_a_lock_of_this_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lock");
    let lock = Arc::new(File::create(&path).expect("a file"));
    lock.lock().expect("it is free");
    let holding = commands().inherit(lock.clone());
    drop(lock);
    let (going, gone) = (folder.path().join("going"), folder.path().join("gone"));
    let script = format!(
        "touch {}; until test -e {}; do sleep 0.01; done",
        going.display(),
        gone.display()
    );

    let (said, ()) = tokio::join!(sh(&holding, &script, TIME, 0), async {
        while !going.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let other = File::open(&path).expect("a file");
        assert!(other.try_lock().is_err());
        File::create(&gone).expect("a file");
    });

    assert!(said.is_success());
    drop(holding);
    // A child that another test starts has the file open between fork and exec.
    eventually("the lock to be free", || {
        let other = File::open(&path).expect("a file");
        other.try_lock().is_ok()
    });
}
