//! [`StepChecker`]: decides whether a step passed, by keyword, action or prompt.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{StepJudge, action};
use crate::command::CommandRunner;
use crate::definition::{ActionOutcome, Check, KeywordCheck, KeywordMode, PromptCheck};
use crate::error::{FlowError, FlowErrorKind};
use crate::progress::{contains_word, find_words};

/// Decides whether a step passed.
///
/// A keyword check reads only the text parts of the response. An action check reads only the
/// outcomes of actions. A prompt check lets a model judge the whole response. A check without a
/// result is an error, never a pass.
///
/// ```
/// use autonoe_flow::check::{NoJudge, StepCheckContext, StepChecker};
/// use autonoe_flow::command::NoCommands;
/// use autonoe_flow::definition::Check;
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
    judge: &'a dyn StepJudge,
    commands: &'a dyn CommandRunner,
}

/// The response that a check examines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepCheckContext<'a> {
    /// The text parts of the response.
    pub text: &'a str,
    /// The tool calls, in call order.
    pub actions: &'a [ToolOutcome],
}

impl<'a> StepCheckContext<'a> {
    /// Creates a context from the text parts of a response.
    pub fn new(text: &'a str) -> Self {
        Self { text, actions: &[] }
    }

    /// Sets the tool calls, in call order.
    #[must_use]
    pub fn with_actions(mut self, actions: &'a [ToolOutcome]) -> Self {
        self.actions = actions;
        self
    }
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCheckResult {
    /// Whether the step passed.
    pub passed: bool,
    /// The reason, for people.
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
    /// Creates a checker that uses `judge` for prompt checks and `commands` for command actions.
    pub fn new(judge: &'a dyn StepJudge, commands: &'a dyn CommandRunner) -> Self {
        Self { judge, commands }
    }

    /// Checks the response `answer` of a step.
    ///
    /// # Errors
    ///
    /// The check has no result: a command could not be run, or the model returned no verdict. The
    /// kind is [`FlowErrorKind::StepCheck`], or the kind of the judge's error.
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
        .holds(&check.keywords, |word| contains_word(word, text));
    if holds {
        let found: Vec<&str> = find_words(text, &check.keywords).collect();
        StepCheckResult::passed(format!("the agent said {}", listed(&found)))
    } else {
        let missing = check
            .keywords
            .iter()
            .filter(|word| !contains_word(word, text));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        let verb = match check.mode {
            KeywordMode::Any => "said none of",
            KeywordMode::All => "did not say",
        };
        StepCheckResult::failed(format!("the agent {verb} {}", listed(&missing)))
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
    /// The name of the tool, as the backend spells it.
    pub tool: String,
    /// Outcome of the call.
    pub outcome: ActionOutcome,
    /// The input as JSON, possibly shortened. It is recorded for steps that a model judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The output that the agent received, possibly shortened. It is recorded for steps that a
    /// model judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl ToolOutcome {
    /// Creates an outcome without input and output.
    pub fn new(tool: impl Into<String>, outcome: ActionOutcome) -> Self {
        Self {
            tool: tool.into(),
            outcome,
            input: None,
            output: None,
        }
    }
}
