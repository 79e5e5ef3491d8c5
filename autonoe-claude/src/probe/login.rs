//! Asks the program whether it is logged in.

use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind};
use serde::Deserialize;

use super::ask::{Answer, ask};
use crate::launch::{ClaudeOptions, SettingSources};
use crate::outcome::LOG_IN;

/// How long the program may take to say whether it is logged in. Without an answer, the run begins.
const LIMIT: Duration = Duration::from_secs(60);

/// Whether the program has credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Login {
    /// It has some. Whether they are accepted is seen when they are used.
    Found,
    /// It has none.
    Missing,
    /// It was not asked, or gave no answer that is understood.
    #[default]
    Unknown,
}

/// When it is noticed that the program is not logged in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoginCheck {
    /// When its first session asks the model: credentials may come with a session.
    #[default]
    InSession,
    /// When the backend is probed, before a run begins: all that the program starts with is in
    /// its environment.
    ///
    /// Settings of the project may hold credentials; where they count, it is noticed in the
    /// session all the same.
    AtProbe,
}

/// Runs `claude auth status`. Returns [`Login::Unknown`] if the login is checked in sessions, or if
/// settings of the project could override the answer.
pub(super) async fn probe_login(options: &ClaudeOptions) -> Login {
    let counts = options.setting_sources == SettingSources::None;
    if options.login_check != LoginCheck::AtProbe || !counts {
        return Login::Unknown;
    }
    match ask(options, &["auth", "status", "--json"], LIMIT).await {
        Ok(answer) => read(&answer),
        Err(error) => {
            tracing::debug!(%error, "the login of Claude Code is not known");
            Login::Unknown
        }
    }
}

/// Reads the answer. Only a clear word counts: who is refused here cannot run at all.
fn read(answer: &Answer) -> Login {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Status {
        logged_in: bool,
    }
    match serde_json::from_str::<Status>(&answer.said) {
        Ok(Status { logged_in: true }) => Login::Found,
        Ok(Status { logged_in: false }) => Login::Missing,
        Err(_) => Login::Unknown,
    }
}

/// Says that the program has no credentials.
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
            let answer = Answer {
                said: said.to_owned(),
                ..Answer::default()
            };
            assert_eq!(read(&answer), expected, "{said}");
        }
    }
}
