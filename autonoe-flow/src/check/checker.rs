//! The check of a step, whichever way it is judged.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Judge, action};
use crate::command::CommandRunner;
use crate::definition::{ActionOutcome, Check, KeywordCheck, KeywordMode, PromptCheck};
use crate::error::{FlowError, FlowErrorKind};
use crate::progress::{stands_in, words_in};

/// Finds out whether a step passed.
///
/// A check by keyword looks at the text parts of the response alone, one by
/// action at the results of actions alone. A check by prompt lets a model judge
/// the whole response. A check without a result is an error and never a pass.
///
/// ```
/// use autonoe_flow::{Check, NoCommands, NoJudge, StepCheckContext, StepChecker};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let check: Check = serde_json::from_str(r#"{"type": "keyword", "keywords": ["APPROVED"]}"#)?;
/// let answer = StepCheckContext::new("APPROVED, with thanks.");
///
/// let result = StepChecker::new(&NoJudge, &NoCommands).check(&check, &answer).await?;
///
/// assert!(result.passed);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct StepChecker<'a> {
    judge: &'a dyn Judge,
    commands: &'a dyn CommandRunner,
}

/// The response that a check looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepCheckContext<'a> {
    /// The text parts of the response.
    pub text: &'a str,
    /// The tool calls, in their order.
    pub actions: &'a [ToolOutcome],
}

impl<'a> StepCheckContext<'a> {
    /// Makes a context of the text parts of a response.
    pub fn new(text: &'a str) -> Self {
        Self { text, actions: &[] }
    }

    /// Sets the tool calls, in their order.
    #[must_use]
    pub fn with_actions(mut self, actions: &'a [ToolOutcome]) -> Self {
        self.actions = actions;
        self
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCheckResult {
    /// Whether the step passed.
    pub passed: bool,
    /// Why, in words for people.
    pub reason: Option<String>,
}

impl StepCheckResult {
    pub(super) fn passed(reason: impl Into<String>) -> Self {
        Self {
            passed: true,
            reason: Some(reason.into()),
        }
    }

    pub(super) fn failed(reason: impl Into<String>) -> Self {
        Self {
            passed: false,
            reason: Some(reason.into()),
        }
    }
}

impl<'a> StepChecker<'a> {
    /// Makes a checker that asks `judge` and runs `commands`.
    pub fn new(judge: &'a dyn Judge, commands: &'a dyn CommandRunner) -> Self {
        Self { judge, commands }
    }

    /// Finds out whether a step passed that gave `answer`.
    ///
    /// # Errors
    ///
    /// It could not be found out: a command was not run, the model gave no
    /// verdict. The kind is [`FlowErrorKind::StepCheck`], or what the judge says.
    pub async fn check(
        &self,
        check: &Check,
        answer: &StepCheckContext<'_>,
    ) -> Result<StepCheckResult, FlowError> {
        match check {
            Check::Keyword(check) => Ok(find_keyword(check, answer.text)),
            Check::Action(check) => action::check(check, answer.actions, self.commands).await,
            Check::Prompt(check) => self.judged(check, answer).await,
        }
    }

    async fn judged(
        &self,
        check: &PromptCheck,
        answer: &StepCheckContext<'_>,
    ) -> Result<StepCheckResult, FlowError> {
        match self.judge.judge(&check.prompt, answer).await? {
            Some(verdict) => Ok(StepCheckResult {
                passed: verdict.passed,
                reason: Some(verdict.reason),
            }),
            None => Err(FlowError::new(
                FlowErrorKind::StepCheck,
                "the model that judges the step gave no verdict",
            )),
        }
    }
}

impl fmt::Debug for StepChecker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepChecker").finish_non_exhaustive()
    }
}

fn find_keyword(check: &KeywordCheck, text: &str) -> StepCheckResult {
    let holds = check
        .mode
        .holds(&check.keywords, |word| stands_in(word, text));
    match holds {
        true => {
            let said: Vec<&str> = words_in(text, &check.keywords).collect();
            StepCheckResult::passed(format!("the agent said {}", listed(&said)))
        }
        false => {
            let missing = check.keywords.iter().filter(|word| !stands_in(word, text));
            let missing: Vec<&str> = missing.map(String::as_str).collect();
            let said = match check.mode {
                KeywordMode::Any => "said none of",
                KeywordMode::All => "did not say",
            };
            StepCheckResult::failed(format!("the agent {said} {}", listed(&missing)))
        }
    }
}

fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// A tool call and how it ended. A denied call has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The name of the tool, in the backend's spelling.
    pub tool: String,
    /// How the call ended.
    pub outcome: ActionOutcome,
    /// The input as JSON, perhaps shortened. It is recorded for steps that a model judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The output that the agent received, perhaps shortened. It is recorded for steps that a model
    /// judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl ToolOutcome {
    /// Makes a call without its input and its output.
    pub fn new(tool: impl Into<String>, outcome: ActionOutcome) -> Self {
        Self {
            tool: tool.into(),
            outcome,
            input: None,
            output: None,
        }
    }
}
