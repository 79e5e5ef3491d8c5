//! Tasks on any backend, behind one interface.
//!
//! | you want to | look at |
//! | --- | --- |
//! | say what is to be done | [`Task`] |
//! | have it done by an agent, with gate, guards and budget as in a run | [`AgentExecutor`], [`Execution`] |
//! | know how that went | [`ExecutionResult`], [`ExecutionEnd`] |
//! | choose among several backends by name | [`Executors`] |
//! | say what must hold afterwards, as data | [`SuccessCriteria`] |
//! | know whether it does | [`Executor::verify_success`], [`Verification`] |
//! | bring a criterion, a judge or an executor of your own | [`Criterion`], [`Judge`], [`Executor`] |
//!
//! Success is never read out of prose: a task succeeded when the backend says that the agent
//! finished its turn, and it is verified when its criteria hold.
//!
//! The library never prints, exits or reads the environment.

mod executor;
mod schemas;

pub use executor::*;
pub use schemas::schemas;
