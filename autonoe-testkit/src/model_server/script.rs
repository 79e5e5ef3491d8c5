//! [`ModelScript`]: the answers of a scripted model.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::{ReceivedPrompt, Turn};

/// Chooses an answer by the prompt.
pub(super) type Responder = Arc<dyn Fn(&ReceivedPrompt) -> Turn + Send + Sync>;

/// The answers of a scripted model, request by request.
///
/// Each *main* request takes the next turn; a retry after a fault takes another. Side requests of a
/// program, such as the one for a title of the conversation, take none. Functions run on the thread
/// of the server and must not wait for it.
///
/// ```
/// use autonoe_testkit::model_server::{ModelScript, Turn};
/// use serde_json::json;
///
/// // One turn after the other; then a function answers by the request.
/// let script = ModelScript::new([Turn::tool("Bash", json!({"command": "cargo test"}))])
///     .then_by(|request| {
///         let results = request.tool_results();
///         match results.last() {
///             Some(tests) if !tests.is_error => Turn::text("All tests pass."),
///             _ => Turn::tool("Bash", json!({"command": "cargo test -- --nocapture"})),
///         }
///     })
///     .then(Turn::text("Done."));
///
/// // A function answers every request.
/// let echo = ModelScript::by(|request| Turn::text(request.user_texts().concat()));
/// ```
#[derive(Clone)]
pub struct ModelScript {
    pub(super) steps: VecDeque<Step>,
    pub(super) rest: Option<Responder>,
    pub(super) side: Turn,
    pub(super) main: MainRequests,
}

/// An answer, or a function that chooses it.
#[derive(Clone)]
pub(super) enum Step {
    Turn(Box<Turn>),
    By(Responder),
}

/// The requests that take turns of the script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MainRequests {
    /// Requests that offer tools to the model. Programs request titles and the like without tools.
    #[default]
    WithTools,
    /// All requests, for programs that are configured to offer no tools.
    All,
}

impl ModelScript {
    /// Answers with these turns, one after the other.
    pub fn new<T: Into<Turn>>(turns: impl IntoIterator<Item = T>) -> Self {
        let script = Self {
            steps: VecDeque::new(),
            rest: None,
            side: Turn::text("ok"),
            main: MainRequests::default(),
        };
        turns.into_iter().fold(script, Self::then)
    }

    /// Answers every request with the result of `answer`.
    pub fn by(answer: impl Fn(&ReceivedPrompt) -> Turn + Send + Sync + 'static) -> Self {
        Self::new::<Turn>([]).rest_by(answer)
    }

    /// Then answers one request with this turn.
    #[must_use]
    pub fn then(mut self, turn: impl Into<Turn>) -> Self {
        self.steps.push_back(Step::Turn(Box::new(turn.into())));
        self
    }

    /// Then answers one request with the result of `answer`.
    #[must_use]
    pub fn then_by(
        mut self,
        answer: impl Fn(&ReceivedPrompt) -> Turn + Send + Sync + 'static,
    ) -> Self {
        self.steps.push_back(Step::By(Arc::new(answer)));
        self
    }

    /// Answers all requests after the last turn with the result of `answer`.
    #[must_use]
    pub fn rest_by(
        mut self,
        answer: impl Fn(&ReceivedPrompt) -> Turn + Send + Sync + 'static,
    ) -> Self {
        self.rest = Some(Arc::new(answer));
        self
    }

    /// Answers side requests with this turn; by default with a text.
    #[must_use]
    pub fn with_side_answer(mut self, turn: impl Into<Turn>) -> Self {
        self.side = turn.into();
        self
    }

    /// Sets which requests take turns.
    #[must_use]
    pub fn with_main_requests(mut self, main: MainRequests) -> Self {
        self.main = main;
        self
    }
}

impl MainRequests {
    /// Returns whether `request` takes a turn.
    pub(super) fn include(self, request: &ReceivedPrompt) -> bool {
        match self {
            Self::WithTools => !request.tools.is_empty(),
            Self::All => true,
        }
    }
}

impl<T: Into<Turn>, const N: usize> From<[T; N]> for ModelScript {
    fn from(turns: [T; N]) -> Self {
        Self::new(turns)
    }
}

impl<T: Into<Turn>> From<Vec<T>> for ModelScript {
    fn from(turns: Vec<T>) -> Self {
        Self::new(turns)
    }
}

impl fmt::Debug for ModelScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelScript")
            .field("steps", &self.steps)
            .field("main", &self.main)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(turn) => turn.fmt(f),
            Self::By(_) => f.write_str("<function>"),
        }
    }
}
