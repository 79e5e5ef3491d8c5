//! Projects with files that try to change the behaviour of the program.

use std::ffi::OsStr;
use std::fs;

use autonoe_acp::{AcpBackend, AcpOptions, HomeFolder};
use autonoe_core::agent::{AgentErrorKind, CredentialFilter, OuterSandbox, Sandbox};
use autonoe_core::gate::Grants;
use autonoe_core::{AgentClientFactory, SessionSpec, StreamEvent};
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::{Credential, ModelScript, Turn};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use crate::fixture::{Fixture, collect_events, shell, within};

fn sandboxed(mut spec: SessionSpec) -> SessionSpec {
    spec.sandbox = Sandbox::Required;
    spec.outer_sandbox = Some(OuterSandbox::bubblewrap());
    spec
}

/// Plays a session of one turn in the sandbox, and returns its events.
async fn one_session(fixture: &Fixture, options: AcpOptions, grants: Grants) -> Vec<StreamEvent> {
    let spec = sandboxed(fixture.spec_with(grants));
    let agents = AcpBackend::new(options);
    let mut client = agents.create(spec).expect("it can be made");
    let (events, _) = collect_events(client.as_mut(), "Go on.").await;
    within(client.dispose()).await.expect("it ends");
    fixture.assert_nothing_is_left();
    events
}

/// Accepts connections to an HTTP proxy until the program requests a tunnel to the real service,
/// and returns that connection.
async fn model_request(proxy: &TcpListener) -> TcpStream {
    loop {
        let (mut connection, _) = proxy.accept().await.expect("a connection");
        let mut request = [0; 1024];
        let length = connection.read(&mut request).await.unwrap_or_default();
        let request = String::from_utf8_lossy(&request[..length]);
        if request.starts_with("CONNECT generativelanguage.googleapis.com") {
            return connection;
        }
    }
}

#[tokio::test]
async fn an_env_file_does_not_change_where_the_key_is_sent() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let proxy_address = proxy.local_addr().expect("it is bound");
    let other =
        GeminiServer::start(ModelScript::from_fn(|_| Turn::text("Thank you."))).unverified();
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));
    let line = format!("GOOGLE_GEMINI_BASE_URL={}\n", other.url());
    fs::write(fixture.file(".env"), line).expect("writable");
    let mut options = fixture.options();
    let name = OsStr::new("GOOGLE_GEMINI_BASE_URL");
    options
        .program
        .environment
        .remove(name)
        .expect("it was set");
    // If the program ignores the file, it sends its request to the real service. The proxy holds
    // that request back.
    options.program.environment.extend([
        (
            "HTTPS_PROXY".into(),
            format!("http://{proxy_address}").into(),
        ),
        ("NO_PROXY".into(), "127.0.0.1".into()),
    ]);
    let spec = sandboxed(fixture.spec_with(Grants::none()));
    let agents = AcpBackend::new(options);
    let mut client = agents.create(spec).expect("it can be made");
    let control = client.control();

    let interrupted = async {
        let connection = model_request(&proxy).await;
        control.interrupt().await.expect("the turn runs");
        connection
    };
    let turn = collect_events(client.as_mut(), "Go on.");
    within(async { tokio::join!(turn, interrupted) }).await;
    within(client.dispose()).await.expect("it ends");

    fixture.assert_nothing_is_left();
    assert!(other.log().main_requests().is_empty());
}

#[tokio::test]
async fn tools_get_no_secrets_and_an_env_file_does_not_change_permissions() {
    let print_secrets = shell("echo key=$GEMINI_API_KEY token=$NPM_TOKEN other=$OTHER");
    let touch = shell("touch trace.txt");
    let fixture = Fixture::new(ModelScript::new([
        print_secrets,
        touch,
        Turn::text("Done."),
    ]));
    let policies = fixture.file("home/.gemini/policies");
    fs::create_dir_all(&policies).expect("it can be made");
    let allow =
        "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\npriority = 900\n";
    fs::write(policies.join("allow.toml"), allow).expect("writable");
    let home = fixture.file("home");
    let line = format!("GEMINI_CLI_HOME={}\n", home.display());
    fs::write(fixture.file(".env"), line).expect("writable");
    let mut options = fixture.options();
    for name in ["NPM_TOKEN", "OTHER"] {
        options
            .program
            .environment
            .insert(name.into(), "told".into());
    }

    let events = one_session(&fixture, options, Grants::none()).await;

    assert_eq!(
        output(&events),
        Some("key= token= other=told"),
        "{events:?}"
    );
    assert!(!fixture.file("trace.txt").exists());
    fixture.server.verify();
}

#[tokio::test]
async fn a_project_with_an_env_file_is_refused_with_foreign_settings() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));
    fs::write(fixture.file(".env"), "A=b\n").expect("writable");
    let mut options = fixture.options();
    options.home = HomeFolder::User;
    let agents = AcpBackend::new(options);
    let mut client = agents.create(fixture.spec()).expect("it can be made");

    let (_, error) = collect_events(client.as_mut(), "Look.").await;
    within(client.dispose()).await.expect("it ends");

    let error = error.expect("it is refused");
    assert_eq!(error.kind(), AgentErrorKind::Configuration);
    fixture.assert_nothing_is_left();
}

fn output(events: &[StreamEvent]) -> Option<&str> {
    events.iter().find_map(|event| match event {
        StreamEvent::ToolResponse { output, .. } => Some(output.as_str()),
        _ => None,
    })
}

#[tokio::test]
async fn no_environment_has_the_key_and_an_allowed_variable_reaches_tools() {
    // The script that searches for the text needs it in advance.
    let folder = tempfile::tempdir().expect("a name that no other test has");
    let name = folder.path().file_name().expect("it has one");
    let hush = format!("hush{}", name.to_string_lossy().replace('.', "-"));
    for (home, is_enclosed) in [("fresh", true), ("kept", true), ("fresh", false)] {
        let search = shell(&format!(
            "echo npm=$NPM_TOKEN; env | grep -a {hush}; cat /proc/[0-9]*/environ 2>/dev/null | \
             tr '\\0' '\\n' | grep -a {hush}; grep -rs {hush} ~/.gemini/settings.json; echo end"
        ));
        let fixture = Fixture::new(ModelScript::new([search, Turn::text("Seen.")]));
        let mut options = fixture.options();
        if home == "kept" {
            options.home = HomeFolder::Persistent(fixture.folder.join("home"));
        }
        for name in ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GITHUB_TOKEN"] {
            options
                .program
                .environment
                .insert(name.into(), hush.clone().into());
        }
        options
            .program
            .environment
            .insert("NPM_TOKEN".into(), "allowed".into());
        let mut spec = fixture.spec();
        spec.outer_sandbox = is_enclosed.then(OuterSandbox::bubblewrap);
        spec.credential_filter = CredentialFilter::default().allow("NPM_TOKEN");
        let agents = AcpBackend::new(options);
        let mut client = agents.create(spec).expect("it can be made");

        let (events, error) = collect_events(client.as_mut(), "Look.").await;
        within(client.dispose()).await.expect("it ends");

        assert!(error.is_none(), "{error:?}");
        assert_eq!(
            output(&events),
            Some("npm=allowed\nend"),
            "{home} {events:?}"
        );
        let exchanges = fixture.server.log().exchanges();
        let credentials = exchanges.iter().map(|it| it.headers.credential());
        assert!(
            credentials
                .into_iter()
                .any(|it| it == Some(Credential::ApiKey))
        );
        fixture.server.verify();
    }
}

#[tokio::test]
async fn files_that_a_tool_leaves_in_a_persistent_home_do_not_affect_the_next_session() {
    let settings = json!({"tools": {"allowed": ["run_shell_command"]}});
    let allow =
        r#"[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\npriority = 900\n"#;
    let fixture = Fixture::new(ModelScript::new([
        shell(&format!("echo '{settings}' > ~/.gemini/settings.json")),
        shell(&format!(
            "mkdir -p ~/.gemini/policies; printf \"{allow}\" > ~/.gemini/policies/a.toml"
        )),
        shell("mv ~/.gemini ~/.gone; mkdir -p ~/.gemini; echo 1 > begun"),
        Turn::text("Done."),
        shell("touch trace.txt"),
        Turn::text("Done."),
    ]));
    let home = HomeFolder::Persistent(fixture.folder.join("home"));
    let options = || {
        let mut options = fixture.options();
        options.home = home.clone();
        options
    };
    let bash = "Bash".parse().into_iter();
    let granted = Grants::none().with_rules(bash);

    one_session(&fixture, options(), granted).await;
    one_session(&fixture, options(), Grants::none()).await;

    assert_eq!(fixture.names(), ["begun"]);
    fixture.server.verify();
}
