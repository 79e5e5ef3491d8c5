//! Recovery of stuck agents: strategies that are pure decisions, tried in order.

mod ladder;
mod port;
#[cfg(test)]
mod properties;
mod strategies;

pub use ladder::{Ladder, Recovery, RecoveryAttempt, SkippedStrategy};
pub use port::{
    Attendance, BackendModel, ExplorationBranch, LoopContext, RECOVERY_PORT, RecoveryChange,
    RecoveryStep, RecoveryStrategy, WorkFolderKind,
};
pub use strategies::{AskPerson, Escalation, Exploration, MutationKind, PromptMutation};
