//! Tasks for agents on any backend, and fleets of agents that work on one goal.
//!
//! A [`Task`] is a goal with success criteria. An [`AgentExecutor`] runs it in one session of any
//! backend, with gate, guards and budget as in a run, and verifies the criteria. The agent's text
//! never decides the result. An execution is completed if the backend reports that the agent
//! finished its turn. The task is done only if its success criteria hold, which
//! [`Executor::verify_success`] checks.
//!
//! A fleet gives many agents parts of one goal. A [`Strategy`] decides which members start, stop
//! and win. Members run as processes or as tokio tasks. A fleet that was killed can be resumed.
//!
//! ```
//! use autonoe_harness::budget::VerificationBudget;
//! use autonoe_harness::executor::FileCriterion;
//! use autonoe_harness::{AgentExecutor, Execution, Executor, Task};
//! use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let project = TempProject::new();
//!     let work = SessionScript::new("work").writes("hello.txt", "Hello.").says("Done.").ends();
//!     let executor = AgentExecutor::new("scripted", ScriptedBackend::new([work]), project.path());
//!     let task = Task::new("T-001", "Write a greeting.")?
//!         .success_criteria(FileCriterion::new("hello.txt").contains("Hello"));
//!
//!     let result = executor.run(&task, &Execution::default()).await?;
//!
//!     let budget = VerificationBudget::default();
//!     assert!(executor.verify_success(&task, &result, &budget).await.is_success());
//!     Ok(())
//! }
//! ```
//!
//! For single tasks:
//!
//! | you want to | use |
//! | --- | --- |
//! | define a task | [`Task`] |
//! | run it with an agent, with gate, guards and budget as in a run | [`AgentExecutor`], [`Execution`] |
//! | inspect the result | [`ExecutionReport`], [`ExecutionOutcome`](executor::ExecutionOutcome) |
//! | select among several backends by name | [`Executors`] |
//! | define success criteria, as data | [`SuccessCriteria`] |
//! | verify them | [`Executor::verify_success`], [`Verification`](executor::Verification) |
//! | limit the cost of a verification | [`VerificationBudget`](budget::VerificationBudget) |
//! | implement a criterion, a judge or an executor of your own | [`Criterion`], [`Judge`](autonoe_core::session::Judge), [`Executor`] |
//!
//! For many agents at once:
//!
//! | you want to | use |
//! | --- | --- |
//! | describe the work in a Markdown file | [`Roadmap`] |
//! | define how the members of a fleet work together | [`Strategy`]: [`Parallel`], [`Graph`], [`Pipeline`], [`Race`], [`Voting`] |
//! | give each member a part of a budget | [`Account`](budget::Account), [`Allowance`] |
//! | run them on an engine | [`Coordinator`], [`MemberSpec`](coordinate::MemberSpec), [`FleetObserver`] |
//! | trace a fleet and its members as one tree | [`FleetSpans`] |
//! | submit a whole fleet as one job | [`StrategyRun`](coordinate::StrategyRun) |
//! | run them with a driver of your own | [`FleetMachine`], [`FleetStep`](coordinate::FleetStep) |
//! | measure the progress of an agent | [`ProgressDetector`](progress::ProgressDetector), [`ProgressWeights`](progress::ProgressWeights), [`Novelty`](progress::Novelty), [`TreeSnapshot`](progress::TreeSnapshot) |
//! | measure whether the sessions of a run change files | [`ProjectFiles`](progress::ProjectFiles) |
//! | persist tasks and fleets | `SqliteState`, `SqliteMeta` (feature `sqlite`) |
//! | share values, files and events between members | `SharedContext` (feature `sqlite`) |
//! | record alerts and deliver them | [`AlertManager`](alert::AlertManager), [`Alert`](alert::Alert), [`AlertSink`](alert::AlertSink) |
//! | detect a stuck agent | [`StuckDetector`](stuck::StuckDetector), [`StuckThresholds`](stuck::StuckThresholds) |
//! | run tasks until they are verified | [`TaskLoop`], [`WorkOrder`](work::WorkOrder) |
//! | resume them after a crash | [`WorkJournal`](work::WorkJournal), [`WorkObserver`](work::WorkObserver), [`RecoveredState`](work::RecoveredState) |
//! | define the recovery of a stuck agent | [`Ladder`](recovery::Ladder), [`RecoveryStrategy`](recovery::RecoveryStrategy) |
//! | run each member in a process of its own, which is found again after a crash | [`MemberManager`], [`MemberFolder`](folder::MemberFolder), [`MemberServer`] |
//! | watch and control a member | [`MemberHandle`] |
//! | run a durable fleet, which survives a kill of any process | `FleetRun`, `FleetOrder`, `FleetHome`, `MemberWork` (feature `sqlite`) |
//! | give each member a worktree and a branch of its own | [`Worktrees`], [`Worktree`](isolation::Worktree) |
//!
//! | module | contents |
//! | --- | --- |
//! | [`executor`] | tasks, executors, success criteria |
//! | [`budget`] | allowances and accounts of fleets, members and verifications |
//! | [`roadmap`] | roadmaps: Markdown files with an objective and its tasks |
//! | [`strategy`] | strategies of fleets, as pure decisions |
//! | [`coordinate`] | the state machine of a fleet, and the coordinator that drives it on an engine |
//! | `fleet_run` | durable fleets, from the order to the report; needs the feature `sqlite` |
//! | [`manager`] | starts members and finds them again |
//! | [`serve`] | serves the state folder of a member in its process |
//! | [`folder`] | the state folder of a member: order, journal, inbox, log |
//! | [`handle`] | watches and controls a member |
//! | [`work`] | the task loop of a member |
//! | [`progress`] | the progress of an agent, measured per iteration |
//! | [`stuck`], [`recovery`] | detects stuck agents, and recovers them |
//! | [`isolation`] | Git worktrees of members, and their merges |
//! | [`alert`] | alerts, their logs and their sinks |
//! | `state`, `shared` | the state of members and fleets; the context that members share; need the feature `sqlite` |
//! | [`mod@schemas`] | JSON Schemas of the data formats |
//! | `conformance` | suites for your own strategies; needs the feature `conformance` |
//!
//! | feature | adds |
//! | --- | --- |
//! | `sqlite` (default) | the modules `fleet_run`, `shared` and `state`; needs a C compiler |
//! | `conformance` | the module `conformance` |
//!
//! The library never prints, exits or reads the environment.

pub mod alert;
pub mod budget;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod coordinate;
#[cfg(feature = "sqlite")]
mod database;
pub mod executor;
#[cfg(feature = "sqlite")]
pub mod fleet_run;
pub mod folder;
pub mod handle;
pub mod isolation;
pub mod manager;
mod pluralize;
pub mod progress;
pub mod recovery;
pub mod roadmap;
pub mod schemas;
mod serde_formats;
pub mod serve;
#[cfg(feature = "sqlite")]
pub mod shared;
#[cfg(feature = "sqlite")]
pub mod state;
pub mod strategy;
pub mod stuck;
pub mod work;

/// Crates whose types are part of this API, in the versions that it uses.
pub use {autonoe_core, autonoe_process};

pub use budget::Allowance;
pub use coordinate::{
    Coordinator, FleetEvent, FleetEventKind, FleetMachine, FleetObserver, FleetReport, FleetSpans,
};
pub use executor::{
    AgentExecutor, Criterion, Execution, ExecutionReport, Executor, Executors, SuccessCriteria,
    Task, TaskId,
};
#[cfg(feature = "sqlite")]
pub use fleet_run::{
    Candidate, FleetHome, FleetMember, FleetOrder, FleetOrderError, FleetRun, FleetRunError,
    MemberWork,
};
pub use handle::MemberHandle;
pub use isolation::Worktrees;
pub use manager::{MemberCommand, MemberManager};
pub use roadmap::Roadmap;
pub use schemas::schemas;
pub use serve::MemberServer;
pub use strategy::{Graph, Parallel, Pipeline, Race, Strategy, Voting};
pub use work::TaskLoop;
