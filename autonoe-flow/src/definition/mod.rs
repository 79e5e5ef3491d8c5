//! Types of the definition files of a flow.

mod agent;
mod behavior;
mod check;
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

pub use crate::completion::kinds::*;
pub use agent::{FlowAgent, PromptPaths};
pub use behavior::{Behavior, PermissionMode};
pub(crate) use check::ten_minutes;
pub use check::{
    ActionCheck, ActionOutcome, Check, CheckType, CommandAction, ExpectedAction, KeywordCheck,
    KeywordMode, PromptCheck, ToolAction,
};
pub use data_test::{DataPath, DataQuestion, DataTest};
pub use escalation::{NotificationMethod, ReturnFlow, StepEscalation};
pub use names::{FlowName, InvalidName, StepId, VariableName};
pub(crate) use nested::{read_by_type, written_value};
pub use parameter::{ParameterDefinition, ParameterRules, ParameterType};
pub use plan::{AfterFailure, StepPlan};
pub use prompt_ref::{FlowPath, PathRef, PromptRef, SchemePart, SchemeRef};
pub use registry::{DEFAULT_MAX_VISITS, DEFAULT_STEP_LOOP_LIMIT, StepLimits, StepsRegistry};
pub use retry::{Backoff, DEFAULT_MAX_RETRIES, OnExhausted, StepRetryPolicy};
pub use step::{
    FromData, Gateway, GatewayBranch, Sequential, Step, StepType, VariableValue, WorkStep,
};
pub use transition::{OnFail, OnPass, Target, Transition};
