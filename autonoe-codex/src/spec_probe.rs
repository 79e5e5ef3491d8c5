//! [`BackendProbe`] of Codex for the operator: program, credentials and sandbox.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use autonoe_core::{BackendProbe, Credentials, ProbeFinding, SpecContext};
use autonoe_process::OsSandbox;

use crate::backend_spec::CodexBackend;
use crate::launch::{CodexHome, CodexOptions, CodexProvider};
use crate::probe::version;

/// The version that the protocol was tried with.
const TESTED: &str = "0.166.0";

const INSTALL: &str = "install it (npm install -g @openai/codex), or name its program in the \
    \"program\" of the backend";

const LOG_IN: &str = "set OPENAI_API_KEY; or log in with `CODEX_HOME=<folder> codex login` and \
    name the folder in \"home\": {\"kept\": \"<folder>\"} of the backend";

/// The variable of the key for the service of OpenAI, and what says that it is elsewhere.
const KEY: &str = "OPENAI_API_KEY";
const ADDRESS: &str = "OPENAI_BASE_URL";
const OPENAI: &str = "https://api.openai.com/v1";

/// Returns the service of a session that says nothing of it and keeps no login: that of the key
/// in the environment.
pub(crate) fn service_of_key(
    home: &CodexHome,
    environment: &BTreeMap<OsString, OsString>,
) -> Option<CodexProvider> {
    let value = |name: &str| {
        let value = environment.get(OsStr::new(name))?.to_str()?;
        (!value.is_empty()).then_some(value)
    };
    let has_none = *home == CodexHome::PerSession && value(KEY).is_some();
    has_none.then(|| CodexProvider::new(value(ADDRESS).unwrap_or(OPENAI), KEY))
}

/// Probes the program, its credentials and the requirements of the sandbox around it.
pub(crate) async fn probe_backend(spec: &CodexBackend, context: &SpecContext) -> BackendProbe {
    const NAME: &str = "codex";
    let mut found = BackendProbe::new(NAME).with_default_model(spec.model.clone());
    let Ok(options) = spec.options(context) else {
        let missing = "there is no program `codex` on PATH";
        return found.finding(ProbeFinding::problem(NAME, missing, INSTALL));
    };
    found = found.with_program(&options.program);
    found = match version(&options).await {
        Err(error) => found.finding(ProbeFinding::problem(NAME, error.to_string(), INSTALL)),
        Ok(version) => {
            let is_tested = version == TESTED;
            let told = format!("{}, version {version}", options.program.display());
            found
                .with_version(version)
                .with_tested(is_tested)
                .finding(match is_tested {
                    true => ProbeFinding::good(NAME, told),
                    false => ProbeFinding::warning(
                        NAME,
                        format!("{told}, which Autonoe was not tried with"),
                        format!("if sessions fail, install {TESTED}"),
                    ),
                })
        }
    };
    let (credentials, finding) = credentials(&options);
    found
        .with_credentials(credentials)
        .finding(finding)
        .finding(sandbox(&options))
}

/// Looks whether there is a key or a login. What it is is never read.
fn credentials(options: &CodexOptions) -> (Credentials, ProbeFinding) {
    const NAME: &str = "credentials";
    let missing = |found: String| {
        let problem = ProbeFinding::problem(NAME, found, LOG_IN);
        (Credentials::Missing, problem)
    };
    let good = |found: String| (Credentials::Found, ProbeFinding::good(NAME, found));
    match (&options.provider, &options.home) {
        (Some(provider), _) => {
            let name = &provider.key_variable;
            let value = options.environment.get(OsStr::new(name));
            match value.is_some_and(|value| !value.is_empty()) {
                true => good(format!("{name} is set, for {}", provider.base_url)),
                false => missing(format!("{name} is not set")),
            }
        }
        (None, CodexHome::Kept(folder)) => match folder.join("auth.json").is_file() {
            true => good(format!("there is a login in {}", folder.display())),
            false => missing(format!("there is no login in {}", folder.display())),
        },
        (None, CodexHome::PerSession) => missing("no key and no login was found".to_owned()),
    }
}

/// Looks whether the sandbox around the program can be made.
fn sandbox(options: &CodexOptions) -> ProbeFinding {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_the_environment_says_which_service_is_meant() {
        let kept = CodexHome::Kept("/var/codex".into());
        for (home, variables, expected) in [
            (CodexHome::PerSession, &[][..], None),
            (CodexHome::PerSession, &[(KEY, "")], None),
            (CodexHome::PerSession, &[(KEY, "sk-1")], Some(OPENAI)),
            (
                CodexHome::PerSession,
                &[(KEY, "sk-1"), (ADDRESS, "http://127.0.0.1:1/v1")],
                Some("http://127.0.0.1:1/v1"),
            ),
            (kept, &[(KEY, "sk-1")], None),
        ] {
            let environment = variables
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));

            let provider = service_of_key(&home, &environment.collect());

            let address = provider.as_ref().map(|it| it.base_url.as_str());
            assert_eq!(address, expected, "{home:?} {variables:?}");
        }
    }
}
