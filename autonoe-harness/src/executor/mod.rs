//! Tasks, who carries them out, and whether they are done.

mod agent_executor;
mod criterion;
mod end;
mod error;
mod executors;
mod folder;
mod judge;
mod one_session;
mod port;
mod prompt;
mod result;
mod session_judge;
mod tab;
mod task;
mod task_id;

pub use agent_executor::AgentExecutor;
pub use criterion::{
    AllOf, AnyOf, CRITERION_PORT, CommandCriterion, Criterion, FileCriterion, JudgeCriterion,
    SuccessCriteria, TestsCriterion, Verification, Verifying,
};
pub use end::ExecutionEnd;
pub use error::ExecuteError;
pub use executors::Executors;
pub use judge::{Judge, JudgeQuestion};
pub use port::{Execution, Executor};
pub use prompt::{follow_up_prompt, judge_prompt, task_prompt};
pub use result::ExecutionResult;
pub use tab::{TabSession, VerificationTab};
pub use task::{InvalidTask, Task};
pub use task_id::{InvalidTaskId, TaskId};
