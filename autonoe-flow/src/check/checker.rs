//! [`StepChecker`]: decides whether a step passed, by keyword, action or [`Judge`].

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::SessionReport;
use autonoe_core::event::Failure;
use autonoe_core::session::{Judge, JudgeQuestion, Judged};
use autonoe_core::tool::Toolbox;
use serde::{Deserialize, Serialize};

use crate::command::{CommandOutcome, CommandRunner};
use crate::definition::{
    ActionCheck, ActionOutcome, Check, CommandAction, ExpectedAction, KeywordCheck, KeywordMode,
    ToolAction,
};
use crate::error::{FlowError, FlowErrorKind};
use crate::progress::{contains_word, find_words};

/// Decides whether a step passed.
///
/// A keyword check reads only the text parts of the response. An action check reads only the
/// outcomes of actions. A prompt check lets a model judge the whole response. A check without a
/// result is an error, never a pass.
///
/// ```
/// use autonoe_flow::check::{NoCommands, NoJudge, StepCheckContext, StepChecker};
/// use autonoe_flow::definition::Check;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let check: Check = serde_json::from_str(r#"{"type": "keyword", "keywords": ["APPROVED"]}"#)?;
/// let answer = StepCheckContext::new("APPROVED, with thanks.");
///
/// let checked = StepChecker::new(&NoJudge, &NoCommands).check(&check, &answer).await;
///
/// assert!(checked.result?.passed);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct StepChecker<'a> {
    judge: &'a dyn Judge,
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
    /// The question of a prompt check, with its filled prompt. The checker adds the
    /// [evidence](Self::evidence).
    pub question: Option<JudgeQuestion<'a>>,
}

impl<'a> StepCheckContext<'a> {
    /// Creates a context from the text parts of a response.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Sets the tool calls, in call order.
    #[must_use]
    pub fn with_actions(mut self, actions: &'a [ToolOutcome]) -> Self {
        self.actions = actions;
        self
    }

    /// Sets the question of a prompt check.
    #[must_use]
    pub fn with_question(mut self, question: JudgeQuestion<'a>) -> Self {
        self.question = Some(question);
        self
    }
}

/// The end of a check.
#[derive(Debug)]
pub struct StepChecked {
    /// The result. It is an error if the check has none: a command could not be run, or the model
    /// returned no verdict. The kind is [`FlowErrorKind::StepCheck`], or
    /// [`FlowErrorKind::DependencyResolution`] without a judge.
    pub result: Result<StepCheckResult, FlowError>,
    /// The session of the judge, if there was one.
    pub session: Option<SessionReport>,
}

impl From<Result<StepCheckResult, FlowError>> for StepChecked {
    fn from(result: Result<StepCheckResult, FlowError>) -> Self {
        Self {
            result,
            session: None,
        }
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
    fn passed(reason: impl Into<String>) -> Self {
        Self {
            passed: true,
            reason: Some(reason.into()),
        }
    }

    fn failed(reason: impl Into<String>) -> Self {
        Self {
            passed: false,
            reason: Some(reason.into()),
        }
    }
}

impl<'a> StepChecker<'a> {
    /// Creates a checker that uses `judge` for prompt checks and `commands` for command actions.
    pub fn new(judge: &'a dyn Judge, commands: &'a dyn CommandRunner) -> Self {
        Self { judge, commands }
    }

    /// Checks the response `answer` of a step.
    pub async fn check(&self, check: &Check, answer: &StepCheckContext<'_>) -> StepChecked {
        match check {
            Check::Keyword(check) => Ok(find_keyword(check, answer.text)).into(),
            Check::Action(check) => {
                let result = check_actions(check, answer.actions, self.commands);
                result.await.into()
            }
            Check::Prompt(_) => match self.judge(answer).await {
                Ok(judged) => judged.into(),
                Err(error) => Err(error).into(),
            },
        }
    }

    async fn judge(&self, answer: &StepCheckContext<'_>) -> Result<Judged, FlowError> {
        let question = answer.question.ok_or_else(|| {
            let message = "there is no question for the judge of the step";
            FlowError::new(FlowErrorKind::DependencyResolution, message)
        })?;
        let prompt = answer.judge_prompt(question.prompt);
        let question = JudgeQuestion {
            prompt: &prompt,
            ..question
        };
        let judged = self.judge.judge(&question).await;
        judged
            .map_err(|failure| FlowError::new(FlowErrorKind::DependencyResolution, failure.message))
    }
}

impl From<Judged> for StepChecked {
    fn from(judged: Judged) -> Self {
        let result = match judged.verdict {
            Some(verdict) => Ok(StepCheckResult {
                passed: verdict.passed,
                reason: Some(verdict.reason),
            }),
            None => Err(FlowError::new(
                FlowErrorKind::StepCheck,
                "the model that judges the step gave no verdict",
            )),
        };
        Self {
            result,
            session: Some(judged.session),
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

/// Compares the expected actions in order, and stops at the first mismatch.
async fn check_actions(
    check: &ActionCheck,
    performed: &[ToolOutcome],
    commands: &dyn CommandRunner,
) -> Result<StepCheckResult, FlowError> {
    if check.actions.is_empty() {
        return Ok(StepCheckResult::failed("no action is expected"));
    }
    for expected in &check.actions {
        let problem = match expected {
            ExpectedAction::Tool(expected) => tool_problem(expected, performed),
            ExpectedAction::Command(expected) => command_problem(expected, commands).await?,
        };
        if let Some(problem) = problem {
            return Ok(StepCheckResult::failed(problem));
        }
    }
    Ok(StepCheckResult::passed("every expected action happened"))
}

/// Returns how the calls of a tool differ from the expectation.
fn tool_problem(expected: &ToolAction, performed: &[ToolOutcome]) -> Option<String> {
    let tool = &expected.tool;
    let of_tool = |action: &&ToolOutcome| plain(&action.tool) == plain(tool);
    let expected_outcome = name(expected.outcome);
    let last = performed.iter().rfind(of_tool);
    let Some(last) = last else {
        return Some(format!("the tool `{tool}` was not called"));
    };
    if last.outcome != expected.outcome {
        let ended = name(last.outcome);
        return Some(format!(
            "the last call of the tool `{tool}` {ended}, but should have {expected_outcome}"
        ));
    }
    let all = performed.iter().filter(of_tool);
    let count = all
        .filter(|action| action.outcome == expected.outcome)
        .count();
    let times = expected.times;
    let is_enough = u32::try_from(count).map_or(true, |count| count >= times);
    (!is_enough).then(|| {
        format!(
            "only {count} of the calls of the tool `{tool}` {expected_outcome}; the check expects at least \
             {times}"
        )
    })
}

/// Returns the bare name of a tool. Some backends prefix the tools of Autonoe.
fn plain(tool: &str) -> &str {
    let own_tool = tool
        .strip_prefix("mcp__")
        .and_then(|rest| rest.strip_prefix(Toolbox::SERVER)?.strip_prefix("__"));
    own_tool.unwrap_or(tool)
}

fn name(outcome: ActionOutcome) -> &'static str {
    match outcome {
        ActionOutcome::Succeeded => "succeeded",
        ActionOutcome::Failed => "failed",
    }
}

/// Runs a command and returns how its end differs from the expectation.
///
/// Only an exit code is an answer. A command that was killed, by a timeout or by a signal, never
/// matches, even if the check expects it to fail.
async fn command_problem(
    expected: &CommandAction,
    commands: &dyn CommandRunner,
) -> Result<Option<String>, FlowError> {
    let program = expected.command.first().map_or("", String::as_str);
    let time = Duration::from_secs(expected.timeout_seconds);
    let end = commands.run(&expected.command, time).await;
    let end = end.map_err(|error| {
        let message = format!("the command `{program}` of the check could not be run");
        FlowError::new(FlowErrorKind::StepCheck, message).with_cause(error)
    })?;
    let is_expected = match (end, expected.outcome) {
        (CommandOutcome::Exited { code }, ActionOutcome::Succeeded) => code == 0,
        (CommandOutcome::Exited { code }, ActionOutcome::Failed) => code != 0,
        _ => false,
    };
    let expected_outcome = name(expected.outcome);
    Ok((!is_expected)
        .then(|| format!("the command `{program}` {end}, but should have {expected_outcome}")))
}

/// Rejects every request. For definitions without prompt checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoJudge;

#[async_trait]
impl Judge for NoJudge {
    async fn judge(&self, _: &JudgeQuestion<'_>) -> Result<Judged, Failure> {
        let message = "no model is configured to judge the step";
        Err(Failure::permanent("no_judge", message))
    }
}
