//! How a step is judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nested::read_by_type;
use super::prompt_ref::PromptRef;
use super::transition::{OnFail, OnPass};

/// How a step is judged: by a model, by what the actions gave, or by words.
///
/// ```
/// use autonoe_flow::{Check, CheckType};
///
/// let check: Check = serde_json::from_str(
///     r#"{"type": "keyword", "keywords": ["APPROVED"], "onPass": {"next": "end"}}"#,
/// )?;
///
/// assert_eq!(check.check_type(), CheckType::Keyword);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Check {
    /// A model judges, with a structured answer.
    Prompt(PromptCheck),
    /// What the actions of the step gave is looked at.
    Action(ActionCheck),
    /// The text parts of the answer are searched for words.
    Keyword(KeywordCheck),
}

read_by_type!(Check, None, {
    "prompt" => Prompt,
    "action" => Action,
    "keyword" => Keyword,
});

/// The ways to judge a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CheckType {
    /// A model judges.
    Prompt,
    /// What the actions of the step gave is looked at.
    Action,
    /// The text parts of the answer are searched for words.
    Keyword,
}

/// Lets a model judge the whole answer of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptCheck {
    /// What the model is asked.
    pub prompt: PromptRef,
    /// What is done when it passed.
    #[serde(default)]
    pub on_pass: OnPass,
    /// What is done when it did not pass.
    #[serde(default)]
    pub on_fail: OnFail,
}

/// Looks at what the actions of a step gave. All of them must be as expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ActionCheck {
    /// What is expected.
    pub actions: Vec<ExpectedAction>,
    /// What is done when it passed.
    #[serde(default)]
    pub on_pass: OnPass,
    /// What is done when it did not pass.
    #[serde(default)]
    pub on_fail: OnFail,
}

/// What is expected of one action: calls of a tool by the agent, or a command that the flow runs.
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
    /// How the last call of it must have ended.
    #[serde(default)]
    pub outcome: ActionOutcome,
    /// How many calls must have ended so, at least.
    #[serde(default = "one")]
    pub times: u32,
}

fn one() -> u32 {
    1
}

/// Runs a command after a step, and expects an end of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandAction {
    /// The program and its arguments; no shell is between.
    pub command: Vec<String>,
    /// How it must end: with exit code 0, or with another.
    #[serde(default)]
    pub outcome: ActionOutcome,
    /// After how many seconds it is ended and has failed.
    #[serde(default = "ten_minutes")]
    pub timeout_seconds: u64,
}

pub(super) fn ten_minutes() -> u64 {
    600
}

/// How an action ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ActionOutcome {
    /// Without an error.
    #[default]
    Succeeded,
    /// With an error.
    Failed,
}

/// Searches the text parts of an answer for words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeywordCheck {
    /// The words, as they are spelled, each as a word of its own: `DONE` is not in `UNDONE`.
    pub keywords: Vec<String>,
    /// Whether one of them is enough.
    #[serde(default)]
    pub mode: KeywordMode,
    /// What is done when it passed.
    #[serde(default)]
    pub on_pass: OnPass,
    /// What is done when it did not pass.
    #[serde(default)]
    pub on_fail: OnFail,
}

/// How many of several words must stand in a text.
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
    /// Returns the way in which the step is judged.
    pub fn check_type(&self) -> CheckType {
        match self {
            Self::Prompt(_) => CheckType::Prompt,
            Self::Action(_) => CheckType::Action,
            Self::Keyword(_) => CheckType::Keyword,
        }
    }

    /// Returns what is done when it passed.
    pub fn on_pass(&self) -> &OnPass {
        match self {
            Self::Prompt(check) => &check.on_pass,
            Self::Action(check) => &check.on_pass,
            Self::Keyword(check) => &check.on_pass,
        }
    }

    /// Returns what is done when it did not pass.
    pub fn on_fail(&self) -> &OnFail {
        match self {
            Self::Prompt(check) => &check.on_fail,
            Self::Action(check) => &check.on_fail,
            Self::Keyword(check) => &check.on_fail,
        }
    }
}
