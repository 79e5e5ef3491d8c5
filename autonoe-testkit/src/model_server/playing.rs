//! A script while it is played.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::script::{MainRequests, Responder, Script, Step};
use super::{Answer, Ending, Prompt, RequestLog, Turn};

/// A script while it is played.
#[derive(Debug)]
pub(super) struct Playing {
    /// What comes after the last turn, again and again.
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

/// What a request gets.
#[derive(Debug)]
pub(super) enum Taken {
    /// This turn, as an answer of this kind.
    Turn(Answer, Box<Turn>),
    /// Nothing, for this reason.
    Nothing(String),
}

impl Playing {
    pub(super) fn new(script: Script) -> Self {
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

    /// Takes what answers `request`.
    pub(super) fn take(&self, request: &Prompt) -> Taken {
        if !self.main.include(request) {
            return Taken::Turn(Answer::Side, Box::new(self.side.clone()));
        }
        let Some((number, step)) = self.next() else {
            let taken = self.progress().taken;
            return Taken::Nothing(format!("the script ends after {taken} turns"));
        };
        let turn = match step {
            Step::Turn(turn) => Ok(turn),
            Step::By(answer) => call(&answer, request).map(Box::new),
        };
        match turn {
            Ok(turn) => Taken::Turn(Answer::Turn(number), turn),
            Err(said) => Taken::Nothing(format!("the function of turn {number} panicked: {said}")),
        }
    }

    /// Returns how many turns nobody has asked for, and how many there were.
    pub(super) fn left_over(&self) -> (usize, usize) {
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

/// Calls a function of the script; a panic is what it said.
fn call(answer: &Responder, request: &Prompt) -> Result<Turn, String> {
    catch_unwind(AssertUnwindSafe(|| answer(request))).map_err(|panic| said(&*panic))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("something other than text").to_owned()
}

/// An exchange under way. Dropped, it has ended because the client left or because the
/// server was stopped.
pub(super) struct OpenExchange {
    log: Arc<dyn EndLog>,
    number: usize,
    stopped: CancellationToken,
}

/// Where ends are written down, whatever the requests are.
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

    /// Says how it ended. Only the first word counts.
    pub(super) fn ended(&self, ending: Ending) {
        self.log.ended(self.number, ending);
    }
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        self.ended(match self.stopped.is_cancelled() {
            true => Ending::Stopped,
            false => Ending::PeerLeft,
        });
    }
}

impl std::fmt::Debug for OpenExchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenExchange").field(&self.number).finish()
    }
}
