//! Recovery of stuck agents: strategies that are pure decisions, tried in order.

mod ask_person;
mod context;
mod escalation;
mod exploration;
mod ladder;
mod mutation;
mod port;
#[cfg(test)]
mod properties;

pub use ask_person::AskPerson;
pub use context::{Attendance, LoopContext, WorkingPlace};
pub use escalation::{BackendModel, Escalation};
pub use exploration::Exploration;
pub use ladder::{Ladder, Recovery, RecoveryAttempt, SkippedStrategy};
pub use mutation::{MutationKind, PromptMutation};
pub use port::{ExplorationBranch, RECOVERY_PORT, RecoveryChange, RecoveryStep, RecoveryStrategy};
