//! Programs that are not Claude Code.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use autonoe_claude::{ClaudeAgents, ClaudeOptions};
use autonoe_core::{AgentClientFactory, AgentError, AgentErrorKind};
use autonoe_testkit::model_server::anthropic::{Script, Turn};

use futures::future::join_all;

use crate::build::Build;
use crate::setting::{Setting, events_of, within};

/// A setting in which the program is a file with this text and mode.
fn setting(text: &str, mode: u32) -> (Setting, ClaudeOptions) {
    let setting = Setting::new(Build::NEWER, Script::new::<Turn>([]));
    let program = setting.folder.join("claude");
    fs::write(&program, text).expect("writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(mode)).expect("ours");
    let mut options = setting.options();
    options.program = program;
    (setting, options)
}

/// Asks the program for something, and returns why nothing comes of it.
///
/// All of it is gone when the client is disposed of.
async fn failure(setting: &Setting, options: ClaudeOptions) -> AgentError {
    let agents = ClaudeAgents::new(options);
    let mut client = agents.create(setting.spec([])).expect("it can be made");

    let (events, error) = events_of(client.as_mut(), "Say hello.").await;
    within(client.dispose()).await.expect("it ends");

    setting.assert_nothing_is_left();
    assert!(events.is_empty(), "{events:?}");
    error.expect("nothing comes of it")
}

#[tokio::test]
async fn what_is_no_program_is_not_available() {
    for (text, mode) in [("#!/bin/bash\n", 0o644), ("#!/no/such/shell\n", 0o755)] {
        let (setting, options) = setting(text, mode);

        let probed = ClaudeAgents::new(options.clone()).probe().await;
        let error = failure(&setting, options).await;

        let probed = probed.expect_err("it is no program");
        assert_eq!(probed.kind(), AgentErrorKind::NotAvailable, "{probed}");
        assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{error}");
    }
}

#[tokio::test]
async fn a_program_with_another_version_text_is_not_available() {
    for (says, is_tested) in [
        ("GNU bash, version 5.2", None),
        ("", None),
        ("2.1", None),
        ("2.1.196 (Claude Code)", Some(false)),
        ("2.1.200 (Claude Code)", Some(true)),
        ("3.0.0 (Claude Code)", Some(false)),
    ] {
        let (setting, options) = setting(&format!("#!/bin/bash\necho '{says}'\n"), 0o755);

        let probed = ClaudeAgents::new(options).examine().await;

        setting.assert_nothing_is_left();
        let refused = probed.as_ref().err().map(AgentError::kind);
        let found = probed.ok().map(|probe| probe.is_tested);
        assert_eq!(found, is_tested, "{says:?}");
        let expected = is_tested.is_none().then_some(AgentErrorKind::NotAvailable);
        assert_eq!(refused, expected, "{says:?}");
    }
}

#[tokio::test]
async fn a_program_that_exits_at_once_is_told_with_its_last_words() {
    for (script, told) in [
        ("echo oops >&2; exit 3", ["code 3", "oops"]),
        ("exit 0", ["code 0", "exited"]),
        ("kill -SEGV $$", ["signal", "11"]),
    ] {
        let (setting, options) = setting(&format!("#!/bin/bash\n{script}\n"), 0o755);

        let error = failure(&setting, options).await;

        let words = error.to_string();
        for word in told {
            assert!(words.contains(word), "{script}: {:?} {words}", error.kind());
        }
    }
}

#[tokio::test]
async fn a_program_that_says_nothing_is_not_waited_for_longer_than_its_limit() {
    // The last one goes on although it was interrupted, and has a child.
    let silent = [
        ("exec sleep 600", AgentErrorKind::Timeout),
        ("exec 1>&-; exec sleep 600", AgentErrorKind::Timeout),
        (
            "trap '' INT TERM; sleep 600; sleep 600",
            AgentErrorKind::Timeout,
        ),
    ];
    let ask = |(script, expected)| async move {
        let (setting, mut options) = setting(&format!("#!/bin/bash\n{script}\n"), 0o755);
        options.start_limit = Duration::from_secs(1);

        let error = failure(&setting, options).await;

        assert_eq!(error.kind(), expected, "{script}: {error}");
    };
    join_all(silent.map(ask)).await;
}
