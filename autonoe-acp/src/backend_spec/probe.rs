//! What is found of an agent before a run, for people.

use std::path::Path;

use autonoe_core::{AgentError, BackendProbe, Credentials, ProbeFinding};
use autonoe_process::OsSandbox;

use crate::launch::{AcpOptions, HomeFolder, TESTED_VERSION, missing_credentials};
use crate::probe::greet;

/// Tells that a program is not there.
pub(super) fn not_there(tag: &str, error: &str, remedy: &str) -> BackendProbe {
    BackendProbe::new(tag).finding(ProbeFinding::problem(tag, error, remedy))
}

/// Looks at Gemini CLI: starts it, asks it who it is, and ends it.
pub(super) async fn look_at_gemini(options: &AcpOptions) -> BackendProbe {
    const NAME: &str = "gemini";
    let script = options.args.first().map(Path::new);
    let program = script.unwrap_or(&options.program);
    let (found, version) = begin(NAME, program, options).await;
    let found = match version {
        Some(version) if version != TESTED_VERSION => {
            let told = format!("version {version} is not one that Autonoe was tried with");
            let remedy = format!("if sessions fail, install {TESTED_VERSION}");
            found
                .with_tested(false)
                .finding(ProbeFinding::warning(NAME, told, remedy))
        }
        Some(_) => found.with_tested(true),
        None => found,
    };
    let (credentials, finding) = credentials(options);
    found
        .with_credentials(credentials)
        .finding(finding)
        .finding(sandbox(options))
}

/// Looks at any agent in the same way.
pub(super) async fn look_at_agent(tag: &str, options: &AcpOptions) -> BackendProbe {
    let (found, _) = begin(tag, &options.program, options).await;
    found.finding(sandbox(options))
}

async fn begin(tag: &str, program: &Path, options: &AcpOptions) -> (BackendProbe, Option<String>) {
    let found = BackendProbe::new(tag)
        .with_program(program)
        .with_default_model(options.model.clone());
    let program = program.display();
    match greet(options).await {
        Err(error) => (found.finding(refused(tag, &error)), None),
        Ok(capabilities) => match capabilities.version {
            Some(version) => {
                let told = format!("{program}, version {version}");
                let found = found.with_version(&version);
                (found.finding(ProbeFinding::good(tag, told)), Some(version))
            }
            None => {
                let told = format!("{program}, which does not tell its version");
                (found.finding(ProbeFinding::good(tag, told)), None)
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

/// Looks whether there are credentials. What they are is never read.
fn credentials(options: &AcpOptions) -> (Credentials, ProbeFinding) {
    const NAME: &str = "credentials";
    match (missing_credentials(&options.environment), &options.home) {
        (None, _) => {
            let found = "the environment has what it needs";
            (Credentials::Found, ProbeFinding::good(NAME, found))
        }
        (Some(remedy), HomeFolder::PerSession) => (
            Credentials::Missing,
            ProbeFinding::problem(NAME, "no key was found", remedy),
        ),
        (Some(_), HomeFolder::OfTheUser | HomeFolder::Kept(_)) => {
            let found = "whether it is logged in is seen in a session";
            (Credentials::Unknown, ProbeFinding::good(NAME, found))
        }
    }
}

/// Looks whether the sandbox around the agent can be made.
fn sandbox(options: &AcpOptions) -> ProbeFinding {
    const NAME: &str = "sandbox";
    let Some(bubblewrap) = options.walls.bubblewrap.clone() else {
        return ProbeFinding::problem(
            NAME,
            "there is no program `bwrap` on PATH",
            "install it (apt install bubblewrap)",
        );
    };
    match OsSandbox::new(bubblewrap).check() {
        Ok(()) => ProbeFinding::good(NAME, "bwrap is there and works"),
        Err(error) => ProbeFinding::problem(NAME, error.to_string(), error.remedy()),
    }
}
