//! What can go wrong with a flow.

use std::fmt;

use autonoe_core::InvalidValue;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong with a flow: where, whether a new try may help, and why.
///
/// ```
/// use autonoe_flow::{FlowError, FlowErrorKind, FlowLayer};
///
/// let error = FlowError::new(FlowErrorKind::StepLoopLimit, "the step `draft` was visited 11 times")
///     .at_iteration(11);
///
/// assert_eq!(error.code(), "step_loop_limit");
/// assert_eq!(error.layer(), FlowLayer::Loop);
/// assert!(!error.is_recoverable());
/// ```
#[derive(Debug)]
pub struct FlowError(Box<Details>);

#[derive(Debug)]
struct Details {
    kind: FlowErrorKind,
    message: String,
    iteration: Option<u64>,
    source: Option<BoxError>,
}

impl FlowError {
    /// Makes an error; `message` is a sentence, lower case, that names the thing.
    pub fn new(kind: FlowErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            kind,
            message: message.into(),
            iteration: None,
            source: None,
        }))
    }

    /// Adds the iteration in which it happened, from 1.
    #[must_use]
    pub fn at_iteration(mut self, iteration: u64) -> Self {
        self.0.iteration = Some(iteration);
        self
    }

    /// Adds what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns what kind of error it is.
    pub fn kind(&self) -> FlowErrorKind {
        self.0.kind
    }

    /// Returns a stable name for programs, for example `prompt_not_found`.
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Returns the layer in which it happened.
    pub fn layer(&self) -> FlowLayer {
        self.0.kind.layer()
    }

    /// Tells whether a new try or another way may help; if not, a flow ends at once.
    pub fn is_recoverable(&self) -> bool {
        self.0.kind.is_recoverable()
    }

    /// Returns the iteration in which it happened, from 1.
    pub fn iteration(&self) -> Option<u64> {
        self.0.iteration
    }
}

impl From<InvalidValue> for FlowError {
    fn from(error: InvalidValue) -> Self {
        Self::new(FlowErrorKind::ConfigurationValidation, error.to_string())
    }
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for FlowError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

/// The layers of a flow, from its files to its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowLayer {
    /// Its files.
    Configuration,
    /// Its start and its stop.
    Lifecycle,
    /// Its iterations and the way from step to step.
    Loop,
    /// The agent behind it.
    SdkBridge,
    /// When it is complete.
    Completion,
    /// The checks of its steps.
    StepCheck,
    /// Its prompts.
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

/// Defines the kinds in one table: variant, code, layer, whether a new try may help.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $code:literal, $layer:ident, $recoverable:literal;)+) => {
        /// The kinds of what can go wrong with a flow.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FlowErrorKind {
            $($(#[$doc])* $kind,)+
        }

        impl FlowErrorKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// Returns a stable name for programs.
            pub fn code(self) -> &'static str {
                match self { $(Self::$kind => $code,)+ }
            }

            /// Returns the layer in which it happens.
            pub fn layer(self) -> FlowLayer {
                match self { $(Self::$kind => FlowLayer::$layer,)+ }
            }

            /// Tells whether a new try or another way may help.
            pub fn is_recoverable(self) -> bool {
                match self { $(Self::$kind => $recoverable,)+ }
            }
        }
    };
}

kinds! {
    /// A file of the definition is not there.
    ConfigurationNotFound, "configuration_not_found", Configuration, false;
    /// A file of the definition cannot be read, or does not say what it must.
    ConfigurationParse, "configuration_parse", Configuration, false;
    /// The definition was found to be wrong before the start.
    ConfigurationValidation, "configuration_validation", Configuration, false;
    /// A parameter is missing or wrong.
    Parameter, "parameter", Configuration, false;
    /// Something that the definition names is not there.
    DependencyResolution, "dependency_resolution", Configuration, false;
    /// A person stopped the flow.
    Interrupted, "interrupted", Lifecycle, false;
    /// A step was visited too often.
    StepLoopLimit, "step_loop_limit", Loop, false;
    /// The flow came to a step that is not there.
    UnknownStep, "unknown_step", Loop, false;
    /// A step failed, and nothing says what to do then.
    StepFailed, "step_failed", Loop, false;
    /// The steps came to their end, and the flow is not complete.
    EndedIncomplete, "ended_incomplete", Loop, false;
    /// An escalation ended the flow.
    Escalated, "escalated", Loop, false;
    /// A notification could not be delivered.
    Notification, "notification", Loop, true;
    /// What may be spent is spent.
    BudgetExceeded, "budget_exceeded", Loop, false;
    /// What was done could not be recorded.
    Record, "record", Loop, false;
    /// The agent could not be reached.
    SdkConnection, "sdk_connection", SdkBridge, true;
    /// The service behind the agent asks to wait.
    SdkRateLimit, "sdk_rate_limit", SdkBridge, true;
    /// The agent failed, or gave no answer.
    SdkSession, "sdk_session", SdkBridge, true;
    /// The agent cannot be used as it is set up: credentials, an unknown model.
    SdkRefused, "sdk_refused", SdkBridge, false;
    /// It could not be found out whether the flow is complete.
    CompletionCheck, "completion_check", Completion, true;
    /// A condition can never hold.
    CompletionImpossible, "completion_impossible", Completion, false;
    /// It could not be found out whether a step passed.
    StepCheck, "step_check", StepCheck, true;
    /// There is no such prompt.
    PromptNotFound, "prompt_not_found", Prompt, false;
    /// A prompt cannot be read, or its variables are spelled wrong.
    PromptParse, "prompt_parse", Prompt, false;
    /// Nothing sets a variable of a prompt, and the flow is strict about that.
    UndefinedVariable, "undefined_variable", Prompt, false;
}
