//! Tasks, the executors that run them, and their success criteria.

mod agent_executor;
mod criterion;
mod folder;
mod outcome;
mod port;
mod prompt;
mod result;
mod task;

pub use agent_executor::AgentExecutor;
pub use criterion::{
    AllOf, AnyOf, CRITERION_PORT, CommandCriterion, Criterion, FileCriterion, JudgeCriterion,
    SuccessCriteria, TestsCriterion, Verification, VerificationContext,
};
pub use outcome::ExecutionOutcome;
pub use port::{ExecuteError, Execution, Executor, Executors};
pub use prompt::{follow_up_prompt, judge_prompt, task_prompt};
pub use result::ExecutionReport;
pub use task::{InvalidTask, InvalidTaskId, Task, TaskId};
