//! [`AcpBackend`], the backend for agents of the Agent Client Protocol, and the probe of an agent.

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_backend::{Program, ProgramClient};
use autonoe_core::agent::{AgentErrorKind, SessionField};
use autonoe_core::tool::ServerReach;
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};
use serde_json::{Value, json};

use crate::events::Translator;
use crate::launch::{
    AcpOptions, HomeFolder, Preset, TESTED_VERSION, answered_claims, check, is_tested_version,
    missing_credentials, probe_launch,
};
use crate::session::{RunningAgent, within_start_limit};
use crate::wire::supports_http;

/// Backend for an agent of the Agent Client Protocol.
///
/// ```
/// use autonoe_acp::{AcpBackend, AcpOptions};
///
/// // The embedding program chooses the variables that the agent sees.
/// let environment = ["PATH", "GEMINI_API_KEY"]
///     .into_iter()
///     .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
///
/// let script = "/opt/gemini/bundle/gemini.js";
/// let mut gemini = AcpOptions::gemini("/usr/bin/node", script, environment);
/// gemini.program.model = Some("gemini-2.5-flash".into());
/// let agents = AcpBackend::new(gemini);
/// ```
#[derive(Clone, Debug)]
pub struct AcpBackend {
    options: Arc<AcpOptions>,
}

impl AcpBackend {
    /// Creates a backend with `options`.
    pub fn new(options: AcpOptions) -> Self {
        Self {
            options: Arc::new(options),
        }
    }
}

#[async_trait]
impl AgentClientFactory for AcpBackend {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.options.program.check_values()?;
        probe(&self.options).await
    }

    fn create(&self, mut spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.options.program.check_values()?;
        self.options.program.complete(&mut spec);
        check(&self.options, &spec)?;
        Ok(Box::new(ProgramClient::<RunningAgent>::new(
            self.options.clone(),
            spec,
        )))
    }
}

/// Returns the capabilities of the agent.
///
/// This starts the program, sends `initialize` and shuts the program down. The answer of the tested
/// version of Gemini CLI is known, so it is not started if its program can be executed. Every
/// session sends `initialize` again.
pub(crate) async fn probe(options: &AcpOptions) -> Result<Capabilities, AgentError> {
    if options.preset == Preset::Gemini
        && options.home == HomeFolder::PerSession
        && let Some(remedy) = missing_credentials(&options.program.environment)
    {
        let message = "Gemini CLI has no credentials";
        let error = AgentError::new(AgentErrorKind::Authentication, message);
        return Err(error.with_remedy(remedy));
    }
    if options.preset == Preset::Gemini
        && options
            .args
            .first()
            .is_some_and(|script| is_tested_version(script))
        && is_executable(&options.program.path)
    {
        // Fails as a session would if the directory for its files cannot be created.
        probe_launch(options)?;
        return Ok(capabilities(options, &tested_gemini()).await);
    }
    start_and_probe(options).await
}

/// Returns whether `program` is an executable file at an absolute path, as a launch requires.
fn is_executable(program: &Path) -> bool {
    let is_executable_file =
        |file: Metadata| file.is_file() && file.permissions().mode() & 0o111 != 0;
    program.is_absolute() && program.metadata().is_ok_and(is_executable_file)
}

/// Returns the fields that are used of the answer of the tested Gemini CLI to `initialize`.
fn tested_gemini() -> Value {
    json!({
        "agentInfo": {"version": TESTED_VERSION},
        "agentCapabilities": {"loadSession": true, "mcpCapabilities": {"http": true}},
    })
}

/// Returns the capabilities of the agent from its answer to `initialize`.
///
/// Starts the program and shuts it down. Does not check for credentials.
///
/// # Errors
///
/// The program cannot be started, does not answer within the start limit, or does not support the
/// protocol.
pub(crate) async fn start_and_probe(options: &AcpOptions) -> Result<Capabilities, AgentError> {
    let launch = probe_launch(options)?;
    let translator = Translator::new(options.preset.dialect(), Vec::new());
    let mut agent = RunningAgent::start(options, launch, translator).await?;
    let answer = within_start_limit(options, agent.initialize(options)).await;
    agent.end().await;
    Ok(capabilities(options, &answer?).await)
}

/// Returns the capabilities of an agent with this `answer` to `initialize`.
async fn capabilities(options: &AcpOptions, answer: &Value) -> Capabilities {
    let capabilities = answered_claims(options, answer)
        .with_remedy(
            SessionField::Sandbox,
            options.program.sandbox.remedy().await,
        )
        .with_tool_server(if supports_http(answer) {
            ServerReach::Address
        } else {
            ServerReach::Command
        });
    match answer["agentInfo"]["version"].as_str() {
        Some(version) => capabilities.with_version(version),
        None => capabilities,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use autonoe_core::agent::{HookCoverage, Support};
    use autonoe_testkit::conformance::assert_option_refused;

    use super::*;

    #[tokio::test]
    async fn unusable_options_are_refused_by_name() {
        let mut options = AcpOptions::new("agent", "/usr/bin/agent", []);
        options.program.model = Some(" ".into());
        assert_option_refused(&AcpBackend::new(options), ".program.model").await;
    }

    /// Returns the options for a tested Gemini CLI in `folder` that is run by `node`.
    fn tested_package(folder: &Path, node: &Path) -> AcpOptions {
        let script = folder.join("gemini.js");
        let manifest = json!({"name": "@google/gemini-cli", "version": TESTED_VERSION});
        fs::write(&script, "").expect("writable");
        fs::write(folder.join("package.json"), manifest.to_string()).expect("writable");
        let environment = [("GEMINI_API_KEY".into(), "secret".into())];
        let mut options = AcpOptions::gemini(node, script, environment);
        options.program.temporary = folder.to_owned();
        options
    }

    #[tokio::test]
    async fn the_tested_package_is_not_started() {
        let folder = tempfile::tempdir().expect("a folder");
        // It would exit without an answer.
        let options = tested_package(folder.path(), Path::new("/bin/sh"));

        let capabilities = probe(&options).await.expect("its answer is known");

        assert_eq!(capabilities.version.as_deref(), Some(TESTED_VERSION));
    }

    #[tokio::test]
    async fn the_tested_package_without_a_program_to_run_it_is_not_available() {
        let folder = tempfile::tempdir().expect("a folder");
        let not_executable = folder.path().join("not_executable");
        fs::write(&not_executable, "").expect("writable");
        for program in [
            folder.path().join("missing"),
            folder.path().to_owned(),
            not_executable,
            PathBuf::from("sh"),
        ] {
            let options = tested_package(folder.path(), &program);

            let error = probe(&options).await.expect_err("it cannot be started");

            assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{program:?}");
        }
    }

    #[tokio::test]
    async fn capabilities_follow_the_answer_and_the_home() {
        let answer = json!({
            "protocolVersion": 1,
            "agentInfo": {"name": "x", "version": "1.2"},
            "agentCapabilities": {"loadSession": true},
        });
        for (home, resume) in [
            (HomeFolder::PerSession, Support::No),
            (HomeFolder::Persistent("/h".into()), Support::Yes),
        ] {
            let mut options = AcpOptions::new("x", "/bin/x", []);
            options.home = home;

            let can = capabilities(&options, &answer).await;

            assert_eq!(can.hooks, HookCoverage::Partial);
            assert_eq!(
                (can.sandbox, can.in_process_tools),
                (Support::No, Support::No)
            );
            assert_eq!(can.tool_server, ServerReach::Command);
            assert_eq!((can.resume, can.version.as_deref()), (resume, Some("1.2")));
        }
    }
}
