//! What is tried when an agent is stuck: pure decisions, in an order.

mod change;
mod context;
mod escalation;
mod exploration;
mod ladder;
mod mutation;
mod person;
mod port;
#[cfg(test)]
mod properties;

pub use change::{ExplorationBranch, RecoveryChange, RecoveryStep};
pub use context::{Attendance, LoopContext, WorkingPlace};
pub use escalation::{BackendModel, Escalation};
pub use exploration::Exploration;
pub use ladder::{Climb, Ladder, PassedOver, Recovery};
pub use mutation::{MutationKind, PromptMutation};
pub use person::AskPerson;
pub use port::{RECOVERY_PORT, RecoveryStrategy};
