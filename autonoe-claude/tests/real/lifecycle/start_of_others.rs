//! Programs that are not Claude Code.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use autonoe_claude::{ClaudeAgents, ClaudeOptions, LoginCheck};
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
async fn a_program_that_is_another_one_is_told_with_what_it_did_and_what_to_do() {
    for (program, told) in [
        ("/bin/false", "exited with code 1"),
        ("/bin/cat", "for its version"),
        ("/usr/bin/yes", "for its version"),
    ] {
        let (setting, mut options) = setting("", 0o644);
        options.program = program.into();

        let error = ClaudeAgents::new(options).probe().await;

        let error = error.expect_err("it is another one");
        let words = error.to_string();
        assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{words}");
        let name = format!("{program:?} does not look like Claude Code");
        for word in [name.as_str(), "--version", told] {
            assert!(words.contains(word), "{word}: {words}");
        }
        let remedy = error.remedy().expect("there is one");
        assert!(remedy.contains("install Claude Code"), "{remedy}");
        setting.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn a_program_that_floods_its_outputs_is_told_shortly() {
    for (script, told) in [
        ("exec yes", "did not stop to write"),
        ("yes >&2 & exec yes", "did not stop to write"),
        (
            "head -c 9000000 /dev/zero | tr '\\0' x >&2; echo hm; exit 3",
            "exited with code 3",
        ),
        (
            r"printf '\x1b[2J\xff\xfe\x07' ; printf '\x1b]0;x\x07' >&2",
            "exited with code 0",
        ),
    ] {
        let (setting, options) = setting(&format!("#!/bin/bash\n{script}\n"), 0o755);

        let error = within(ClaudeAgents::new(options).probe()).await;

        let words = error.expect_err("it is another one").to_string();
        assert!(words.contains(told), "{script}: {words}");
        assert!(words.chars().count() < 1500, "{script}: {}", words.len());
        assert!(!words.contains(char::is_control), "{script}: {words:?}");
        setting.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn a_program_that_says_the_version_and_then_nonsense_is_told() {
    for (script, kind, told) in [
        (
            "exec yes",
            AgentErrorKind::NotAvailable,
            "wrote much, and not a word of the protocol",
        ),
        (
            "echo bye >&2",
            AgentErrorKind::Crashed,
            "it exited with code 0 without a word",
        ),
    ] {
        let version = "if [ \"$1\" = --version ]; then echo '2.1.300 (Claude Code)'; exit; fi";
        let text = format!("#!/bin/bash\n{version}\n{script}\n");
        let (setting, options) = setting(&text, 0o755);

        ClaudeAgents::new(options.clone())
            .probe()
            .await
            .expect("it looks like it");
        let error = failure(&setting, options).await;

        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(told), "{script}: {error}");
        assert!(error.remedy().is_some(), "{error}");
    }
}

#[tokio::test]
async fn a_program_that_says_nothing_clear_of_its_login_is_taken_as_it_is() {
    for (script, refused) in [
        (r#"echo '{"loggedIn": false}'; exit 1"#, true),
        (r#"echo '{"loggedIn": true}'"#, false),
        ("echo what >&2; exit 1", false),
        ("exec yes", false),
    ] {
        let version = "if [ \"$1\" = --version ]; then echo '2.1.300 (Claude Code)'; exit; fi";
        let text = format!("#!/bin/bash\n{version}\n{script}\n");
        let (_setting, options) = setting(&text, 0o755);

        let in_session = ClaudeAgents::new(options.clone()).probe().await;
        let options = options.with_login_check(LoginCheck::AtProbe);
        let at_probe = ClaudeAgents::new(options).probe().await;

        assert!(in_session.is_ok(), "{script}: {in_session:?}");
        let kind = at_probe.err().map(|error| error.kind());
        let expected = refused.then_some(AgentErrorKind::Authentication);
        assert_eq!(kind, expected, "{script}");
    }
}

#[tokio::test]
async fn a_program_that_exits_at_once_is_told_with_its_last_words() {
    for (script, told) in [
        ("echo oops >&2; exit 3", ["code 3: oops", "it was run as"]),
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
