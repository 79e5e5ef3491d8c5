//! Standard input, output and error of a child.

use std::io::ErrorKind;

use autonoe_process::{EndedBy, Exit, StartedProcess, Stdin};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};

use crate::fixture::{CLOSE, Fixture, INTERRUPT, line, policy, ready, short_policy, within};

#[tokio::test]
async fn lines_go_to_the_child_and_back() {
    let fixture = Fixture::new();
    let launch = fixture.bash("while read -r word; do echo \"got $word\"; done");
    let StartedProcess {
        process,
        mut stdin,
        stdout,
    } = tokio::spawn(launch.start())
        .await
        .expect("no panic")
        .expect("it starts");
    let mut stdout = BufReader::new(stdout);

    for word in ["one", "two", "three"] {
        stdin
            .write_all(format!("{word}\n").as_bytes())
            .await
            .expect("it reads");
        assert_eq!(line(&mut stdout).await, format!("got {word}\n"));
    }
    stdin.shutdown().await.expect("it is open");

    assert_eq!(within(process.exited()).await, Exit::Code(0));
    assert!(within(process.shutdown(short_policy())).await.is_complete());
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_megabyte_is_transferred_in_both_directions() {
    let fixture = Fixture::new();
    let started = fixture.bash("exec cat").start().await.expect("it starts");
    let StartedProcess {
        process,
        mut stdin,
        mut stdout,
    } = started;
    let sent: Vec<u8> = (0..1 << 20)
        .map(|number: u32| (number % 251) as u8)
        .collect();

    let (mut received, copy) = (Vec::new(), sent.clone());
    let writing = tokio::spawn(async move {
        stdin.write_all(&copy).await?;
        stdin.shutdown().await
    });
    within(stdout.read_to_end(&mut received))
        .await
        .expect("readable");

    writing.await.expect("no panic").expect("it reads");
    assert!(
        received == sent,
        "{} of {} bytes",
        received.len(),
        sent.len()
    );
    assert_eq!(within(process.exited()).await, Exit::Code(0));
    assert!(within(process.shutdown(short_policy())).await.is_complete());
    fixture.assert_nothing_is_left();
}

/// Writes more than the capacity of a pipe, and waits as long as it takes.
async fn written_in_vain(mut stdin: Stdin) -> ErrorKind {
    let much = vec![b'x'; 1 << 20];
    let error = stdin.write_all(&much).await.expect_err("nobody reads");
    error.kind()
}

#[tokio::test]
async fn a_child_that_closed_its_input_lets_writes_fail() {
    let fixture = Fixture::new();
    let launch =
        fixture.bash("exec 0<&-; echo ready; trap 'exit 0' INT; while :; do sleep 0.01; done");
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    assert_eq!(within(written_in_vain(stdin)).await, ErrorKind::BrokenPipe);

    let end = within(process.shutdown(policy(&[CLOSE], INTERRUPT))).await;
    assert_eq!(end.exit, Some(Exit::Code(0)));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_write_that_waits_fails_when_the_policy_closes_the_input() {
    let fixture = Fixture::new();
    let launch = fixture.bash("echo ready; trap 'exit 0' INT; while :; do sleep 0.01; done");
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    let writing = tokio::spawn(written_in_vain(stdin));
    // On this single thread, this continues when the write waits.
    tokio::task::yield_now().await;
    assert!(!writing.is_finished());

    let end = within(process.shutdown(policy(&[CLOSE], INTERRUPT))).await;

    assert_eq!(
        within(writing).await.expect("no panic"),
        ErrorKind::BrokenPipe
    );
    assert_eq!(end.ended_by, EndedBy::Step(INTERRUPT));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn ten_megabytes_of_stderr_are_read_and_the_end_is_retained() {
    let fixture = Fixture::new();
    let script = "head -c 10485760 /dev/zero | tr '\\0' x >&2; printf 'the end' >&2; echo ready";
    let StartedProcess {
        process, stdout, ..
    } = fixture.bash(script).start().await.expect("it starts");
    // The test does not read the standard error, and the child does not block.
    let _stdout = ready(stdout).await;
    assert_eq!(within(process.exited()).await, Exit::Code(0));

    let tail = process.stderr_tail();

    assert_eq!(tail.len(), 64 * 1024);
    let before = tail.strip_suffix("the end").expect("the end");
    assert!(before.bytes().all(|byte| byte == b'x'));
    let end = within(process.shutdown(short_policy())).await;
    assert_eq!(end.stderr_tail, tail);
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn an_exit_is_reported_while_a_tool_still_writes_to_stderr() {
    let fixture = Fixture::new();
    // The tool must have detached, or it ends with the group of the child, uncounted.
    let tool = "setsid bash -c 'echo 1 >begun; exec yes complaint >&2' &";
    let script = &format!(
        "{tool} while [ ! -s begun ]; do sleep 0.01; done; printf 'last words' >&2; exit 3"
    );
    let process = fixture
        .bash(script)
        .start()
        .await
        .expect("it starts")
        .process;

    assert_eq!(within(process.exited()).await, Exit::Code(3));

    assert!(!process.stderr_tail().is_empty());
    let end = within(process.shutdown(short_policy())).await;
    assert_eq!(end.killed.len(), 1, "{end:?}");
    assert!(end.is_complete());
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn the_last_stderr_is_read_before_the_exit_even_if_a_tool_holds_the_pipe() {
    let fixture = Fixture::new();
    let script = "sleep 600 & printf 'last words' >&2; exit 3";
    let process = fixture
        .bash(script)
        .start()
        .await
        .expect("it starts")
        .process;

    assert_eq!(within(process.exited()).await, Exit::Code(3));

    assert_eq!(process.stderr_tail(), "last words");
    assert!(within(process.shutdown(short_policy())).await.is_complete());
    fixture.assert_nothing_is_left();
}
