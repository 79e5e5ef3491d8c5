//! Projects that cannot be worked in, and commands that nobody asks anything.

use std::process::{Command, Stdio};

use autonoe_core::{InstructionName, Retry, SessionHost, SessionHostError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::session_host::setting::{Setting, attach, key};

fn never_played() -> Value {
    json!({"name": "nobody comes to this", "steps": ["ends"]})
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_is_an_error_and_stays() {
    let setting = Setting::new();
    setting.write(".autonoe/status.json", "no ledger of ours\n");
    let host = setting.scripted(&[never_played()]);
    let never = CancellationToken::new();

    let looked = host.look(&key(1).run).await;
    let claimed = host.claim(&key(1).run).await;
    let attached = attach(&host, 1, InstructionName::Coding, never).await;

    let failure = looked.expect_err("it cannot be read");
    assert!(failure.message.contains("status.json"), "{failure:?}");
    assert!(claimed.is_err(), "{claimed:?}");
    assert!(
        matches!(attached, Err(SessionHostError::Failed { .. })),
        "{attached:?}"
    );
    assert_eq!(setting.read(".autonoe/status.json"), "no ledger of ours\n");
    assert_eq!(setting.records(), 0);
}

#[tokio::test]
async fn settings_that_cannot_be_read_are_a_lasting_failure_in_the_words_of_the_command() {
    let setting = Setting::new();
    setting.write(".autonoe/models.json", "{\"providers\": 7}");
    let host = setting.scripted(&[never_played()]);

    let failure = host.look(&key(1).run).await.expect_err("it is broken");

    assert_eq!(
        (&*failure.code, failure.retry),
        ("program_refused", Retry::Useless)
    );
    assert!(failure.message.contains("models.json"), "{failure:?}");
}

#[test]
fn who_has_no_pipes_is_told_what_the_command_is_for() {
    let setting = Setting::new();
    drop(setting.scripted(&[never_played()]));

    let output = Command::new(env!("CARGO_BIN_EXE_autonoe"))
        .args(["session-host", &setting.scripted_backend()])
        .current_dir(setting.project())
        .env_clear()
        .stdin(Stdio::null())
        .output();

    let output = output.expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("must be pipes"), "{stderr}");
    assert!(output.stdout.is_empty());
}
