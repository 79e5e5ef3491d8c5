//! Success criteria of tasks, as serialisable data.

mod command;
mod composite;
mod file;
mod judge_criterion;
mod junit;
mod port;
mod tests_criterion;
mod verification;

pub use command::CommandCriterion;
pub use composite::{AllOf, AnyOf};
pub use file::FileCriterion;
pub use judge_criterion::JudgeCriterion;
pub use port::{CRITERION_PORT, Criterion, SuccessCriteria, VerificationContext};
pub use tests_criterion::TestsCriterion;
pub use verification::Verification;
