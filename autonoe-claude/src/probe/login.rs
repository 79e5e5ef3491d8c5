//! Probe of the program's login.

use std::time::Duration;

use autonoe_backend::ShortAnswer;
use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use serde::Deserialize;

use super::short_answer::run_for_answer;
use crate::launch::{ClaudeOptions, SettingSources};
use crate::outcome::LOG_IN;

/// Time limit of the probe. Without an answer, the run starts.
const LIMIT: Duration = Duration::from_secs(60);

/// Whether the program has credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Login {
    /// It has some. Whether they are valid shows when they are used.
    Found,
    /// It has none.
    Missing,
    /// It was not probed, or its answer is unknown.
    #[default]
    Unknown,
}

/// Time at which a missing login is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoginCheck {
    /// At the first session's call to the model: credentials may come with a session.
    #[default]
    InSession,
    /// At the probe of the backend, before a run starts: the environment contains all credentials.
    ///
    /// Settings of the project may contain credentials. If they apply, a missing login is detected
    /// in the session.
    AtProbe,
}

/// Runs `claude auth status`. Returns [`Login::Unknown`] if the login is checked in sessions, or if
/// settings of the project could override the answer.
pub(super) async fn probe_login(options: &ClaudeOptions) -> Login {
    let counts = options.setting_sources == SettingSources::None;
    if options.login_check != LoginCheck::AtProbe || !counts {
        return Login::Unknown;
    }
    match run_for_answer(options, &["auth", "status", "--json"], LIMIT).await {
        Ok(answer) => read(&answer),
        Err(error) => {
            tracing::debug!(%error, "the login state of Claude Code is unknown");
            Login::Unknown
        }
    }
}

/// Parses the answer. Only a clear answer counts, because a run without a login does not start.
fn read(answer: &ShortAnswer) -> Login {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Status {
        logged_in: bool,
    }
    match serde_json::from_str::<Status>(&answer.stdout) {
        Ok(Status { logged_in: true }) => Login::Found,
        Ok(Status { logged_in: false }) => Login::Missing,
        Err(_) => Login::Unknown,
    }
}

/// Returns the error of missing credentials.
pub(crate) fn not_logged_in() -> AgentError {
    let message = "Claude Code is not logged in, and there is no key for it";
    AgentError::new(AgentErrorKind::Authentication, message).with_remedy(LOG_IN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_word_counts() {
        for (said, expected) in [
            (
                "{\"loggedIn\": false, \"authMethod\": \"none\"}",
                Login::Missing,
            ),
            ("{\n  \"loggedIn\": true,\n  \"more\": [1]\n}", Login::Found),
            ("{\"loggedIn\": \"no\"}", Login::Unknown),
            ("{}", Login::Unknown),
            ("", Login::Unknown),
            ("error: unknown command 'auth'", Login::Unknown),
            ("2.1.300 (Claude Code)", Login::Unknown),
        ] {
            let answer = ShortAnswer {
                stdout: said.to_owned(),
                ..ShortAnswer::default()
            };
            assert_eq!(read(&answer), expected, "{said}");
        }
    }
}
