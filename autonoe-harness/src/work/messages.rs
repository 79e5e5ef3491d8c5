//! What persons ask of a task loop.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use autonoe_core::{RunControl, RunMessage, RunRequest};

use super::ToldMessage;

/// What persons asked for and has not come to pass.
#[derive(Debug)]
pub(super) struct Messages {
    control: RunControl,
    is_paused: bool,
    /// What no agent has been told.
    waiting: Vec<RunMessage>,
    /// The ids of what agents were told, also before this process.
    told: BTreeSet<String>,
}

/// A message that an execution was given.
#[derive(Debug)]
pub(super) struct Given {
    message: RunMessage,
    /// Whether an agent was told.
    is_told: Arc<AtomicBool>,
}

/// Whether the work was stopped meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Held {
    GoOn,
    Stop,
}

impl Messages {
    /// Takes requests from `control`. What has one of the ids in `told` was told before.
    pub(super) fn new(control: &RunControl, told: BTreeSet<String>) -> Self {
        Self {
            control: control.clone(),
            is_paused: false,
            waiting: Vec::new(),
            told,
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.control.is_cancelled()
    }

    /// Returns what no agent has been told, and leaves it to whoever is next under the control.
    pub(super) fn untold(mut self) -> Vec<String> {
        self.catch_up();
        let texts = self.waiting.iter().map(|message| message.text().to_owned());
        let texts = texts.collect();
        for message in self.waiting.into_iter().rev() {
            self.control.put_back(RunRequest::Say(message));
        }
        texts
    }

    /// Waits as long as the work is paused.
    pub(super) async fn hold(&mut self) -> Held {
        self.catch_up();
        while self.is_paused && !self.is_cancelled() {
            self.next().await;
        }
        self.held()
    }

    /// Waits until a person says something, or lets the work go on.
    pub(super) async fn ask(&mut self) -> Held {
        self.catch_up();
        let mut goes_on = !self.waiting.is_empty();
        while !goes_on && !self.is_cancelled() {
            self.next().await;
            goes_on = !self.waiting.is_empty() || !self.is_paused;
        }
        self.hold().await
    }

    /// Waits for `time`; pauses and messages are kept for later.
    pub(super) async fn wait(&mut self, time: impl Future<Output = ()>) -> Held {
        let control = self.control.clone();
        tokio::select! {
            biased;
            () = control.cancelled() => {}
            () = time => {}
        }
        self.held()
    }

    /// Accompanies an execution under `child`: what persons say goes there, and its end is waited
    /// for also when the work is stopped. Returns what was said, to be settled.
    pub(super) async fn accompany<T>(
        &mut self,
        child: &RunControl,
        execution: impl Future<Output = T>,
    ) -> (T, Vec<Given>) {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let mut given: Vec<Given> = waiting.map(|message| give(message, child)).collect();
        let control = self.control.clone();
        let mut execution = pin!(execution);
        loop {
            tokio::select! {
                biased;
                result = &mut execution => return (result, given),
                () = control.cancelled(), if !child.is_cancelled() => child.cancel(),
                request = control.next_request() => {
                    self.take(request);
                    given.extend(self.waiting.drain(..).map(|message| give(message, child)));
                }
            }
        }
    }

    /// Tells what agents were told of what they were given, and keeps the rest for the next.
    pub(super) fn sort(&mut self, given: Vec<Given>) -> Vec<RunMessage> {
        let is_told = |given: &Given| given.is_told.load(Ordering::SeqCst);
        let (told, left): (Vec<_>, Vec<_>) = given.into_iter().partition(is_told);
        let mut left: Vec<_> = left.into_iter().map(|given| given.message).collect();
        left.append(&mut self.waiting);
        self.waiting = left;
        told.into_iter().map(|given| given.message).collect()
    }

    /// Settles what agents were told, once that is written down.
    pub(super) fn settle(&mut self, told: Vec<RunMessage>) {
        for message in told {
            self.told.extend(message.id().map(str::to_owned));
            message.settle();
        }
    }

    fn held(&self) -> Held {
        match self.is_cancelled() {
            true => Held::Stop,
            false => Held::GoOn,
        }
    }

    fn catch_up(&mut self) {
        while let Some(request) = self.control.waiting_request() {
            self.take(request);
        }
    }

    async fn next(&mut self) {
        let control = self.control.clone();
        tokio::select! {
            biased;
            () = control.cancelled() => {}
            request = control.next_request() => self.take(request),
        }
    }

    fn take(&mut self, request: RunRequest) {
        match request {
            RunRequest::Pause => self.is_paused = true,
            RunRequest::Resume => self.is_paused = false,
            // It was told and written down, and a kill came before it could be settled.
            RunRequest::Say(message) if self.was_told(&message) => message.settle(),
            RunRequest::Say(message) => self.waiting.push(message),
        }
    }

    fn was_told(&self, message: &RunMessage) -> bool {
        message.id().is_some_and(|id| self.told.contains(id))
    }
}

/// Gives a copy to an execution: the message itself is settled when that is written down.
fn give(message: RunMessage, child: &RunControl) -> Given {
    let is_told = Arc::new(AtomicBool::new(false));
    let receipt = is_told.clone();
    let copy = RunMessage::new(message.text());
    child.tell(copy.with_receipt(move || receipt.store(true, Ordering::SeqCst)));
    Given { message, is_told }
}

impl From<&RunMessage> for ToldMessage {
    fn from(message: &RunMessage) -> Self {
        Self {
            id: message.id().map(str::to_owned),
            text: message.text().to_owned(),
        }
    }
}
