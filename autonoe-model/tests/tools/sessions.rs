//! Tests of a session's tools: directory, sandbox and hidden keys.

use autonoe_core::agent::{CredentialFilter, Sandbox, SessionField, Support};
use autonoe_core::event::TraceContext;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::spec::{BackendSpec, SpecContext};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentClientFactory, RunId, SessionSpec, ToolContext};
use autonoe_model::provider::provider_spec;
use autonoe_model::{BuiltInOptions, ModelBackend, ModelSpec};
use serde_json::json;

fn session(root: &std::path::Path) -> SessionSpec {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new(root), Grants::none());
    SessionSpec::new(key, root, gate, Toolbox::new([]))
}

async fn bash_output(tools: &BuiltInOptions, spec: &SessionSpec, command: &str) -> String {
    let toolbox = Toolbox::new(
        tools
            .for_session(spec)
            .expect("these tests need bubblewrap"),
    );
    let context = ToolContext::new(spec.key.clone());
    let done = toolbox.call("Bash", json!({"command": command}), context);
    done.await.expect("it succeeds").output
}

#[tokio::test]
async fn commands_work_in_the_directory_of_the_session_with_its_variables_and_no_secret() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let mut spec = session(folder.path());
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    spec.environment = [
        set("OF_SESSION", "yes"),
        set("COPY", "Bearer sk-1"),
        set("SHORT", "sk"),
    ]
    .into();
    let mut tools = BuiltInOptions::default();
    tools.env.insert("OURS".into(), "too".into());
    tools.env.insert("KEY".into(), "sk-1".into());
    tools.secrets.add("sk-1");

    for sandbox in [Sandbox::Required, Sandbox::Off] {
        spec.sandbox = sandbox;
        let output = bash_output(
            &tools,
            &spec,
            "pwd; echo \"[$OF_SESSION$OURS$SHORT][$KEY$COPY]\"; env",
        )
        .await;

        let root = folder.path().canonicalize().expect("it is there");
        assert!(output.contains(&root.display().to_string()), "{output}");
        assert!(output.contains("[yestoosk][]"), "{output}");
        assert!(!output.contains("sk-1"), "{output}");
    }
}

#[tokio::test]
async fn commands_get_allowed_variables_and_never_the_key_of_the_provider() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let provider = json!({"type": "openai", "key": {"env": "TEAM_KEY"}});
    let backend = ModelSpec::new(provider_spec(&provider).expect("a spec"), "gpt-5");
    let variables = [
        ("TEAM_KEY", "sk-1"),
        ("COPY_TOKEN", "sk-1"),
        ("NPM_TOKEN", "allowed"),
        ("GITHUB_TOKEN", "hush"),
    ];
    let context = SpecContext::new(ProjectPaths::new(folder.path()))
        .with_environment(variables.map(|(name, value)| (name.into(), value.into())));
    let options = backend.options(&context).expect("options");
    let tools = options.built_in.expect("they are there by default");
    let mut spec = session(folder.path());
    spec.credential_filter = CredentialFilter::default()
        .allow("NPM_TOKEN")
        .allow("COPY_TOKEN")
        .allow("TEAM_KEY");

    for sandbox in [Sandbox::Required, Sandbox::Off] {
        spec.sandbox = sandbox;
        let output = bash_output(
            &tools,
            &spec,
            "env | grep -c -e sk-1 -e hush; echo $NPM_TOKEN",
        )
        .await;

        assert_eq!(output, "0\nallowed\n");
    }
}

#[tokio::test]
async fn a_path_that_contains_a_secret_is_replaced_by_the_default() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let mut tools = BuiltInOptions::default();
    tools.env.insert("PATH".into(), "/opt/local/bin".into());
    tools.env.insert("TOOLS".into(), "/opt/local".into());
    tools.secrets.add("local");

    let command = "printenv PATH; echo \"[$TOOLS]\"";
    let output = bash_output(&tools, &session(folder.path()), command).await;

    assert_eq!(output, format!("{}\n[]\n", BuiltInOptions::PATH));
}

#[tokio::test]
async fn a_configured_variable_counts_more_than_one_that_the_filter_allows() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let mut tools = BuiltInOptions::default();
    tools.env.insert("NPM_TOKEN".into(), "restricted".into());
    tools.available.insert("NPM_TOKEN".into(), "full".into());
    let mut spec = session(folder.path());
    spec.credential_filter = CredentialFilter::default().allow("NPM_TOKEN");

    let output = bash_output(&tools, &spec, "echo $NPM_TOKEN").await;

    assert_eq!(output, "restricted\n");
}

#[tokio::test]
async fn read_only_folders_of_the_options_are_kept() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    std::fs::create_dir(folder.path().join("vendor")).expect("writable");
    let mut tools = BuiltInOptions::default();
    tools.read_only.push("vendor".into());

    let command = "echo x > vendor/lib.rs; echo x > own; echo end";
    bash_output(&tools, &session(folder.path()), command).await;

    assert!(!folder.path().join("vendor/lib.rs").exists());
    assert!(folder.path().join("own").exists());
}

// Shows: framework/models/correlation-across-processes
#[tokio::test]
async fn a_command_belongs_to_the_trace_of_its_session() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let mut spec = session(folder.path());
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    spec.trace = TraceContext::parse(trace, Some("vendor=1")).ok();

    for sandbox in [Sandbox::Required, Sandbox::Off] {
        spec.sandbox = sandbox;
        let command = "echo $TRACEPARENT $TRACESTATE";
        let output = bash_output(&BuiltInOptions::default(), &spec, command).await;

        assert_eq!(output, format!("{trace} vendor=1\n"));
    }
}

#[tokio::test]
async fn the_state_of_a_project_cannot_be_written_by_a_command() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    std::fs::create_dir(folder.path().join(".autonoe")).expect("writable");
    let spec = session(folder.path());

    let output = bash_output(
        &BuiltInOptions::default(),
        &spec,
        "echo x > .autonoe/models.json; echo end",
    )
    .await;

    assert!(output.contains("end"), "{output}");
    assert!(!folder.path().join(".autonoe/models.json").exists());
}

#[tokio::test]
async fn credentials_of_the_machine_and_of_the_user_are_hidden_from_commands() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let root = folder.path().join("project");
    let home = folder.path().join("home");
    std::fs::create_dir_all(&root).expect("writable");
    std::fs::create_dir_all(home.join(".ssh")).expect("writable");
    std::fs::write(home.join(".ssh/id"), "secret").expect("writable");
    let provider = json!({"type": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1"});
    let backend = ModelSpec::new(provider_spec(&provider).expect("a spec"), "m");
    let mut project_paths = ProjectPaths::new(&root);
    project_paths.home = Some(home.clone());
    let options = backend
        .options(&SpecContext::new(project_paths))
        .expect("options");
    let tools = options.built_in.expect("they are there by default");

    // Only root could read the file in any case, so the test checks its type.
    let command = format!("stat -c %F /etc/shadow; ls {}/.ssh | wc -l", home.display());
    let output = bash_output(&tools, &session(&root), &command).await;

    assert_eq!(output, "character special file\n0\n");
}

#[tokio::test]
async fn probe_reports_sandbox_support_and_remedy() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let provider = json!({"type": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1"});
    let backend = ModelSpec::new(provider_spec(&provider).expect("a spec"), "m");
    let context = SpecContext::new(ProjectPaths::new(folder.path()));
    let options = backend.options(&context).expect("it is sound");
    let mut without = options.clone();
    without.built_in = Some(BuiltInOptions {
        bubblewrap: "/nowhere/bwrap".into(),
        ..BuiltInOptions::default()
    });

    let able = ModelBackend::new(options)
        .probe()
        .await
        .expect("nobody is asked");
    let unable = ModelBackend::new(without);
    let claims = unable.probe().await.expect("nobody is asked");

    assert_eq!(able.sandbox, Support::Yes);
    assert!(
        !able.remedies.contains_key(&SessionField::Sandbox),
        "{able:?}"
    );
    assert_eq!(claims.sandbox, Support::No);
    let remedy = &claims.remedies[&SessionField::Sandbox];
    assert!(remedy.contains("apt install bubblewrap"), "{remedy}");
    let mut spec = session(folder.path());
    let error = unable
        .create(spec.clone())
        .expect_err("the sandbox is required");
    assert!(
        !error.is_retryable() && error.remedy().is_some(),
        "{error:?}"
    );
    spec.sandbox = Sandbox::Off;
    unable.create(spec).expect("a person has switched it off");
}

#[test]
fn an_invalid_backend_spec_is_not_built() {
    let project = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let folder = project.path().canonicalize().expect("it is there");
    std::fs::write(folder.join("key"), "sk-1").expect("writable");
    std::fs::create_dir(folder.join(".autonoe")).expect("writable");
    std::os::unix::fs::symlink("../ca.pem", folder.join(".autonoe/link.pem")).expect("writable");
    let authority = folder.join("ca.pem");
    std::fs::write(&authority, "").expect("writable");
    let authorities = format!("certificate authorities in {}: ", authority.display());
    let trusting = |files: &[&str]| json!({"type": "anthropic", "key": "none", "trust": {"files": files, "system": "ignored"}});
    let context = SpecContext::new(ProjectPaths::new(&folder))
        .with_environment([("KEY".into(), "sk-1".into())]);
    let url = "http://127.0.0.1:1/v1";
    let fine = json!({"type": "openai-compatible", "baseUrl": url, "key": {"env": "KEY"}});
    for (change, complaint) in [
        (json!({"maxRounds": 0}), "maxRounds is 0"),
        (
            json!({"tools": {"variables": ["KEY"]}}),
            "the variable KEY contains a key",
        ),
        (
            json!({"tools": {"limits": {"commandTimeMs": 0}}}),
            "a time limit of the tools is 0",
        ),
        (
            json!({"provider": {"type": "openai-compatible", "baseUrl": url, "key": {"file": "key"}}}),
            "move key elsewhere",
        ),
        (
            json!({"provider": {"type": "openai-compatible", "baseUrl": url, "key": {"env": "NO"}}}),
            "the variable NO is not set",
        ),
        (
            json!({"trust": {"files": ["ca.pem"]}}),
            authorities.as_str(),
        ),
        (
            json!({"trust": {"files": ["/tmp/ca.pem"]}}),
            "certificate authorities in /tmp/ca.pem",
        ),
        (
            json!({"provider": trusting(&["ca.pem"])}),
            "agents can write to the certificate authorities",
        ),
        (
            json!({"provider": trusting(&[".autonoe/link.pem"])}),
            "agents can write to the certificate authorities",
        ),
        (
            json!({"provider": trusting(&[".autonoe/ca.pem"])}),
            ".autonoe/ca.pem cannot be read",
        ),
    ] {
        let mut spec = json!({"type": "model", "provider": fine, "model": "m"});
        for (name, value) in change.as_object().expect("fields") {
            spec[name] = value.clone();
        }
        let spec: Box<dyn BackendSpec> = serde_json::from_value(spec).expect("it can be read");

        let error = spec
            .build(&context)
            .expect_err("it makes no sense")
            .to_string();

        assert!(
            error.contains(complaint) && !error.contains("sk-1"),
            "{error}"
        );
    }
}

#[test]
fn everything_but_the_provider_and_the_model_can_be_left_out() {
    for (spec, is_fine) in [
        (
            json!({"type": "model", "provider": {"type": "openai"}, "model": "m"}),
            true,
        ),
        (
            json!({"type": "model", "provider": {"type": "openai"}}),
            false,
        ),
        (json!({"type": "model", "model": "m"}), false),
        (
            json!({"type": "model", "provider": {"type": "gpt"}, "model": "m"}),
            false,
        ),
        (
            json!({"type": "model", "provider": {"type": "openai"}, "model": "m", "rounds": 1}),
            false,
        ),
    ] {
        let read = serde_json::from_value::<Box<dyn BackendSpec>>(spec.clone());
        assert_eq!(read.is_ok(), is_fine, "{spec}");
    }
}
