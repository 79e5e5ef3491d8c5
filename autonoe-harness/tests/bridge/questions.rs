//! What goes over the pipes, line by line.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    Epoch, ExitReason, Failure, HostedOutcome, HostedSession, JobRunner, LedgerView, LocalEngine,
    Mode, RunDesk, RunId, RunLimits, RunMachine, RunOutcome, RunProgress, RunReport, RunSpec,
    SessionHost, SessionHostError, SessionKey,
};
use autonoe_harness::{BridgeError, ServedSession, serve_engine, serve_session_host};
use jiff::Timestamp;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Works until it is cancelled, and sees whether it was let go.
#[derive(Default)]
struct Holding {
    begun: watch::Sender<bool>,
    let_go: watch::Sender<bool>,
}

struct LetGo<'a>(&'a watch::Sender<bool>);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

#[async_trait]
impl SessionHost for Holding {
    async fn claim(&self, _: &RunId) -> Result<Epoch, SessionHostError> {
        Ok(Epoch(4))
    }

    async fn look(&self, _: &RunId) -> Result<LedgerView, Failure> {
        Err(Failure::permanent("no_ledger", "there is none"))
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        _: Epoch,
        _: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        let _let_go = LetGo(&self.let_go);
        beat(RunProgress::of(0.5));
        self.begun.send_replace(true);
        cancelled.cancelled().await;
        Err(SessionHostError::Cancelled(key.clone()))
    }

    async fn conclude(&self, asked: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        match report.sessions {
            0 => Ok(()),
            _ => Err(SessionHostError::Fenced {
                asked,
                latest: Epoch(4),
            }),
        }
    }
}

const HELLO: &str = "{\"hello\":{\"protocol\":\"autonoe-session-host\",\"version\":1}}\n";

const ATTACH: &str = concat!(
    r#"{"id":1,"ask":{"attachOrStart":{"key":{"run":"shop","number":1},"epoch":1,"#,
    r#""session":{"instruction":"coding"}}}}"#,
    "\n"
);

/// Says `lines` to a host, and `then` once a session has begun; returns what comes back.
async fn said(
    host: &Holding,
    lines: &str,
    then: Option<&str>,
) -> (Result<ServedSession, BridgeError>, String) {
    let (asker, here) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(here);
    let (mut hearing, mut saying) = tokio::io::split(asker);
    let asking = async {
        let lines = lines.as_bytes();
        saying.write_all(lines).await.expect("somebody reads");
        if let Some(then) = then {
            let mut begun = host.begun.subscribe();
            begun.wait_for(|begun| *begun).await.expect("it lives");
            let then = then.as_bytes();
            let _ = saying.write_all(then).await;
            if then.is_empty() {
                saying.shutdown().await.expect("it is open");
            }
        }
        let mut told = String::new();
        hearing.read_to_string(&mut told).await.expect("text");
        told
    };
    let serving = async {
        // Its end of the pipes is closed with it.
        serve_session_host(host, input, output).await
    };
    tokio::join!(serving, asking)
}

#[tokio::test]
async fn a_question_is_answered_after_the_greeting() {
    let ask = "{\"id\":3,\"ask\":{\"claim\":{\"run\":\"shop\"}}}\n";

    let (served, told) = said(&Holding::default(), &format!("{HELLO}{ask}"), None).await;

    assert_eq!(served.expect("it is right"), ServedSession::Answered);
    assert_eq!(
        told,
        format!("{HELLO}{{\"id\":3,\"tell\":{{\"claimed\":4}}}}\n")
    );
}

#[tokio::test]
async fn the_end_of_a_run_is_taken_or_refused() {
    for (sessions, answer) in [
        (0, r#""concluded""#),
        (2, r#"{"fenced":{"asked":3,"latest":4}}"#),
    ] {
        let limits = RunLimits::new(Mode::Run);
        let mut report = RunMachine::new(limits).report(
            &RunId::new("shop"),
            ExitReason::AllPassed,
            Timestamp::UNIX_EPOCH,
        );
        report.sessions = sessions;
        let ask = json!({"id": 3, "ask": {"conclude": {"epoch": 3, "report": report}}});

        let (served, told) = said(&Holding::default(), &format!("{HELLO}{ask}\n"), None).await;

        assert_eq!(served.expect("it is right"), ServedSession::Answered);
        assert_eq!(told, format!("{HELLO}{{\"id\":3,\"tell\":{answer}}}\n"));
    }
}

#[tokio::test]
async fn beats_come_before_the_answer_and_a_cancellation_arrives() {
    let cancel = "{\"id\":1,\"ask\":\"cancel\"}\n";

    let host = Holding::default();
    let (served, told) = said(&host, &format!("{HELLO}{ATTACH}"), Some(cancel)).await;

    assert_eq!(served.expect("it is right"), ServedSession::Answered);
    let [_, beat, answer] = told.lines().collect::<Vec<_>>()[..] else {
        panic!("three lines are told, and not {told}");
    };
    assert!(
        beat.starts_with(r#"{"id":1,"tell":{"beat":{"progress":0.5"#),
        "{beat}"
    );
    assert_eq!(answer, r#"{"id":1,"tell":"cancelled"}"#);
}

#[tokio::test]
async fn who_leaves_in_the_middle_has_the_session_let_go() {
    let host = Holding::default();

    let (served, told) = said(&host, &format!("{HELLO}{ATTACH}"), Some("")).await;

    assert_eq!(served.expect("it is right"), ServedSession::LetGo);
    assert!(*host.let_go.borrow());
    assert!(!told.contains("cancelled"), "{told}");
}

#[tokio::test]
async fn who_says_wrong_things_has_the_session_let_go() {
    for (wrong, code) in [
        ("rubbish\n", "bridge_not_understood"),
        ("{\"id\":2,\"ask\":\"cancel\"}\n", "bridge_out_of_turn"),
        (ATTACH, "bridge_out_of_turn"),
    ] {
        let host = Holding::default();

        let (served, _) = said(&host, &format!("{HELLO}{ATTACH}"), Some(wrong)).await;

        assert_eq!(served.expect_err("it is wrong").code(), code, "{wrong}");
        assert!(*host.let_go.borrow());
    }
}

#[tokio::test]
async fn who_speaks_another_version_is_told_which_one_is_spoken_here() {
    let lines = HELLO.replace('1', "2");

    let (served, told) = said(&Holding::default(), &lines, None).await;

    let error = served.expect_err("it is another one").to_string();
    assert!(
        error.contains("version 2 of autonoe-session-host"),
        "{error}"
    );
    assert_eq!(told, HELLO);
}

/// Nobody needs it.
struct Nobody;

#[async_trait]
impl JobRunner for Nobody {
    async fn run(&self, _: &RunSpec, desk: &RunDesk) -> RunOutcome {
        desk.control().cancelled().await;
        RunOutcome::cancelled("")
    }
}

#[tokio::test]
async fn an_engine_refuses_what_it_does_not_understand() {
    let hello = "{\"hello\":{\"protocol\":\"autonoe-engine\",\"version\":1}}\n";
    for (lines, code) in [
        ("rubbish\n", "bridge_not_understood"),
        (
            "{\"id\":1,\"ask\":{\"wait\":{\"run\":\"a\",\"until\":\"noon\"}}}\n",
            "bridge_not_understood",
        ),
    ] {
        let input = format!("{hello}{lines}");
        let engine = LocalEngine::new(Arc::new(Nobody));

        let served = serve_engine(&engine, input.as_bytes(), tokio::io::sink()).await;

        assert_eq!(served.expect_err("it is wrong").code(), code, "{lines}");
    }
}
