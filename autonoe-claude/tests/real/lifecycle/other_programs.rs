//! Programs that are not Claude Code.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use autonoe_claude::{ClaudeBackend, ClaudeOptions, LoginCheck};
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::{AgentClientFactory, AgentError};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};

use futures::future::join_all;

use crate::build::Build;
use crate::fixture::{Fixture, collect_events, within};

/// Returns a fixture whose program is a file with this text and mode.
fn fixture(text: &str, mode: u32) -> (Fixture, ClaudeOptions) {
    let fixture = Fixture::new(Build::NEWER, ModelScript::new::<Turn>([]));
    let program = fixture.folder.join("claude");
    fs::write(&program, text).expect("writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(mode)).expect("ours");
    let mut options = fixture.options();
    options.program.path = program;
    (fixture, options)
}

/// Sends a prompt to the program, and returns the error.
///
/// Nothing is left after the client is disposed of.
async fn failure(fixture: &Fixture, options: ClaudeOptions) -> AgentError {
    let agents = ClaudeBackend::new(options);
    let mut client = agents.create(fixture.spec([])).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    within(client.dispose()).await.expect("it ends");

    fixture.assert_nothing_is_left();
    assert!(events.is_empty(), "{events:?}");
    error.expect("nothing comes of it")
}

#[tokio::test]
async fn a_file_that_is_not_a_program_is_not_available() {
    for (text, mode) in [("#!/bin/bash\n", 0o644), ("#!/no/such/shell\n", 0o755)] {
        let (fixture, options) = fixture(text, mode);

        let probed = ClaudeBackend::new(options.clone()).probe().await;
        let error = failure(&fixture, options).await;

        let probed = probed.expect_err("it is no program");
        assert_eq!(probed.kind(), AgentErrorKind::NotAvailable, "{probed}");
        assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{error}");
    }
}

#[tokio::test]
async fn a_program_with_another_version_text_is_not_available() {
    for (output, is_tested) in [
        ("GNU bash, version 5.2", None),
        ("", None),
        ("2.1", None),
        ("2.1.196 (Claude Code)", Some(false)),
        ("2.1.200 (Claude Code)", Some(true)),
        ("3.0.0 (Claude Code)", Some(false)),
    ] {
        let (fixture, options) = fixture(&format!("#!/bin/bash\necho '{output}'\n"), 0o755);

        let probed = ClaudeBackend::new(options).probe_details().await;

        fixture.assert_nothing_is_left();
        let refused = probed.as_ref().err().map(AgentError::kind);
        let found = probed.ok().map(|probe| probe.is_tested);
        assert_eq!(found, is_tested, "{output:?}");
        let expected = is_tested.is_none().then_some(AgentErrorKind::NotAvailable);
        assert_eq!(refused, expected, "{output:?}");
    }
}

#[tokio::test]
async fn another_program_is_reported_with_its_behaviour_and_a_remedy() {
    for (program, expected) in [
        ("/bin/false", "exited with code 1"),
        ("/bin/cat", "run with --version, it printed"),
        ("/usr/bin/yes", "run with --version, it printed"),
    ] {
        let (fixture, mut options) = fixture("", 0o644);
        options.program.path = program.into();

        let error = ClaudeBackend::new(options).probe().await;

        let error = error.expect_err("it is another one");
        let words = error.to_string();
        assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{words}");
        let name = format!("{program:?} does not look like Claude Code");
        for word in [name.as_str(), "--version", expected] {
            assert!(words.contains(word), "{word}: {words}");
        }
        let remedy = error.remedy().expect("there is one");
        assert!(remedy.contains("install Claude Code"), "{remedy}");
        fixture.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn a_program_that_floods_its_outputs_gets_a_short_error() {
    for (script, expected) in [
        ("exec yes", "did not stop writing"),
        ("yes >&2 & exec yes", "did not stop writing"),
        (
            "head -c 9000000 /dev/zero | tr '\\0' x >&2; echo hm; exit 3",
            "exited with code 3",
        ),
        (
            r"printf '\x1b[2J\xff\xfe\x07' ; printf '\x1b]0;x\x07' >&2",
            "exited with code 0",
        ),
    ] {
        let (fixture, options) = fixture(&format!("#!/bin/bash\n{script}\n"), 0o755);

        let error = within(ClaudeBackend::new(options).probe()).await;

        let words = error.expect_err("it is another one").to_string();
        assert!(words.contains(expected), "{script}: {words}");
        assert!(words.chars().count() < 1500, "{script}: {}", words.len());
        assert!(!words.contains(char::is_control), "{script}: {words:?}");
        fixture.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn a_program_with_the_right_version_and_another_protocol_is_reported() {
    for (script, kind, expected) in [
        (
            "exec yes",
            AgentErrorKind::NotAvailable,
            "wrote output, but no message of the protocol",
        ),
        (
            "echo bye >&2",
            AgentErrorKind::Crashed,
            "it exited with code 0 without a message",
        ),
    ] {
        let version = "if [ \"$1\" = --version ]; then echo '2.1.300 (Claude Code)'; exit; fi";
        let text = format!("#!/bin/bash\n{version}\n{script}\n");
        let (fixture, options) = fixture(&text, 0o755);

        ClaudeBackend::new(options.clone())
            .probe()
            .await
            .expect("it looks like it");
        let error = failure(&fixture, options).await;

        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(expected), "{script}: {error}");
        assert!(error.remedy().is_some(), "{error}");
    }
}

#[tokio::test]
async fn a_program_with_an_unclear_login_is_accepted() {
    for (script, refused) in [
        (r#"echo '{"loggedIn": false}'; exit 1"#, true),
        (r#"echo '{"loggedIn": true}'"#, false),
        ("echo what >&2; exit 1", false),
        ("exec yes", false),
    ] {
        let version = "if [ \"$1\" = --version ]; then echo '2.1.300 (Claude Code)'; exit; fi";
        let text = format!("#!/bin/bash\n{version}\n{script}\n");
        let (_setting, mut options) = fixture(&text, 0o755);

        let in_session = ClaudeBackend::new(options.clone()).probe().await;
        options.login_check = LoginCheck::AtProbe;
        let at_probe = ClaudeBackend::new(options).probe().await;

        assert!(in_session.is_ok(), "{script}: {in_session:?}");
        let kind = at_probe.err().map(|error| error.kind());
        let expected = refused.then_some(AgentErrorKind::Authentication);
        assert_eq!(kind, expected, "{script}");
    }
}

#[tokio::test]
async fn a_program_that_exits_at_once_is_reported_with_its_stderr() {
    for (script, expected) in [
        ("echo oops >&2; exit 3", ["code 3: oops", "it was run as"]),
        ("exit 0", ["code 0", "exited"]),
        ("kill -SEGV $$", ["signal", "11"]),
    ] {
        let (fixture, options) = fixture(&format!("#!/bin/bash\n{script}\n"), 0o755);

        let error = failure(&fixture, options).await;

        let words = error.to_string();
        for word in expected {
            assert!(words.contains(word), "{script}: {:?} {words}", error.kind());
        }
    }
}

#[tokio::test]
async fn a_silent_program_is_not_waited_for_longer_than_its_limit() {
    // The last one ignores interrupts, and has a child.
    let silent = [
        ("exec sleep 600", AgentErrorKind::Timeout),
        ("exec 1>&-; exec sleep 600", AgentErrorKind::Timeout),
        (
            "trap '' INT TERM; sleep 600; sleep 600",
            AgentErrorKind::Timeout,
        ),
    ];
    let ask = |(script, expected)| async move {
        let (fixture, mut options) = fixture(&format!("#!/bin/bash\n{script}\n"), 0o755);
        options.program.start_limit = Duration::from_secs(1);

        let error = failure(&fixture, options).await;

        assert_eq!(error.kind(), expected, "{script}: {error}");
    };
    join_all(silent.map(ask)).await;
}
