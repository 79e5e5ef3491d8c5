//! What must hold after a task, as data.

mod command;
mod composite;
mod criteria;
mod file;
mod judged;
mod junit;
mod port;
mod tests_run;
mod verification;

pub use command::CommandCriterion;
pub use composite::{AllOf, AnyOf};
pub use criteria::SuccessCriteria;
pub use file::FileCriterion;
pub use judged::JudgeCriterion;
pub use port::{CRITERION_PORT, Criterion, Verifying};
pub use tests_run::TestsCriterion;
pub use verification::Verification;
