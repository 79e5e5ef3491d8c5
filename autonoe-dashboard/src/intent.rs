//! [`FleetIntent`]: a user's request to act on a member of the fleet.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MemberRow, MemberRowId, MemberRowStatus};

/// A user's request to act on a member. Views only emit intents; the caller of the view carries
/// them out.
///
/// ```
/// use autonoe_dashboard::{FleetAction, FleetIntent};
///
/// let json = r#"{"member": "api", "action": "instruct", "text": "Use postgres."}"#;
/// let intent: FleetIntent = serde_json::from_str(json)?;
///
/// assert!(matches!(intent.action, FleetAction::Instruct { .. }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetIntent {
    /// Member to act on.
    pub member: MemberRowId,
    /// Requested action.
    #[serde(flatten)]
    pub action: FleetAction,
}

/// Action on a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum FleetAction {
    /// Starts no new work until resumed.
    Pause,
    /// Continues a paused member.
    Resume,
    /// Ends gracefully.
    Stop,
    /// Ends immediately, including all child processes.
    Kill,
    /// Sends a message to the agent.
    Instruct {
        /// Text of the message.
        text: String,
    },
}

impl FleetAction {
    /// Returns whether the action makes sense for a member with this status.
    ///
    /// ```
    /// use autonoe_dashboard::{FleetAction, MemberRowStatus};
    ///
    /// assert!(FleetAction::Pause.is_valid_for(MemberRowStatus::Running));
    /// assert!(!FleetAction::Stop.is_valid_for(MemberRowStatus::Completed));
    /// ```
    pub fn is_valid_for(&self, status: MemberRowStatus) -> bool {
        match self {
            Self::Pause => matches!(status, MemberRowStatus::Pending | MemberRowStatus::Running),
            Self::Resume => status == MemberRowStatus::Paused,
            Self::Stop | Self::Kill | Self::Instruct { .. } => !status.has_ended(),
        }
    }

    /// Returns whether the action makes sense for `member` now. A member with a question can resume
    /// without an answer.
    pub(crate) fn is_accepted_by(&self, member: &MemberRow) -> bool {
        let has_question = member.status == MemberRowStatus::Running && member.question.is_some();
        self.is_valid_for(member.status) || (has_question && *self == Self::Resume)
    }

    /// Returns the name that URLs and messages use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Stop => "stop",
            Self::Kill => "kill",
            Self::Instruct { .. } => "instruct",
        }
    }
}

impl fmt::Display for FleetAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_actions_depend_on_member_status() {
        use MemberRowStatus::{Completed, Failed, Paused, Pending, Running, Stopped};
        let fits = |action: FleetAction| {
            let all = [Pending, Running, Paused, Completed, Failed, Stopped];
            all.map(|status| action.is_valid_for(status))
        };
        let instruct = FleetAction::Instruct { text: "go".into() };

        assert_eq!(
            fits(FleetAction::Pause),
            [true, true, false, false, false, false]
        );
        assert_eq!(
            fits(FleetAction::Resume),
            [false, false, true, false, false, false]
        );
        for action in [FleetAction::Stop, FleetAction::Kill, instruct] {
            assert_eq!(fits(action), [true, true, true, false, false, false]);
        }
    }
}
