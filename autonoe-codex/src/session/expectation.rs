//! What a conversation must have got to be trusted.

use autonoe_core::{AgentError, AgentErrorKind};
use serde_json::{Value, json};

/// A conversation that began as it was asked to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Begun {
    pub(super) thread: String,
    pub(super) model: Option<String>,
}

/// Looks whether a conversation began as it was asked to.
///
/// # Errors
///
/// It did not: something else guards it than what was asked for.
pub(super) fn begun(answer: &Value) -> Result<Begun, AgentError> {
    let wrong = |what: &str| {
        let message = format!("Codex began a session with another {what} than it was asked for");
        Err(AgentError::new(AgentErrorKind::Protocol, message))
    };
    if answer["approvalPolicy"] != json!("untrusted") {
        return wrong("approval policy");
    }
    if answer["approvalsReviewer"] != json!("user") {
        return wrong("reviewer of approvals");
    }
    if answer["sandbox"]["type"] != json!("dangerFullAccess") {
        return wrong("sandbox");
    }
    let Some(thread) = answer["thread"]["id"].as_str() else {
        return wrong("shape");
    };
    Ok(Begun {
        thread: thread.to_owned(),
        model: answer["model"].as_str().map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Value {
        json!({
            "approvalPolicy": "untrusted", "approvalsReviewer": "user",
            "sandbox": {"type": "dangerFullAccess"}, "thread": {"id": "t"}, "model": "gpt",
        })
    }

    #[test]
    fn a_session_that_is_guarded_otherwise_is_not_used() {
        assert!(begun(&answer()).is_ok());
        for (name, value) in [
            ("approvalPolicy", json!("never")),
            ("approvalPolicy", json!({"granular": {}})),
            ("approvalsReviewer", json!("auto_review")),
            ("sandbox", json!({"type": "workspaceWrite"})),
            ("sandbox", json!(null)),
            ("thread", json!({})),
        ] {
            let mut other = answer();
            other[name] = value.clone();

            assert!(begun(&other).is_err(), "{name} {value}");
        }
    }
}
