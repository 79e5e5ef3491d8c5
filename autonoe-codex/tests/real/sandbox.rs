//! Allowed commands and patches, which must not leave the sandbox.

use std::net::TcpListener;
use std::path::PathBuf;

use autonoe_backend::{SandboxConfig, SandboxNetwork};
use autonoe_codex::{CodexBackend, CodexOptions};
use autonoe_core::agent::{AgentErrorKind, CredentialFilter, Sandbox, SessionField};
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, AgentError, StreamEvent};
use autonoe_testkit::model_server::{Credential, ModelScript, Turn};

use crate::fixture::{Fixture, collect_events, within};
use crate::model::{adds, shell};

/// Number of attempts: with an approval, the program's own sandbox let a command out in most runs.
const TIMES: usize = 30;

/// Returns a path that is neither in the project nor in a folder that is private in the sandbox.
fn outside(fixture: &Fixture, number: usize) -> PathBuf {
    let name = fixture.folder.file_name().unwrap_or_default();
    let name = format!("autonoe-escape-{}-{number}", name.to_string_lossy());
    PathBuf::from("/var/tmp").join(name)
}

fn responses(events: &[StreamEvent]) -> Vec<(String, ToolStatus)> {
    let responses = events.iter().filter_map(|event| match event {
        StreamEvent::ToolResponse { output, status, .. } => Some((output.clone(), *status)),
        _ => None,
    });
    responses.collect()
}

#[tokio::test]
async fn an_allowed_command_never_leaves_the_sandbox() {
    let folder = std::sync::Arc::new(std::sync::OnceLock::<PathBuf>::new());
    let known = folder.clone();
    let script = ModelScript::from_fn(move |prompt| match prompt.tool_results().len() {
        done @ 0..TIMES => {
            let path = format!("{}{done}", known.get().expect("it is set").display());
            shell(&format!("touch {path}"))
        }
        TIMES => shell("touch inside.txt"),
        _ => Turn::text("That was all."),
    });
    let fixture = Fixture::new(script).unverified().sandboxed();
    let prefix = outside(&fixture, 0).with_extension("");
    let prefix = prefix.to_string_lossy().trim_end_matches('0').to_owned();
    folder.set(PathBuf::from(&prefix)).expect("once");
    let mut spec = fixture.spec([]);
    spec.sandbox = Sandbox::Required;
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Do it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let responses = responses(&events);
    assert_eq!(responses.len(), TIMES + 1, "{events:?}");
    for (output, status) in &responses[..TIMES] {
        assert_eq!(*status, ToolStatus::Error, "{output}");
        assert!(output.contains("Read-only file system"), "{output}");
    }
    for number in 0..TIMES {
        let path = outside(&fixture, number);
        assert!(!path.exists(), "{} was left", path.display());
    }
    assert_eq!(fixture.files(), ["inside.txt"]);
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn an_allowed_patch_never_leaves_the_sandbox() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("That was all."))).unverified();
    let path = outside(&fixture, 0);
    let file = path.display().to_string();
    let script = ModelScript::new([adds(&file, "1"), Turn::text("That was all.")]);
    let fixture = Fixture::new(script).sandboxed();
    let mut client = fixture.client(fixture.spec([]));

    let (events, error) = collect_events(client.as_mut(), "Do it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let responses = responses(&events);
    assert_eq!(responses.len(), 1, "{events:?}");
    assert_eq!(responses[0].1, ToolStatus::Error, "{events:?}");
    assert!(!path.exists());
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_session_that_requires_a_sandbox_is_not_created_without_one() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("Hello."))).unverified();
    let mut spec = fixture.spec([]);
    spec.sandbox = Sandbox::Required;

    let refused = fixture.agents().create(spec).expect_err("there is none");

    assert_eq!(
        refused.kind(),
        AgentErrorKind::Unclaimed(SessionField::Sandbox)
    );
    let capabilities = fixture.agents().probe().await.expect("it is there");
    assert!(!capabilities.sandbox.is_yes());
    assert!(capabilities.remedies.contains_key(&SessionField::Sandbox));
    assert_eq!(capabilities.version.as_deref(), Some("0.166.0"));
}

#[tokio::test]
async fn a_command_sees_no_credentials_but_those_that_are_allowed() {
    for is_sandboxed in [false, true] {
        // The script that searches for the text needs it in advance.
        let folder = tempfile::tempdir().expect("a name that no other test has");
        let name = folder.path().file_name().expect("it has one");
        let hush = format!("hush{}", name.to_string_lossy().replace('.', "-"));
        let search = format!(
            "echo \"key=[$PASSE_PARTOUT] github=[$GITHUB_TOKEN] npm=[$NPM_TOKEN]\"
            env | grep -a {hush}
            cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a {hush}
            grep -rs {hush} $CODEX_HOME $HOME
            echo end"
        );
        let fixture = Fixture::new(ModelScript::new([shell(&search), Turn::text("Done.")]));
        let fixture = if is_sandboxed {
            fixture.sandboxed()
        } else {
            fixture
        };
        let mut options = fixture.options();
        for name in ["PASSE_PARTOUT", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"] {
            options
                .program
                .environment
                .insert(name.into(), hush.clone().into());
        }
        options
            .program
            .environment
            .insert("NPM_TOKEN".into(), "allowed".into());
        let mut spec = fixture.spec([]);
        spec.credential_filter = CredentialFilter::default().allow("NPM_TOKEN");
        let agents = CodexBackend::new(options);
        let mut client = agents.create(spec).expect("it can be made");

        let (events, error) = collect_events(client.as_mut(), "Do it.").await;
        within(client.dispose()).await.expect("it ends");

        assert!(error.is_none(), "{error:?} {events:?}");
        let responses = responses(&events);
        assert_eq!(
            responses[0].0.trim(),
            "key=[] github=[] npm=[allowed]\nend",
            "{is_sandboxed} {events:?}"
        );
        let exchanges = fixture.server.log().exchanges();
        let credentials = exchanges.iter().map(|it| it.headers.credential());
        assert!(
            credentials
                .into_iter()
                .any(|it| it == Some(Credential::Bearer))
        );
        fixture.server.verify();
    }
}

#[tokio::test]
async fn a_session_without_the_key_of_its_provider_is_refused() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("Hello."))).unverified();
    let mut options = fixture.options();
    let key = options
        .program
        .environment
        .remove(std::ffi::OsStr::new("PASSE_PARTOUT"));
    assert!(key.is_some());

    let refused = CodexBackend::new(options).create(fixture.spec([]));

    let error = refused.expect_err("there is no key");
    assert_eq!(error.kind(), AgentErrorKind::Authentication);
    assert!(error.to_string().contains("PASSE_PARTOUT"), "{error}");
}

/// Plays one turn of a session in the sandbox, and returns its events.
async fn played(
    fixture: &Fixture,
    options: CodexOptions,
) -> (Vec<StreamEvent>, Option<AgentError>) {
    let agents = CodexBackend::new(options);
    let mut spec = fixture.spec([]);
    spec.sandbox = Sandbox::Required;
    let mut client = agents.create(spec).expect("it can be made");
    let turn = collect_events(client.as_mut(), "Do it.").await;
    within(client.dispose()).await.expect("it ends");
    fixture.assert_nothing_is_left();
    turn
}

#[tokio::test]
async fn the_folder_of_autonoe_cannot_be_written_nor_moved() {
    use ToolStatus::{Error, Ok};
    let script = ModelScript::new([
        shell("echo 1 > inside.txt"),
        shell("echo 1 > .autonoe/status.json"),
        shell("mv .autonoe elsewhere"),
        adds(".autonoe/agent.json", "{}"),
        Turn::text("That was all."),
    ]);
    let fixture = Fixture::new(script).sandboxed();
    std::fs::create_dir(fixture.file(".autonoe")).expect("it can be made");

    let (events, error) = played(&fixture, fixture.options()).await;

    assert!(error.is_none(), "{error:?} {events:?}");
    let statuses: Vec<_> = responses(&events)
        .iter()
        .map(|(_, status)| *status)
        .collect();
    assert_eq!(statuses, [Ok, Error, Error, Error], "{events:?}");
    assert_eq!(fixture.files(), ["inside.txt"]);
    let ledger = std::fs::read_dir(fixture.file(".autonoe")).expect("it is there");
    assert_eq!(ledger.count(), 0);
    fixture.server.verify();
}

#[tokio::test]
async fn a_command_reaches_the_network_that_the_program_has() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    let fixture =
        Fixture::new(ModelScript::new([shell(&connect), Turn::text("Done.")])).sandboxed();

    let (events, error) = played(&fixture, fixture.options()).await;

    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(responses(&events)[0].1, ToolStatus::Ok, "{events:?}");
    listener.set_nonblocking(true).expect("it can be");
    listener.accept().expect("somebody was there");
}

#[tokio::test]
async fn nothing_is_reachable_without_a_network() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("I am here.")));
    let fixture = fixture.unverified().sandboxed();
    let mut options = fixture.options();
    options.program.sandbox.network = SandboxNetwork::Off;

    let (events, error) = played(&fixture, options).await;

    assert!(error.is_some(), "{events:?}");
    assert!(fixture.server.log().main_requests().is_empty());
}

#[tokio::test]
async fn a_session_does_not_start_if_its_sandbox_cannot_be_created() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([])).sandboxed();
    let mut options = fixture.options();
    options.program.sandbox = SandboxConfig::new(None);
    let error = CodexBackend::new(options.clone()).create(fixture.spec([]));
    let error = error.expect_err("there is none");
    assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{error}");

    // A program that exists and cannot create a sandbox.
    options.program.sandbox = SandboxConfig::new(Some("/bin/false".into()));
    let (events, error) = played(&fixture, options).await;

    let error = error.unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{error}");
}
