//! Types of the definition files of a flow.

mod agent;
mod behavior;
mod check;
mod completion;
mod data_test;
mod escalation;
mod names;
mod nested;
mod parameter;
mod plan;
mod prompt_ref;
mod registry;
mod retry;
mod step;
mod transition;

pub use agent::{FlowAgent, PromptPaths};
pub use behavior::{Behavior, PermissionMode};
pub use check::{
    ActionCheck, ActionOutcome, Check, CheckType, CommandAction, ExpectedAction, KeywordCheck,
    KeywordMode, PromptCheck, ToolAction,
};
pub use completion::{
    CheckBudget, Completion, CompletionType, Composite, CompositeMode, Condition, Deliverables,
    ExternalState, ExternalStateSource, IterationBudget, KeywordSignal, NamedState,
    PhaseCompletion, StateCommand, StepMachine, StructuredSignal,
};
pub use data_test::{DataPath, DataQuestion, DataTest};
pub use escalation::{Escalation, NotificationMethod, ReturnFlow};
pub use names::{FlowName, InvalidName, StepId, VariableName};
pub use parameter::{Parameter, ParameterRules, ParameterType};
pub use plan::{AfterFailure, StepPlan};
pub use prompt_ref::{FlowPath, PathRef, PromptRef, SchemePart, SchemeRef};
pub use registry::{DEFAULT_MAX_VISITS, DEFAULT_STEP_LOOP_LIMIT, StepLimits, StepsRegistry};
pub use retry::{Backoff, DEFAULT_MAX_RETRIES, OnExhausted, RetryPolicy};
pub use step::{Branch, FromData, Gateway, Sequential, Step, StepType, VariableValue, WorkStep};
pub use transition::{OnFail, OnPass, Target, Transition};
