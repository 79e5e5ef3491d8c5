//! Programs that start, and say that they cannot work.

use std::fs;
use std::os::unix::fs::symlink;

use autonoe_claude::{ClaudeAgents, ClaudeOptions, ConfigFolder};
use autonoe_core::{
    AgentClientFactory, AgentError, AgentErrorKind, AgentSessionId, Sandbox, SessionSpec, Support,
};
use autonoe_process::find_program;
use autonoe_testkit::model_server::anthropic::{Script, Turn};

use crate::build::{Build, on_both_builds};
use crate::setting::{Login, Setting, events_of, within};

/// Asks for something, and returns why nothing comes of it. All of it is gone then.
async fn failure(setting: &Setting, options: ClaudeOptions, spec: SessionSpec) -> AgentError {
    let agents = ClaudeAgents::new(options);
    let mut client = agents.create(spec).expect("it can be made");

    let (events, error) = events_of(client.as_mut(), "Say hello.").await;
    within(client.dispose()).await.expect("it ends");

    setting.assert_nothing_is_left();
    error.unwrap_or_else(|| panic!("{events:?}"))
}

fn without_a_model(build: Build, login: Login) -> Setting {
    Setting::with_login(build, Script::new::<Turn>([]), login)
}

async fn a_program_without_credentials(build: Build) {
    let setting = without_a_model(build, Login::None);

    let error = failure(&setting, setting.options(), setting.spec([])).await;

    assert_eq!(error.kind(), AgentErrorKind::Authentication, "{error}");
    assert!(error.to_string().contains("Not logged in"), "{error}");
}

async fn a_conversation_that_nobody_knows(build: Build) {
    let setting = without_a_model(build, Login::ApiKey);
    let mut options = setting.options();
    options.config = ConfigFolder::Kept(setting.folder.join("home"));
    for id in ["3f0c8a52-6d1e-4b7a-9c3d-2e5f8a1b4c6d", "no-id-at-all"] {
        let mut spec = setting.spec([]);
        spec.resume = Some(AgentSessionId::new(id));

        let error = failure(&setting, options.clone(), spec).await;

        assert_eq!(error.kind(), AgentErrorKind::Configuration, "{error}");
        assert!(error.to_string().contains(id), "{error}");
    }
}

async fn a_sandbox_that_cannot_be_made(build: Build) {
    let setting = without_a_model(build, Login::ApiKey);
    // All that the program needs, and nothing that its sandbox does.
    let programs = setting.folder.join("bin");
    fs::create_dir(&programs).expect("it can be made");
    let path = std::env::var_os("PATH").expect("set");
    for name in ["bash", "sh", "cat", "which"] {
        let program = find_program(name, &path).expect("it is there");
        symlink(program, programs.join(name)).expect("it can be made");
    }
    let mut options = setting.options();
    options.environment.insert("PATH".into(), programs.into());
    let mut spec = setting.spec([]);
    spec.sandbox = Sandbox::Required;

    let capabilities = ClaudeAgents::new(options.clone()).probe().await;
    let error = failure(&setting, options, spec).await;

    let capabilities = capabilities.expect("it is there");
    assert_eq!(capabilities.sandbox, Support::No);
    assert_eq!(error.kind(), AgentErrorKind::Configuration, "{error}");
    assert!(
        error
            .to_string()
            .contains("Sandbox required but unavailable"),
        "{error}"
    );
}

on_both_builds![
    a_program_without_credentials,
    a_conversation_that_nobody_knows,
    a_sandbox_that_cannot_be_made,
];
