//! [`FlowError`] and its kinds.

use autonoe_core::event::InvalidValue;
use autonoe_core::run::ExitClass;
use serde::{Deserialize, Serialize};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error of a flow, with its layer, its recoverability and its cause.
///
/// ```
/// use autonoe_flow::FlowLayer;
/// use autonoe_flow::{FlowError, FlowErrorKind};
///
/// let error = FlowError::new(FlowErrorKind::StepLoopLimit, "the step `draft` was visited 11 times")
///     .at_iteration(11);
///
/// assert_eq!(error.code(), "step_loop_limit");
/// assert_eq!(error.layer(), FlowLayer::Loop);
/// assert!(!error.is_recoverable());
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct FlowError {
    kind: FlowErrorKind,
    message: String,
    iteration: Option<u64>,
    source: Option<BoxError>,
}

impl FlowError {
    /// Creates an error; `message` is a lower-case sentence that names the subject.
    pub fn new(kind: FlowErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            iteration: None,
            source: None,
        }
    }

    /// Adds the iteration in which the error occurred, counted from 1.
    #[must_use]
    pub fn at_iteration(mut self, iteration: u64) -> Self {
        self.iteration = Some(iteration);
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_cause(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> FlowErrorKind {
        self.kind
    }

    /// Returns a stable name for programs, for example `prompt_not_found`.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns the layer in which the error occurred.
    pub fn layer(&self) -> FlowLayer {
        self.kind.layer()
    }

    /// Returns whether a retry or another path may help. If not, the flow ends at once.
    pub fn is_recoverable(&self) -> bool {
        self.kind.is_recoverable()
    }

    /// Returns the iteration in which the error occurred, counted from 1.
    pub fn iteration(&self) -> Option<u64> {
        self.iteration
    }
}

impl From<InvalidValue> for FlowError {
    fn from(error: InvalidValue) -> Self {
        Self::new(FlowErrorKind::ConfigurationValidation, error.to_string())
    }
}

/// The layers of a flow, from its files to its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowLayer {
    /// The definition files.
    Configuration,
    /// Start and stop.
    Lifecycle,
    /// Iterations and transitions between steps.
    Loop,
    /// The agent that executes the flow.
    SdkBridge,
    /// Completion conditions.
    Completion,
    /// Checks of steps.
    StepCheck,
    /// Prompts.
    Prompt,
}

impl FlowLayer {
    /// All layers.
    pub const ALL: [Self; 7] = [
        Self::Configuration,
        Self::Lifecycle,
        Self::Loop,
        Self::SdkBridge,
        Self::Completion,
        Self::StepCheck,
        Self::Prompt,
    ];

    /// Returns a stable name for programs, for example `stepCheck`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Lifecycle => "lifecycle",
            Self::Loop => "loop",
            Self::SdkBridge => "sdkBridge",
            Self::Completion => "completion",
            Self::StepCheck => "stepCheck",
            Self::Prompt => "prompt",
        }
    }
}

/// Defines the kinds in one table: variant, code, layer, recoverability, class of the exit.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $code:literal, $layer:ident, $recoverable:literal,
        $class:ident;)+) => {
        /// Kinds of errors of a flow. In JSON, a kind is its code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum FlowErrorKind {
            $($(#[$doc])* #[serde(rename = $code)] $kind,)+
        }

        impl FlowErrorKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// Returns a stable name for programs.
            pub fn code(self) -> &'static str {
                match self { $(Self::$kind => $code,)+ }
            }

            /// Returns the layer in which the error occurs.
            pub fn layer(self) -> FlowLayer {
                match self { $(Self::$kind => FlowLayer::$layer,)+ }
            }

            /// Returns whether a retry or another path may help.
            pub fn is_recoverable(self) -> bool {
                match self { $(Self::$kind => $recoverable,)+ }
            }

            /// Returns the class of a flow that ends with the error, for exit codes and the like.
            pub fn class(self) -> ExitClass {
                match self { $(Self::$kind => ExitClass::$class,)+ }
            }
        }
    };
}

kinds! {
    /// A file of the definition does not exist.
    ConfigurationNotFound, "configuration_not_found", Configuration, false, Failed;
    /// A file of the definition cannot be read or parsed.
    ConfigurationParse, "configuration_parse", Configuration, false, Failed;
    /// Validation rejected the definition before the start.
    ConfigurationValidation, "configuration_validation", Configuration, false, Failed;
    /// A parameter is missing or invalid.
    Parameter, "parameter", Configuration, false, Failed;
    /// A dependency of the definition does not exist.
    DependencyResolution, "dependency_resolution", Configuration, false, Failed;
    /// An operator stopped the flow.
    Interrupted, "interrupted", Lifecycle, false, Interrupted;
    /// A step exceeded its limit of visits.
    StepLoopLimit, "step_loop_limit", Loop, false, Failed;
    /// The flow reached a step that does not exist.
    UnknownStep, "unknown_step", Loop, false, Failed;
    /// A step failed, and its definition names no further action.
    StepFailed, "step_failed", Loop, false, Failed;
    /// The steps reached their end while the flow was not complete.
    EndedIncomplete, "ended_incomplete", Loop, false, Failed;
    /// An escalation ended the flow.
    Escalated, "escalated", Loop, false, Failed;
    /// A notification could not be delivered.
    Notification, "notification", Loop, true, Failed;
    /// The budget is exhausted.
    BudgetExceeded, "budget_exceeded", Loop, false, Budget;
    /// A fact could not be recorded.
    Record, "record", Loop, false, Failed;
    /// The agent could not be reached.
    SdkConnection, "sdk_connection", SdkBridge, true, Failed;
    /// The service of the agent reported a rate limit.
    SdkRateLimit, "sdk_rate_limit", SdkBridge, true, Quota;
    /// The agent failed or returned no answer.
    SdkSession, "sdk_session", SdkBridge, true, Failed;
    /// The agent rejects its setup: credentials, an unknown model.
    SdkRefused, "sdk_refused", SdkBridge, false, Failed;
    /// The completion condition could not be checked.
    CompletionCheck, "completion_check", Completion, true, Failed;
    /// A condition can never hold.
    CompletionImpossible, "completion_impossible", Completion, false, Failed;
    /// The check of a step could not be performed.
    StepCheck, "step_check", StepCheck, true, Failed;
    /// The prompt does not exist.
    PromptNotFound, "prompt_not_found", Prompt, false, Failed;
    /// A prompt cannot be read, or its variables are malformed.
    PromptParse, "prompt_parse", Prompt, false, Failed;
    /// A prompt has an undefined variable, and the flow is strict about variables.
    UndefinedVariable, "undefined_variable", Prompt, false, Failed;
}
