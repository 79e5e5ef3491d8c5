//! Programs that are no session hosts, or bad ones.

use std::time::Duration;

use autonoe_core::{Failure, Retry, RunId, SessionHost, SessionHostError};
use autonoe_harness::{PipedProgram, ProgramSessionHost};

use crate::bridge::stage::{Stage, within};

/// Says what it speaks, and reads what it is asked.
const GREET: &str = r#"
echo '{"hello":{"protocol":"autonoe-session-host","version":1}}'
read hello; read question
"#;

/// A silence limit that no program reaches, even on a slow machine.
const LONG: Duration = Duration::from_secs(60);

/// Asks `program`, which may be silent for as long as `silence`, and returns how that failed.
async fn claimed(program: PipedProgram, silence: Duration) -> Failure {
    let host = ProgramSessionHost::new(program.patience(Duration::ZERO))
        .greeting(silence)
        .silence(silence);
    let claimed = within(host.claim(&RunId::new("shop"))).await;
    match claimed {
        Err(SessionHostError::Failed { key, failure }) => {
            assert_eq!(key.run, RunId::new("shop"));
            failure
        }
        claimed => panic!("it is told as {claimed:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_a_program_that_ends_in_order_counts() {
    let stage = Stage::new();
    let program = stage.shell(&format!(
        "{GREET} echo '{{\"id\":1,\"tell\":{{\"claimed\":7}}}}'"
    ));

    let claimed = ProgramSessionHost::new(program)
        .claim(&RunId::new("shop"))
        .await;

    assert_eq!(claimed, Ok(autonoe_core::Epoch(7)));
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_goes_wrong_with_a_program_is_a_failure_that_says_what() {
    use Retry::{MayHelp, Useless};
    let answer = r#"echo '{"id":1,"tell":{"claimed":7}}'"#;
    for (script, code, retry, words) in [
        (
            "echo boom >&2; exit 3".to_owned(),
            "program_refused",
            Useless,
            &["ended with code 3", "it complained: boom"][..],
        ),
        (
            "kill -KILL $$".to_owned(),
            "program_lost",
            MayHelp,
            &["ended by signal 9"],
        ),
        (
            format!("{GREET} echo 'out of memory' >&2; exit 1"),
            "program_lost",
            MayHelp,
            &["ended with code 1 without an answer", "out of memory"],
        ),
        (
            format!("{GREET} exit 0"),
            "program_lost",
            MayHelp,
            &["without an answer"],
        ),
        (
            "echo 'Welcome!'; exec sleep 600".to_owned(),
            "bridge_not_understood",
            Useless,
            &["Welcome!"],
        ),
        (
            format!("{GREET} echo 'working on it'; exec sleep 600"),
            "bridge_not_understood",
            Useless,
            &["working on it"],
        ),
        (
            format!("{GREET} tr '\\0' x </dev/zero"),
            "bridge_line_too_long",
            Useless,
            &["bytes"],
        ),
        (
            r#"echo '{"hello":{"protocol":"autonoe-session-host","version":2}}'; exec sleep 600"#
                .to_owned(),
            "bridge_other_protocol",
            Useless,
            &[
                "version 2 of autonoe-session-host",
                "version 1 of autonoe-session-host",
            ],
        ),
        (
            r#"echo '{"hello":{"protocol":"autonoe-engine","version":1}}'; exec sleep 600"#
                .to_owned(),
            "bridge_other_protocol",
            Useless,
            &["autonoe-engine"],
        ),
        (
            format!(r#"{GREET} echo '{{"id":2,"tell":{{"claimed":7}}}}'; exec sleep 600"#),
            "bridge_out_of_turn",
            Useless,
            &["2 is answered"],
        ),
        (
            format!(r#"{GREET} echo '{{"id":1,"tell":"cancelled"}}'; {answer}"#),
            "bridge_out_of_turn",
            Useless,
            &["goes on after its answer"],
        ),
        (
            format!("{GREET} {answer}; echo 'cannot say goodbye' >&2; exit 4"),
            "program_failed",
            MayHelp,
            &["after its answer", "ended with code 4", "goodbye"],
        ),
        (
            format!("{GREET} {answer}; exec sleep 600"),
            "program_silent",
            MayHelp,
            &["said nothing"],
        ),
        (
            format!("{GREET} exec sleep 600"),
            "program_silent",
            MayHelp,
            &["said nothing"],
        ),
        (
            "exec sleep 600".to_owned(),
            "program_silent",
            MayHelp,
            &["said nothing"],
        ),
    ] {
        let stage = Stage::new();
        let silence = match code {
            "program_silent" => Duration::from_millis(300),
            _ => LONG,
        };

        let failure = claimed(stage.shell(&script), silence).await;

        assert_eq!(
            (&*failure.code, failure.retry),
            (code, retry),
            "{failure:?}"
        );
        for word in words {
            assert!(failure.message.contains(word), "{failure:?}");
        }
        assert_eq!(stage.living(), 0, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_something_else_is_none() {
    let stage = Stage::new();
    let program = stage.shell(&format!(
        "{GREET} echo '{{\"id\":1,\"tell\":{{\"claimed\":7}}}}'"
    ));

    let looked = ProgramSessionHost::new(program)
        .look(&RunId::new("shop"))
        .await;

    let failure = looked.expect_err("it is no ledger");
    assert_eq!(failure.code, "bridge_out_of_turn");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there_is_a_lasting_failure() {
    let failure = claimed(PipedProgram::new("/nowhere/autonoe", "/"), LONG).await;

    assert_eq!(
        (&*failure.code, failure.retry),
        ("program_not_found", Retry::Useless)
    );
}
