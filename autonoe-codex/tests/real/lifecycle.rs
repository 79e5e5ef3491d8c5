//! Programs that do not start, and sessions that are disposed of or dropped.

use autonoe_codex::{CodexBackend, CodexOptions};
use autonoe_core::AgentClientFactory;
use autonoe_core::agent::AgentErrorKind;
use autonoe_testkit::model_server::{ModelScript, Turn};
use futures::StreamExt;
use rustix::process::Signal;

use crate::fixture::{Fixture, collect_events, send, within};
use crate::model::shell;

const ENDLESS: &str = "(setsid sleep 601 &); echo 1 > begun; sleep 602";

#[tokio::test]
async fn a_missing_program_is_reported() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("Hello."))).unverified();
    for program in ["/nowhere/codex", "/bin/false"] {
        let mut options: CodexOptions = fixture.options();
        options.program.path = program.into();

        let error = CodexBackend::new(options)
            .probe()
            .await
            .expect_err("it is not Codex");

        assert_eq!(
            error.kind(),
            AgentErrorKind::NotAvailable,
            "{program}: {error}"
        );
    }
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_disposed_session_leaves_nothing_not_even_detached_processes() {
    let fixture = Fixture::new(ModelScript::new([shell(ENDLESS)]));
    let mut client = fixture.client(fixture.spec([]));
    {
        let mut stream = client.query("Wait.".into());
        let listened = async { while stream.next().await.is_some() {} };
        tokio::select! {
            () = listened => panic!("it does not end"),
            () = fixture.written("begun") => {}
        }
    }

    within(client.dispose()).await.expect("it ends");

    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_client_that_is_dropped_leaves_nothing() {
    let fixture = Fixture::new(ModelScript::new([shell(ENDLESS)]));
    let mut client = fixture.client(fixture.spec([]));
    {
        let mut stream = client.query("Wait.".into());
        let listened = async { while stream.next().await.is_some() {} };
        tokio::select! {
            () = listened => panic!("it does not end"),
            () = fixture.written("begun") => {}
        }
    }

    drop(client);

    fixture.eventually_nothing_is_left().await;
}

#[tokio::test]
async fn a_program_that_is_killed_ends_the_turn_as_crashed() {
    let fixture = Fixture::new(ModelScript::new([shell(ENDLESS)]));
    let mut client = fixture.client(fixture.spec([]));

    let turn = collect_events(client.as_mut(), "Wait.");
    let killed = async {
        fixture.written("begun").await;
        send(Signal::KILL, fixture.program().await);
    };
    let ((events, error), ()) = within(async { tokio::join!(turn, killed) }).await;
    client.dispose().await.expect("it ends");

    let error = error.unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(error.kind(), AgentErrorKind::Crashed, "{error}");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn an_open_control_does_not_keep_the_program_running() {
    let fixture = Fixture::new(ModelScript::new([Turn::text("Hello.")]));
    let mut client = fixture.client(fixture.spec([]));
    let control = client.control();
    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    assert!(error.is_none(), "{error:?} {events:?}");

    drop(client);

    fixture.eventually_nothing_is_left().await;
    assert!(control.steer("hello?").await.is_err());
}

/// They would name a configuration that is not ours.
#[tokio::test]
async fn a_session_does_not_choose_the_folders_of_the_program() {
    let fixture = Fixture::new(ModelScript::new([shell("env"), Turn::text("Hello.")]));
    let other_folder = fixture.folder.join("elsewhere");
    let mut spec = fixture.spec([]);
    for name in ["HOME", "CODEX_HOME", "TMPDIR"] {
        let path = other_folder.display().to_string();
        spec.environment.insert(name.to_owned(), path);
    }
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert!(!format!("{events:?}").contains("elsewhere"), "{events:?}");
    assert!(!other_folder.exists());
}

#[tokio::test]
async fn a_project_path_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("Hello."))).unverified();
    let mut spec = fixture.spec([]);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    spec.cwd = fixture.folder.join(name);

    let refused = fixture
        .agents()
        .create(spec)
        .expect_err("it cannot be told");

    assert_eq!(refused.kind(), AgentErrorKind::Configuration);
}
