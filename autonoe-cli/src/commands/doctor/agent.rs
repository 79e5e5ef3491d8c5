//! Claude Code and its credentials.

use std::path::PathBuf;

use autonoe_claude::{ClaudeAgents, ClaudeBackend, Login, Probe};
use autonoe_core::{Places, SpecContext};

use super::finding::Finding;
use crate::error::{CliError, whole};
use crate::surroundings::Surroundings;

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

/// Looks for Claude Code and for what it logs in with.
pub(super) fn findings(surroundings: &Surroundings) -> Result<Vec<Finding>, CliError> {
    let (program, login) = program(surroundings)?;
    Ok(vec![program, credentials(login, surroundings)])
}

/// Looks for the program, and asks it whether it is logged in.
fn program(surroundings: &Surroundings) -> Result<(Finding, Login), CliError> {
    const NAME: &str = "claude";
    let environment = surroundings.environment.clone();
    let places = Places::new(&surroundings.working_dir);
    let context = SpecContext::new(places).with_environment(environment);
    let Ok(options) = ClaudeBackend::default().options(&context) else {
        let found = "there is no program `claude` on PATH";
        return Ok((Finding::problem(NAME, found, INSTALL), Login::Unknown));
    };
    let path = options.program.display().to_string();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))?;
    let examined = runtime.block_on(ClaudeAgents::new(options).examine());
    Ok(match examined {
        Err(error) => (
            Finding::problem(NAME, whole(&error), INSTALL),
            Login::Unknown,
        ),
        Ok(probe) => (version(NAME, &path, &probe), probe.login),
    })
}

fn version(name: &'static str, path: &str, probe: &Probe) -> Finding {
    let found = format!("{path}, version {}", probe.version);
    match probe.is_tested {
        true => Finding::good(name, found),
        false => Finding::warning(
            name,
            format!("{found}, which Autonoe was not tried with"),
            "if sessions fail, install a version that it was tried with; see docs/guides/claude-code.md",
        ),
    }
}

/// Looks whether there are credentials, if the program did not say so itself. What they are is
/// never read.
fn credentials(login: Login, surroundings: &Surroundings) -> Finding {
    const NAME: &str = "credentials";
    if login == Login::Missing {
        return Finding::problem(NAME, "Claude Code says that it is not logged in", LOG_IN);
    }
    let is_set = |name: &&str| {
        let value = surroundings.environment.get(std::ffi::OsStr::new(name));
        value.is_some_and(|value| !value.is_empty())
    };
    if let Some(name) = CREDENTIALS.iter().find(|name| is_set(name)) {
        return Finding::good(NAME, format!("{name} is set"));
    }
    if let Some(name) = OTHER_SERVICES.iter().find(|name| is_set(name)) {
        return Finding::good(
            NAME,
            format!("{name} is set: those of another service count"),
        );
    }
    let file = login_file(surroundings);
    if file.as_ref().is_some_and(|file| file.is_file()) {
        let shown = file.unwrap_or_default().display().to_string();
        return Finding::good(NAME, format!("there is a login in {shown}"));
    }
    if login == Login::Found {
        return Finding::good(NAME, "Claude Code says that it is logged in");
    }
    let found = "no login and no key was found";
    match cfg!(target_os = "macos") {
        // There it may be in the keychain, which is not ours to open.
        true => Finding::warning(NAME, found, LOG_IN),
        false => Finding::problem(NAME, found, LOG_IN),
    }
}

fn login_file(surroundings: &Surroundings) -> Option<PathBuf> {
    let folder = match surroundings.variable("CLAUDE_CONFIG_DIR") {
        Some(folder) if !folder.is_empty() => surroundings.working_dir.join(folder),
        _ => surroundings.home()?.join(".claude"),
    };
    Some(folder.join(".credentials.json"))
}
