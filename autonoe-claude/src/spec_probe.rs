//! [`BackendProbe`] of Claude Code for the operator: program, login and sandbox.

use std::ffi::OsStr;
use std::path::PathBuf;

use autonoe_core::{BackendProbe, Credentials, ProbeFinding, SpecContext};

use crate::backend_spec::ClaudeBackend;
use crate::launch::ConfigFolder;
use crate::probe::{Login, Probe, SandboxProblem, probe, sandbox_problem};

const INSTALL: &str = "install it: npm install -g @anthropic-ai/claude-code";

const LOG_IN: &str = "log in once with `claude`, or set CLAUDE_CODE_OAUTH_TOKEN \
    (made by `claude setup-token`) or ANTHROPIC_API_KEY";

/// Variables that Claude Code takes its credentials from.
const CREDENTIALS: [&str; 3] = [
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
];

/// Variables that let it use the credentials of another service.
const OTHER_SERVICES: [&str; 3] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// Probes the program, its credentials and the requirements of its sandbox.
pub(crate) async fn probe_backend(spec: &ClaudeBackend, context: &SpecContext) -> BackendProbe {
    const NAME: &str = "claude";
    let mut found = BackendProbe::new(NAME).with_default_model(spec.model.clone());
    let mut login = Login::Unknown;
    let sandbox_problem = sandbox_problem(&context.environment).await;
    match spec.options(context) {
        Err(_) => {
            let missing = "there is no program `claude` on PATH";
            found = found.finding(ProbeFinding::problem(NAME, missing, INSTALL));
        }
        Ok(options) => {
            let path = options.program.display().to_string();
            found = found.with_program(&options.program);
            found = match probe(&options).await {
                Err(error) => {
                    let remedy = error.remedy().unwrap_or(INSTALL).to_owned();
                    found.finding(ProbeFinding::problem(NAME, error.to_string(), remedy))
                }
                Ok(mut probe) => {
                    login = probe.login;
                    if let Some(problem) = probe.directory_problem.take() {
                        let remedy = problem.remedy().unwrap_or_default().to_owned();
                        let reason = problem.to_string();
                        found =
                            found.finding(ProbeFinding::problem("project path", reason, remedy));
                    }
                    found
                        .finding(version(NAME, &path, &probe))
                        .with_tested(probe.is_tested)
                        .with_version(probe.version)
                }
            };
        }
    }
    let (credentials, finding) = credentials(login, spec, context);
    found
        .with_credentials(credentials)
        .finding(finding)
        .finding(sandbox(sandbox_problem))
}

fn version(name: &str, path: &str, probe: &Probe) -> ProbeFinding {
    let found = format!("{path}, version {}", probe.version);
    match probe.is_tested {
        true => ProbeFinding::good(name, found),
        false => ProbeFinding::warning(
            name,
            format!("{found}, which Autonoe was not tried with"),
            "if sessions fail, install a version that it was tried with; see docs/guides/claude-code.md",
        ),
    }
}

/// Checks for credentials if Claude Code did not report its login, and does not read them.
fn credentials(
    login: Login,
    spec: &ClaudeBackend,
    context: &SpecContext,
) -> (Credentials, ProbeFinding) {
    const NAME: &str = "credentials";
    let good = |found: String| (Credentials::Found, ProbeFinding::good(NAME, found));
    if login == Login::Missing {
        let found = "Claude Code says that it is not logged in";
        let problem = ProbeFinding::problem(NAME, found, LOG_IN);
        return (Credentials::Missing, problem);
    }
    let is_set = |name: &&str| variable(context, name).is_some();
    if let Some(name) = CREDENTIALS.iter().find(|name| is_set(name)) {
        return good(format!("{name} is set"));
    }
    if let Some(name) = OTHER_SERVICES.iter().find(|name| is_set(name)) {
        return good(format!("{name} is set: those of another service count"));
    }
    let file = login_file(spec, context);
    if let Some(file) = file.filter(|file| file.is_file()) {
        return good(format!("there is a login in {}", file.display()));
    }
    if login == Login::Found {
        return good("Claude Code says that it is logged in".to_owned());
    }
    let found = "no login and no key was found";
    match cfg!(target_os = "macos") {
        // The login may be in the keychain, which Autonoe does not open.
        true => (
            Credentials::Unknown,
            ProbeFinding::warning(NAME, found, LOG_IN),
        ),
        false => (
            Credentials::Missing,
            ProbeFinding::problem(NAME, found, LOG_IN),
        ),
    }
}

fn login_file(spec: &ClaudeBackend, context: &SpecContext) -> Option<PathBuf> {
    let folder = match &spec.config {
        ConfigFolder::PerSession => return None,
        ConfigFolder::Kept(folder) => folder.clone(),
        ConfigFolder::OfTheUser => match variable(context, "CLAUDE_CONFIG_DIR") {
            Some(folder) => context.project_paths.project.join(folder),
            None => PathBuf::from(variable(context, "HOME")?).join(".claude"),
        },
    };
    Some(folder.join(".credentials.json"))
}

/// Returns a variable of the environment that is not empty.
fn variable<'a>(context: &'a SpecContext, name: &str) -> Option<&'a OsStr> {
    let value = context.environment.get(OsStr::new(name))?;
    (!value.is_empty()).then_some(value)
}

/// Returns the finding about the sandbox of the program.
fn sandbox(problem: Option<SandboxProblem>) -> ProbeFinding {
    const NAME: &str = "sandbox";
    match problem {
        Some(problem) => ProbeFinding::problem(NAME, problem.reason, problem.remedy),
        None if cfg!(target_os = "macos") => ProbeFinding::good(NAME, "macOS brings what it needs"),
        None => ProbeFinding::good(NAME, "bwrap and socat are there, and bwrap works"),
    }
}
