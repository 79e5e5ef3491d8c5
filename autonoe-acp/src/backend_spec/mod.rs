//! Descriptions of ACP agents in a configuration file.

mod acp;
mod gemini;

use std::path::Path;

use autonoe_core::AgentError;
use autonoe_core::agent::{BackendProbe, Credentials, ProbeFinding};

use crate::backend::start_and_probe;
use crate::launch::{AcpOptions, HomeFolder, TESTED_VERSION, missing_credentials};

pub use acp::AcpSpec;
pub use gemini::GeminiSpec;

/// Returns the probe of a backend whose program is missing.
fn missing_program(tag: &str, error: &str, remedy: &str) -> BackendProbe {
    BackendProbe::new(tag).finding(ProbeFinding::problem(tag, error, remedy))
}

/// Probes Gemini CLI. Starts the program and shuts it down.
async fn probe_gemini(options: &AcpOptions) -> BackendProbe {
    const NAME: &str = "gemini";
    let script = options.args.first().map(Path::new);
    let program = script.unwrap_or(&options.program.path);
    let (found, version) = probe_program(NAME, program, options).await;
    let found = match version {
        Some(version) if version != TESTED_VERSION => {
            let warning = format!("Autonoe was not tested with version {version}");
            let remedy = format!("if sessions fail, install {TESTED_VERSION}");
            found
                .with_tested(false)
                .finding(ProbeFinding::warning(NAME, warning, remedy))
        }
        Some(_) => found.with_tested(true),
        None => found,
    };
    let (credentials, finding) = credentials(options);
    found
        .with_credentials(credentials)
        .finding(finding)
        .finding(options.program.sandbox.probe())
}

/// Probes any other agent. Starts the program and shuts it down.
async fn probe_agent(tag: &str, options: &AcpOptions) -> BackendProbe {
    let (found, _) = probe_program(tag, &options.program.path, options).await;
    found.finding(options.program.sandbox.probe())
}

async fn probe_program(
    tag: &str,
    program: &Path,
    options: &AcpOptions,
) -> (BackendProbe, Option<String>) {
    let found = BackendProbe::new(tag)
        .with_program(program)
        .with_default_model(options.program.model.clone());
    let program = program.display();
    match start_and_probe(options).await {
        Err(error) => (found.finding(refused(tag, &error)), None),
        Ok(capabilities) => match capabilities.version {
            Some(version) => {
                let description = format!("{program}, version {version}");
                let found = found.with_version(&version);
                (
                    found.finding(ProbeFinding::good(tag, description)),
                    Some(version),
                )
            }
            None => {
                let description = format!("{program}, which does not report its version");
                (found.finding(ProbeFinding::good(tag, description)), None)
            }
        },
    }
}

fn refused(tag: &str, error: &AgentError) -> ProbeFinding {
    match error.remedy() {
        Some(remedy) => ProbeFinding::problem(tag, error.to_string(), remedy),
        None => ProbeFinding::explained_problem(tag, error.to_string()),
    }
}

/// Checks for credentials, and does not read them.
fn credentials(options: &AcpOptions) -> (Credentials, ProbeFinding) {
    const NAME: &str = "credentials";
    match (
        missing_credentials(&options.program.environment),
        &options.home,
    ) {
        (None, _) => {
            let found = "the environment has the credentials";
            (Credentials::Found, ProbeFinding::good(NAME, found))
        }
        (Some(remedy), HomeFolder::PerSession) => (
            Credentials::Missing,
            ProbeFinding::problem(NAME, "no key was found", remedy),
        ),
        (Some(_), HomeFolder::User | HomeFolder::Persistent(_)) => {
            let found = "only a session shows whether it is logged in";
            (Credentials::Unknown, ProbeFinding::good(NAME, found))
        }
    }
}
