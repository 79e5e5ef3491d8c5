//! What an answer of a hook means.

use serde_json::Value;

use crate::fake_claude::Build;
use crate::fake_claude::host::Hook;

/// What is decided about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It happens.
    Allow,
    /// A hook refused it, for this reason.
    Deny(String),
    /// The hook failed, and that blocks.
    Failed,
    /// Nobody said anything.
    Open,
    /// The hook did not answer in time.
    Late,
}

impl Decision {
    /// Reads an answer.
    ///
    /// Neither build takes an answer that it does not understand for a refusal.
    pub(super) fn read(answer: Option<&Value>, hook: &Hook, build: Build) -> Self {
        let Some(answer) = answer else {
            return Self::Late;
        };
        if answer["subtype"] != "success" {
            let blocks = hook.failure_blocks && build != Build::V2_1_197;
            return if blocks { Self::Failed } else { Self::Open };
        }
        let body = &answer["response"];
        let special = &body["hookSpecificOutput"];
        let decided = special["permissionDecision"].as_str();
        let reason = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match (decided, body["decision"].as_str()) {
            (Some("deny"), _) => Self::Deny(reason(&special["permissionDecisionReason"])),
            (_, Some("block")) => Self::Deny(reason(&body["reason"])),
            (Some("allow"), _) | (_, Some("approve")) => Self::Allow,
            _ => Self::Open,
        }
    }

    /// Returns what two hooks say together: a refusal wins.
    pub(super) fn and(self, other: Self) -> Self {
        let rank = |decision: &Self| match decision {
            Self::Deny(_) => 0,
            Self::Failed => 1,
            Self::Late => 2,
            Self::Allow => 3,
            Self::Open => 4,
        };
        if rank(&other) < rank(&self) {
            other
        } else {
            self
        }
    }

    /// Decides a call that no hook decided, by the permission mode.
    pub(super) fn by_mode(self, tool: &str, mode: &str) -> Self {
        match (&self, mode, tool) {
            (Self::Open, "bypassPermissions", _)
            | (Self::Open, _, "Read" | "Glob" | "Grep")
            | (Self::Open, "acceptEdits", "Write" | "Edit") => Self::Allow,
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fake_claude::host::Host;

    fn read(answer: &Value, build: Build) -> Decision {
        let mut host = Host::default();
        let matchers = json!([{"hookCallbackIds": ["gate"], "onFailure": "block"}]);
        host.introduce(&json!({"hooks": {"PreToolUse": matchers}}), &[]);
        Decision::read(Some(answer), &host.hooks[0], build)
    }

    #[test]
    fn answers_mean_what_they_mean_to_the_real_builds() {
        let ok = |body: Value| json!({"subtype": "success", "response": body});
        let special = |decision: &str| {
            json!({"hookSpecificOutput": {
                "permissionDecision": decision, "permissionDecisionReason": "because",
            }})
        };
        let deny = Decision::Deny("because".into());
        for (answer, expected) in [
            (ok(special("deny")), deny.clone()),
            (ok(json!({"decision": "block", "reason": "because"})), deny),
            (ok(special("allow")), Decision::Allow),
            (ok(json!({"decision": "approve"})), Decision::Allow),
            (ok(special("ask")), Decision::Open),
            (ok(json!({})), Decision::Open),
            (ok(json!({"continue": true})), Decision::Open),
        ] {
            for build in Build::ALL {
                assert_eq!(read(&answer, build), expected, "{answer}");
            }
        }
    }

    #[test]
    fn a_failure_blocks_on_newer_builds_only() {
        let failure = json!({"subtype": "error", "error": "it broke"});

        assert_eq!(read(&failure, Build::V2_1_197), Decision::Open);
        assert_eq!(read(&failure, Build::V2_1_325), Decision::Failed);
    }

    #[test]
    fn a_refusal_wins_and_the_mode_decides_the_rest() {
        let deny = Decision::Deny("no".into());

        assert_eq!(Decision::Allow.and(deny.clone()), deny);
        assert_eq!(deny.clone().and(Decision::Allow), deny);
        assert_eq!(Decision::Open.and(Decision::Allow), Decision::Allow);
        assert_eq!(Decision::Open.by_mode("Read", "dontAsk"), Decision::Allow);
        assert_eq!(Decision::Open.by_mode("Bash", "dontAsk"), Decision::Open);
        assert_eq!(
            Decision::Open.by_mode("Bash", "bypassPermissions"),
            Decision::Allow
        );
        assert_eq!(deny.clone().by_mode("Read", "bypassPermissions"), deny);
    }
}
