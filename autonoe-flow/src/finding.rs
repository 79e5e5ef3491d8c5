//! [`DefinitionFinding`]: a problem of a definition, with its location and a hint.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

/// A problem of a definition: its location, a description and a hint.
///
/// ```
/// use autonoe_flow::definition::{FlowAgent, StepsRegistry};
/// use autonoe_flow::validate::FindingKind;
/// use autonoe_flow::{FlowDefinition, validate};
///
/// let agent: FlowAgent = serde_json::from_str(
///     r#"{"version": "1", "name": "review", "behavior": {"completionType": "stepMachine"}}"#,
/// )?;
/// let registry: StepsRegistry = serde_json::from_str(
///     r#"{"entryStep": "draft", "steps": {
///         "draft": {"prompt": "prompts/draft.md", "transition": {"next": "reveiw"}},
///         "review": {"prompt": "prompts/draft.md", "transition": {"next": "end"}}
///     }}"#,
/// )?;
/// let definition = FlowDefinition::new(agent, registry).with_prompt("prompts/draft.md", "Write.");
///
/// let report = validate(&definition);
///
/// assert_eq!(report.errors[0].kind, FindingKind::UnknownStep);
/// assert_eq!(
///     report.errors[0].to_string(),
///     "steps_registry.json: /steps/draft/transition/next: there is no step `reveiw`; did you mean `review`?"
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DefinitionFinding {
    /// The kind of the problem, for programs.
    pub kind: FindingKind,
    /// The file.
    pub file: PathBuf,
    /// The line, starting at 1, if the file was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in characters, starting at 1, if the file was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The JSON pointer to the problem; empty for the whole file.
    pub pointer: String,
    /// A description of the problem, without a final period.
    pub message: String,
    /// Advice that fixes it.
    pub hint: String,
}

impl DefinitionFinding {
    pub(crate) fn new(
        kind: FindingKind,
        file: impl Into<PathBuf>,
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            file: file.into(),
            line: None,
            column: None,
            pointer: pointer.into(),
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub(crate) fn at(mut self, position: Option<(usize, usize)>) -> Self {
        self.line = position.map(|(line, _)| line);
        self.column = position.map(|(_, column)| column);
        self
    }
}

impl fmt::Display for DefinitionFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        if !self.pointer.is_empty() {
            write!(f, ": {}", self.pointer)?;
        }
        write!(f, ": {}", self.message)?;
        match self.hint.as_str() {
            "" => Ok(()),
            hint => write!(f, "; {hint}"),
        }
    }
}

/// Defines the kinds in one table: variant and code.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $code:literal;)+) => {
        /// The kinds of problems of a definition.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* #[serde(rename = $code)] $kind,)+
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// Returns a stable name for programs, for example `unknown_step`.
            pub fn code(self) -> &'static str {
                match self { $(Self::$kind => $code,)+ }
            }
        }
    };
}

kinds! {
    /// A file or folder does not exist.
    NotFound, "not_found";
    /// A file cannot be read, or is not a text.
    Unreadable, "unreadable";
    /// A path is outside the folder of the flow.
    OutsideFolder, "outside_folder";
    /// A text is not JSON.
    Syntax, "syntax";
    /// A field or an id exists twice.
    Duplicate, "duplicate";
    /// A field is unknown, is missing, or has an invalid value.
    Shape, "shape";
    /// A name is invalid.
    Name, "name";
    /// A step does not exist.
    UnknownStep, "unknown_step";
    /// A step is unreachable.
    UnreachableStep, "unreachable_step";
    /// A step has no next step.
    DeadEnd, "dead_end";
    /// A cycle of steps has no exit.
    CycleWithoutExit, "cycle_without_exit";
    /// Gateways form a cycle, and no step between them changes the data.
    GatewayCycle, "gateway_cycle";
    /// A policy needs a fallback, but none is set.
    MissingFallback, "missing_fallback";
    /// A step is its own fallback.
    SelfFallback, "self_fallback";
    /// Two fields of a step contradict each other.
    Contradiction, "contradiction";
    /// A field has no effect.
    NeverUsed, "never_used";
    /// A gateway has no default.
    NoDefault, "no_default";
    /// A step has neither a prompt nor sub-steps.
    NothingToDo, "nothing_to_do";
    /// A sub-step is used as another type, or another type as a sub-step.
    SubStep, "sub_step";
    /// Sub-steps contain each other.
    SubStepCycle, "sub_step_cycle";
    /// An escalation has no valid receiver.
    Escalation, "escalation";
    /// The address of a webhook is invalid.
    WebhookUrl, "webhook_url";
    /// A check can never fail, or never pass.
    Check, "check";
    /// A completion condition can never hold.
    ImpossibleCompletion, "impossible_completion";
    /// A completion condition is invalid.
    Completion, "completion";
    /// A prompt does not exist.
    PromptNotFound, "prompt_not_found";
    /// A prompt is blank, or contains a malformed variable.
    PromptText, "prompt_text";
    /// A prompt does not exist, and a fallback is used.
    PromptFallback, "prompt_fallback";
    /// A prompt uses a variable that nothing sets.
    UndefinedVariable, "undefined_variable";
    /// A prompt uses a variable that may have no value.
    UnsetVariable, "unset_variable";
    /// A path in the data that nothing sets.
    UnknownData, "unknown_data";
    /// The definition of a parameter contradicts itself.
    Parameter, "parameter";
    /// A limit is 0, or the flow has too many paths to check.
    Limit, "limit";
    /// A tool or a permission rule is invalid.
    Tool, "tool";
}
