//! What a strategy of recovery is.

use std::fmt;

use autonoe_core::SpecPort;

use super::{LoopContext, RecoveryStep};

/// The port under which strategies of recovery register themselves.
pub const RECOVERY_PORT: SpecPort = SpecPort::Other("recovery");

/// Says what is to change when an agent is stuck.
///
/// It is a pure function of how the loop stands: it starts nothing and pays nothing itself. The
/// loop carries out what it says. An implementer is a plain serialisable struct whose tag reads
/// `crate-thing`. It owes that [`can_apply`](Self::can_apply) is true only of what the
/// [remaining budget](LoopContext::affordable) can pay, and a label that differs from those that
/// it used before; a [`Ladder`](super::Ladder) passes over what breaks that.
///
/// ```
/// use autonoe_harness::{Ladder, LoopContext, RecoveryChange, RecoveryStep, RecoveryStrategy};
/// use serde::{Deserialize, Serialize};
///
/// /// Asks the agent to take a walk.
/// #[derive(Debug, Serialize, Deserialize)]
/// struct Walk {}
///
/// #[typetag::serde(name = "docs-walk")]
/// impl RecoveryStrategy for Walk {
///     fn can_apply(&self, context: &LoopContext) -> Result<(), String> {
///         context.can_pay(1)
///     }
///
///     fn apply(&self, context: &LoopContext) -> RecoveryStep {
///         let goal = format!("{}\n\nThink about something else first.", context.task.goal);
///         RecoveryStep::new("walk", "had it think of something else", RecoveryChange::Prompt { goal })
///     }
/// }
///
/// let ladder: Ladder = serde_json::from_str(r#"[{"type": "docs-walk"}, {"type": "person"}]"#)?;
/// assert_eq!(ladder.names().collect::<Vec<_>>(), ["docs-walk", "person"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[typetag::serde(tag = "type")]
pub trait RecoveryStrategy: fmt::Debug + Send + Sync {
    /// Returns how often it may be applied to one task; once by default.
    fn most_uses(&self) -> u32 {
        1
    }

    /// Tells whether it can be applied now.
    ///
    /// # Errors
    ///
    /// It cannot; the reason is in words for people.
    fn can_apply(&self, context: &LoopContext) -> Result<(), String>;

    /// Says what is to change. It is asked only if it can be applied.
    fn apply(&self, context: &LoopContext) -> RecoveryStep;
}
