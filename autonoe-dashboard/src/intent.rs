//! What a person at a view wants to be done.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MemberId, MemberStatus};

/// What a person at a view wants to be done with a member. The view does nothing of it by itself:
/// who shows the view gets it and carries it out.
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
    /// With whom.
    pub member: MemberId,
    /// What.
    #[serde(flatten)]
    pub action: FleetAction,
}

/// What can be done with a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum FleetAction {
    /// Begin nothing more until it is resumed.
    Pause,
    /// Go on.
    Resume,
    /// End in order.
    Stop,
    /// End at once, with all that it started.
    Kill,
    /// Tell its agent something.
    Instruct {
        /// What to tell.
        text: String,
    },
}

impl FleetAction {
    /// Tells whether it makes sense for a member that stands so.
    ///
    /// ```
    /// use autonoe_dashboard::{FleetAction, MemberStatus};
    ///
    /// assert!(FleetAction::Pause.fits(MemberStatus::Running));
    /// assert!(!FleetAction::Stop.fits(MemberStatus::Completed));
    /// ```
    pub fn fits(&self, status: MemberStatus) -> bool {
        match self {
            Self::Pause => matches!(status, MemberStatus::Pending | MemberStatus::Running),
            Self::Resume => status == MemberStatus::Paused,
            Self::Stop | Self::Kill | Self::Instruct { .. } => !status.has_ended(),
        }
    }

    /// Names it as addresses and sentences do.
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
    fn what_makes_sense_depends_on_how_a_member_stands() {
        use MemberStatus::{Completed, Failed, Paused, Pending, Running, Stopped};
        let fits = |action: FleetAction| {
            let all = [Pending, Running, Paused, Completed, Failed, Stopped];
            all.map(|status| action.fits(status))
        };
        let told = FleetAction::Instruct { text: "go".into() };

        assert_eq!(
            fits(FleetAction::Pause),
            [true, true, false, false, false, false]
        );
        assert_eq!(
            fits(FleetAction::Resume),
            [false, false, true, false, false, false]
        );
        for action in [FleetAction::Stop, FleetAction::Kill, told] {
            assert_eq!(fits(action), [true, true, true, false, false, false]);
        }
    }
}
