//! Checks that a conversation started with the required permission settings.

use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use serde_json::{Value, json};

/// A conversation that started with the required settings.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StartedThread {
    pub(super) thread: String,
    pub(super) model: Option<String>,
}

/// Checks that a conversation started with the required settings.
///
/// # Errors
///
/// The conversation has other permission settings than requested.
pub(super) fn check_thread(answer: &Value) -> Result<StartedThread, AgentError> {
    let mismatch = |setting: &str| {
        let message = format!("Codex started a session with another {setting} than requested");
        Err(AgentError::new(AgentErrorKind::Protocol, message))
    };
    if answer["approvalPolicy"] != json!("untrusted") {
        return mismatch("approval policy");
    }
    if answer["approvalsReviewer"] != json!("user") {
        return mismatch("approvals reviewer");
    }
    if answer["sandbox"]["type"] != json!("dangerFullAccess") {
        return mismatch("sandbox");
    }
    let Some(thread) = answer["thread"]["id"].as_str() else {
        return mismatch("shape");
    };
    Ok(StartedThread {
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
        assert!(check_thread(&answer()).is_ok());
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

            assert!(check_thread(&other).is_err(), "{name} {value}");
        }
    }
}
