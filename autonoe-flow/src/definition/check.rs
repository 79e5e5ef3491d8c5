//! Definition of a step's check: by prompt, action or keyword.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prompt_ref::PromptRef;
use super::read_by_type;
use super::transition::{OnFail, OnPass};

/// The check of a step: by a model, by the outcomes of actions, or by keywords.
///
/// ```
/// use autonoe_flow::definition::Check;
///
/// let check: Check = serde_json::from_str(
///     r#"{"type": "keyword", "keywords": ["APPROVED"], "onPass": {"next": "end"}}"#,
/// )?;
///
/// assert!(matches!(check, Check::Keyword(_)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Check {
    /// A model judges the answer and returns a structured verdict.
    Prompt(PromptCheck),
    /// The outcomes of the step's actions are checked.
    Action(ActionCheck),
    /// The text parts of the answer are searched for keywords.
    Keyword(KeywordCheck),
}

read_by_type!(Check, None, {
    "prompt" => Prompt,
    "action" => Action,
    "keyword" => Keyword,
});

/// Lets a model judge the whole answer of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptCheck {
    /// The prompt for the model.
    pub prompt: PromptRef,
    /// The action when the check passed.
    #[serde(default)]
    pub on_pass: OnPass,
    /// The action when the check did not pass.
    #[serde(default)]
    pub on_fail: OnFail,
}

/// Checks the outcomes of the step's actions. All expectations must be met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ActionCheck {
    /// The expected actions.
    pub actions: Vec<ExpectedAction>,
    /// The action when the check passed.
    #[serde(default)]
    pub on_pass: OnPass,
    /// The action when the check did not pass.
    #[serde(default)]
    pub on_fail: OnFail,
}

/// An expected action: calls of a tool by the agent, or a command that the flow runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ExpectedAction {
    /// The agent called a tool.
    Tool(ToolAction),
    /// The flow runs a command after the step.
    Command(CommandAction),
}

read_by_type!(ExpectedAction, None, {
    "tool" => Tool,
    "command" => Command,
});

/// Expects calls of a tool by the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolAction {
    /// The name of the tool, for example `mcp__autonoe__set_status`.
    pub tool: String,
    /// The required outcome of the last call.
    #[serde(default)]
    pub outcome: ActionOutcome,
    /// The minimum number of calls with this outcome.
    #[serde(default = "one")]
    pub times: u32,
}

fn one() -> u32 {
    1
}

/// Runs a command after a step, and expects an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandAction {
    /// The program and its arguments. They are not passed to a shell.
    pub command: Vec<String>,
    /// The required outcome: exit code 0 if it succeeded, another one if it failed.
    #[serde(default)]
    pub outcome: ActionOutcome,
    /// The timeout in seconds. After a timeout the check does not pass.
    #[serde(default = "ten_minutes")]
    pub timeout_seconds: u64,
}

pub(crate) fn ten_minutes() -> u64 {
    600
}

/// The outcome of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ActionOutcome {
    /// It ended without an error.
    #[default]
    Succeeded,
    /// It ended with an error.
    Failed,
}

/// Searches the text parts of an answer for keywords.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeywordCheck {
    /// The keywords, case-sensitive and as whole words: `DONE` is not in `UNDONE`.
    pub keywords: Vec<String>,
    /// Whether one or all of the keywords are needed.
    #[serde(default)]
    pub mode: KeywordMode,
    /// The action when the check passed.
    #[serde(default)]
    pub on_pass: OnPass,
    /// The action when the check did not pass.
    #[serde(default)]
    pub on_fail: OnFail,
}

/// Number of keywords that a text must contain: any or all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeywordMode {
    /// One is enough.
    #[default]
    Any,
    /// All of them.
    All,
}

impl Check {
    /// Returns the transition after a passed check.
    pub fn on_pass(&self) -> &OnPass {
        match self {
            Self::Prompt(check) => &check.on_pass,
            Self::Action(check) => &check.on_pass,
            Self::Keyword(check) => &check.on_pass,
        }
    }

    /// Returns the transition after a failed check.
    pub fn on_fail(&self) -> &OnFail {
        match self {
            Self::Prompt(check) => &check.on_fail,
            Self::Action(check) => &check.on_fail,
            Self::Keyword(check) => &check.on_fail,
        }
    }
}
