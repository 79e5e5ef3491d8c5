//! State of a script while it is played.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::script::{MainRequests, ModelScript, Responder, Step};
use super::{Ending, ReceivedPrompt, RequestLog, ServerAnswer, Turn};

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
    taken: usize,
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
                taken: 0,
            }),
        }
    }

    /// Takes the answer to `request`.
    pub(super) fn next_answer(&self, request: &ReceivedPrompt) -> NextAnswer {
        if !self.main.include(request) {
            return NextAnswer::Turn(ServerAnswer::Side, Box::new(self.side.clone()));
        }
        let Some((number, step)) = self.next() else {
            let taken = self.progress().taken;
            return NextAnswer::Nothing(format!("the script ends after {taken} turns"));
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
        (left, progress.taken + left)
    }

    fn next(&self) -> Option<(usize, Step)> {
        let mut progress = self.progress();
        let step = progress.steps.pop_front().or_else(|| self.rest.clone())?;
        progress.taken += 1;
        Some((progress.taken, step))
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
