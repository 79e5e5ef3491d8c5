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
//! | limit what it takes to know that, and see it | [`Executor::verify_on_tab`], [`VerificationTab`] |
//! | bring a criterion, a judge or an executor of your own | [`Criterion`], [`Judge`], [`Executor`] |
//!
//! Success is never read out of prose: a task succeeded when the backend says that the agent
//! finished its turn, and it is verified when its criteria hold.
//!
//! For many agents at once:
//!
//! | you want to | look at |
//! | --- | --- |
//! | write down what is to be done, as people do | [`Roadmap`] |
//! | say how members of a fleet work together | [`Strategy`]: [`Parallel`], [`Graph`], [`Pipeline`], [`Race`], [`Voting`] |
//! | give each a part of a budget | [`Accounts`], [`Allowance`] |
//! | have them carried out on an engine | [`Coordinator`], [`MemberSpec`], [`FleetObserver`] |
//! | trace a fleet and its members as one tree | [`FleetSpans`] |
//! | submit all of that as one run | [`StrategyRun`], [`StrategyRunner`] |
//! | have them carried out by something of your own | [`FleetCourse`], [`FleetStep`] |
//! | see whether an agent comes on | [`ProgressDetector`], [`ProgressWeights`], [`Novelty`], [`TreeSnapshot`] |
//! | stop a run whose sessions change nothing | [`ProjectFiles`] |
//! | keep what is to be done and who does what, through crashes | [`StateStore`], [`MetaState`] |
//! | have harnesses share values, files and events | `SharedContext` (feature `sqlite`) |
//! | have somebody told of what matters, and keep it | [`AlertManager`], [`Alert`], [`AlertSink`] |
//! | see whether it is stuck | [`StuckDetector`], [`StuckThresholds`] |
//! | have its tasks done until they are verified | [`TaskLoop`], [`WorkOrder`] |
//! | have them go on after a crash where they were | [`WorkJournal`], [`WorkObserver`], [`WorkSoFar`] |
//! | say what is tried when it is | [`Ladder`], [`RecoveryStrategy`] |
//! | have each in a process of its own, that is found again after a crash | [`HarnessManager`], [`HarnessFolder`], [`Serving`] |
//! | watch and lead one | [`HarnessHandle`]: [`ProcessHandle`], [`LocalHandle`] |
//! | have all of that put together, so that it survives a kill of anything | `FleetRun`, `FleetOrder`, `FleetHome`, `MemberWork` (feature `sqlite`) |
//! | give each a folder and a branch of its own | [`Worktrees`], [`Worktree`] |
//! | have an engine or single sessions in another program | [`ProgramEngine`], [`serve_engine`], [`ProgramSessionHost`], [`serve_session_host`], [`PipedProgram`] |
//! | have a run move between hosts that share no folder | [`TravellingHost`], [`TravellingProject`], [`TravelRemote`] |
//!
//! The library never prints, exits or reads the environment.

mod alert;
mod bridge;
mod budget;
#[cfg(feature = "conformance")]
pub mod conformance;
mod coordinate;
#[cfg(feature = "sqlite")]
mod database;
mod executor;
#[cfg(feature = "sqlite")]
mod fleet_run;
mod folder;
mod handle;
mod isolation;
mod manager;
mod progress;
mod recovery;
mod roadmap;
mod schemas;
mod serve;
#[cfg(feature = "sqlite")]
mod shared;
mod state;
mod strategy;
mod stuck;
mod travel;
mod words;
mod work;
mod written;

/// Crates whose types are part of this API, in the versions that it uses.
pub use {autonoe_core, autonoe_process};

pub use alert::{
    Alert, AlertError, AlertHistory, AlertLog, AlertManager, AlertSink, Severity, UnreadableAlert,
};
pub use bridge::{
    BridgeError, PipedProgram, ProgramEngine, ProgramSessionHost, ServedSession, serve_engine,
    serve_session_host,
};
pub use budget::{AccountError, Accounts, Allowance, BudgetedKind, Spending};
pub use coordinate::{
    CoordinationError, Coordinator, CutShort, FleetCourse, FleetEvent, FleetEventKind,
    FleetObserver, FleetReport, FleetSpans, FleetStep, MemberJob, MemberSpec, STRATEGY_JOB,
    StrategyRun, StrategyRunner,
};
pub use executor::*;
#[cfg(feature = "sqlite")]
pub use fleet_run::{
    Arrangement, Contender, FleetHome, FleetMember, FleetOrder, FleetOrderError, FleetOutcome,
    FleetRun, FleetRunError, MemberWork,
};
pub use folder::{
    FolderError, HarnessFact, HarnessFolder, HarnessJournalEntry, HarnessLog, HarnessState,
    HarnessStatus, HarnessView, PostedInstruction, ServingProcess,
};
pub use handle::{
    DEFAULT_KILL_TIMEOUT, DEFAULT_LOG_LINES, HandleError, HarnessHandle, HarnessNotes, LocalHandle,
    ProcessHandle,
};
pub use isolation::{
    Author, IsolationError, KeptWorktree, Merged, Swept, WorkPlace, Worktree, Worktrees,
};
pub use manager::{FoundHarness, HarnessManager, SubHarnessProgram, Survival};
pub use progress::{
    Novelty, ProgressDetector, ProgressSignal, ProgressWeights, ProjectFiles, SnapshotLimits,
    TreeSnapshot,
};
pub use recovery::{
    AskPerson, Attendance, BackendModel, Climb, Escalation, Exploration, ExplorationBranch, Ladder,
    LoopContext, MutationKind, PassedOver, PromptMutation, RECOVERY_PORT, Recovery, RecoveryChange,
    RecoveryStep, RecoveryStrategy, WorkingPlace,
};
pub use roadmap::{PlannedTask, Roadmap, RoadmapError, RoadmapFinding};
pub use schemas::schemas;
pub use serve::{ServeOutcome, Serving};
#[cfg(feature = "sqlite")]
pub use shared::{Artifact, ArtifactName, InvalidArtifactName, Scope, SharedContext, SharedError};
pub use state::{
    AttemptEnding, AttemptRecord, Claim, Claimant, Cursor, DecisionRecord, ExecutionRecord,
    FleetLead, FleetPlan, FleetRecord, HarnessEvent, HarnessPlan, HarnessRecord, MemoryMeta,
    MemoryState, MetaState, NewHarnessEvent, ProgressSample, StateError, StateStore, StoredTask,
    TaskEnd, TaskPlan, TaskStatus, TaskUpdate,
};
#[cfg(feature = "sqlite")]
pub use state::{SqliteMeta, SqliteState};
pub use strategy::{
    AggregatedResult, Decision, Fleet, Graph, HarnessId, HarnessResult, IntoStrategy, Member,
    MemberState, Order, Parallel, Pipeline, Race, STRATEGY_PORT, Strategy, Voting, VotingCriterion,
};
pub use stuck::{
    Circuit, Iteration, StuckDetector, StuckLevel, StuckReason, StuckReport, StuckThresholds,
};
pub use travel::{KeptWork, TravelError, TravelRemote, TravellingHost, TravellingProject};
pub use work::{
    GivenUp, Isolation, Iterated, NextStep, NoWorkObserver, TaskLoop, ToldMessage, WhenDone,
    WorkEvent, WorkJournal, WorkObserver, WorkOrder, WorkSoFar, next_step,
};
