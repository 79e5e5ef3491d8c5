//! What is wrong with a definition: where it stands, what it is, how to mend it.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

/// What is wrong with a definition: where it stands, what it is, how to mend it.
///
/// ```
/// use autonoe_flow::{FindingKind, FlowAgent, FlowDefinition, StepsRegistry, validate};
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
pub struct Finding {
    /// What is wrong, for programs.
    pub kind: FindingKind,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, if the file was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in characters, from 1, if the file was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The JSON pointer to what is wrong; empty for the whole file.
    pub pointer: String,
    /// What is wrong, as a sentence without its end.
    pub message: String,
    /// How to mend it.
    pub hint: String,
}

impl Finding {
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

impl fmt::Display for Finding {
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
        /// The kinds of what can be wrong with a definition.
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
    /// A file or folder is not there.
    NotFound, "not_found";
    /// A file cannot be read, or is not a text.
    Unreadable, "unreadable";
    /// A path leads out of the folder of the flow.
    OutsideFolder, "outside_folder";
    /// A text is not JSON.
    Syntax, "syntax";
    /// A field stands twice, such as the id of a step.
    Duplicate, "duplicate";
    /// A field is not known, is missing, or holds something else than it must.
    Shape, "shape";
    /// A name is not what it must be.
    Name, "name";
    /// A step that is named is not there.
    UnknownStep, "unknown_step";
    /// No way leads to a step.
    UnreachableStep, "unreachable_step";
    /// Nothing says where a step leads.
    DeadEnd, "dead_end";
    /// There is a way into a cycle and none out of it.
    CycleWithoutExit, "cycle_without_exit";
    /// Gateways lead to each other in a circle, and no step between them changes the data.
    GatewayCycle, "gateway_cycle";
    /// A policy asks for a fallback that nothing names.
    MissingFallback, "missing_fallback";
    /// A step is its own fallback.
    SelfFallback, "self_fallback";
    /// Two places of a step say different things.
    Contradiction, "contradiction";
    /// What is said is never used.
    NeverUsed, "never_used";
    /// A gateway has no default.
    NoDefault, "no_default";
    /// A step has neither a prompt nor sub-steps.
    NothingToDo, "nothing_to_do";
    /// A sub-step is used as something else, or something else as a sub-step.
    SubStep, "sub_step";
    /// Sub-steps contain each other.
    SubStepCycle, "sub_step_cycle";
    /// An escalation leads nowhere.
    Escalation, "escalation";
    /// The address of a webhook cannot be used.
    WebhookUrl, "webhook_url";
    /// A check can never pass, or always does.
    Check, "check";
    /// A completion condition can never hold.
    ImpossibleCompletion, "impossible_completion";
    /// A completion condition is not fit to be asked.
    Completion, "completion";
    /// A prompt is not there.
    PromptNotFound, "prompt_not_found";
    /// A prompt is blank, or a variable in it is spelled wrong.
    PromptText, "prompt_text";
    /// A prompt is found only in its last place.
    PromptFallback, "prompt_fallback";
    /// A prompt names a variable that nothing sets.
    UndefinedVariable, "undefined_variable";
    /// A prompt names a variable that may not be set.
    UnsetVariable, "unset_variable";
    /// A place in the data that nothing fills.
    UnknownData, "unknown_data";
    /// The definition of a parameter contradicts itself.
    Parameter, "parameter";
    /// A limit lets nothing happen.
    Limit, "limit";
    /// A tool cannot be allowed as it is named.
    Tool, "tool";
}
