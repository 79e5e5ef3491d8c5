//! [`ModelScript`]: the answers of a scripted model, and their state while they are played.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::{Ending, ReceivedPrompt, RequestLog, ServerAnswer, Turn};

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
///     .then_fn(|request| {
///         let results = request.tool_results();
///         match results.last() {
///             Some(tests) if !tests.is_error => Turn::text("All tests pass."),
///             _ => Turn::tool("Bash", json!({"command": "cargo test -- --nocapture"})),
///         }
///     })
///     .then(Turn::text("Done."));
///
/// // A function answers every request.
/// let echo = ModelScript::from_fn(|request| Turn::text(request.user_texts().concat()));
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
    pub fn from_fn(answer: impl Fn(&ReceivedPrompt) -> Turn + Send + Sync + 'static) -> Self {
        Self::new::<Turn>([]).rest_fn(answer)
    }

    /// Then answers one request with this turn.
    #[must_use]
    pub fn then(mut self, turn: impl Into<Turn>) -> Self {
        self.steps.push_back(Step::Turn(Box::new(turn.into())));
        self
    }

    /// Then answers one request with the result of `answer`.
    #[must_use]
    pub fn then_fn(
        mut self,
        answer: impl Fn(&ReceivedPrompt) -> Turn + Send + Sync + 'static,
    ) -> Self {
        self.steps.push_back(Step::By(Arc::new(answer)));
        self
    }

    /// Answers all requests after the last turn with the result of `answer`.
    #[must_use]
    pub fn rest_fn(
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

/// The state of a script while it is played.
#[derive(Debug)]
pub(super) struct ScriptState {
    /// The answer to all requests after the last turn.
    rest: Option<Step>,
    side: Turn,
    main: MainRequests,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
struct Progress {
    steps: VecDeque<Step>,
    played: usize,
}

/// The answer to a request.
#[derive(Debug)]
pub(super) enum NextAnswer {
    /// This turn, as an answer of this kind.
    Turn(ServerAnswer, Box<Turn>),
    /// No answer, for this reason.
    Nothing(String),
}

impl ScriptState {
    pub(super) fn new(script: ModelScript) -> Self {
        Self {
            rest: script.rest.map(Step::By),
            side: script.side,
            main: script.main,
            progress: Mutex::new(Progress {
                steps: script.steps,
                played: 0,
            }),
        }
    }

    /// Takes the answer to `request`.
    pub(super) fn next_answer(&self, request: &ReceivedPrompt) -> NextAnswer {
        if !self.main.include(request) {
            return NextAnswer::Turn(ServerAnswer::Side, Box::new(self.side.clone()));
        }
        let Some((number, step)) = self.next() else {
            let played = self.progress().played;
            return NextAnswer::Nothing(format!("the script ends after {played} turns"));
        };
        let turn = match step {
            Step::Turn(turn) => Ok(turn),
            Step::By(answer) => call(&answer, request).map(Box::new),
        };
        match turn {
            Ok(turn) => NextAnswer::Turn(ServerAnswer::Turn(number), turn),
            Err(panic) => {
                NextAnswer::Nothing(format!("the function of turn {number} panicked: {panic}"))
            }
        }
    }

    /// Returns the number of turns that were never requested, and the total number of turns.
    pub(super) fn unused_turns(&self) -> (usize, usize) {
        let progress = self.progress();
        let left = progress.steps.len();
        (left, progress.played + left)
    }

    fn next(&self) -> Option<(usize, Step)> {
        let mut progress = self.progress();
        let step = progress.steps.pop_front().or_else(|| self.rest.clone())?;
        progress.played += 1;
        Some((progress.played, step))
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls a function of the script; a panic becomes an error with its message.
fn call(answer: &Responder, request: &ReceivedPrompt) -> Result<Turn, String> {
    catch_unwind(AssertUnwindSafe(|| answer(request))).map_err(|panic| panic_message(&*panic))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("something other than text").to_owned()
}

/// An exchange in progress. On drop it is recorded as ended, because the client left or the server
/// was stopped.
pub(super) struct OpenExchange {
    log: Arc<dyn EndLog>,
    number: usize,
    stopped: CancellationToken,
}

/// A log for the ends of exchanges, independent of the type of requests.
trait EndLog: Send + Sync {
    fn ended(&self, number: usize, ending: Ending);
}

impl<R: Send + Sync> EndLog for RequestLog<R> {
    fn ended(&self, number: usize, ending: Ending) {
        Self::ended(self, number, ending);
    }
}

impl OpenExchange {
    pub(super) fn new<R: Send + Sync + 'static>(
        log: &RequestLog<R>,
        number: usize,
        stopped: &CancellationToken,
    ) -> Self {
        Self {
            log: Arc::new(log.clone()),
            number,
            stopped: stopped.clone(),
        }
    }

    /// Records how the exchange ended. Only the first call counts.
    pub(super) fn ended(&self, ending: Ending) {
        self.log.ended(self.number, ending);
    }
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        self.ended(if self.stopped.is_cancelled() {
            Ending::Stopped
        } else {
            Ending::PeerLeft
        });
    }
}

impl std::fmt::Debug for OpenExchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenExchange").field(&self.number).finish()
    }
}
