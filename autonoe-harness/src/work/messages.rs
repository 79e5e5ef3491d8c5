//! Pause, stop and message requests to a task loop.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use autonoe_core::RunControl;
use autonoe_core::run::{RunMessage, RunRequest};

use super::DeliveredMessage;

/// Pending requests to a task loop.
#[derive(Debug)]
pub(super) struct RequestQueue {
    control: RunControl,
    is_paused: bool,
    /// Messages that no agent has received.
    waiting: Vec<RunMessage>,
    /// The IDs of delivered messages, including those of earlier processes.
    delivered: BTreeSet<String>,
}

/// A message that was passed to an execution.
#[derive(Debug)]
pub(super) struct ForwardedMessage {
    message: RunMessage,
    /// Whether an agent has received it.
    is_delivered: Arc<AtomicBool>,
}

/// Whether the work was stopped in the meantime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum WaitOutcome {
    Continue,
    Stop,
}

impl RequestQueue {
    /// Receives requests from `control`. Messages with an ID in `delivered` were delivered before.
    pub(super) fn new(control: &RunControl, delivered: BTreeSet<String>) -> Self {
        Self {
            control: control.clone(),
            is_paused: false,
            waiting: Vec::new(),
            delivered,
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.control.is_cancelled()
    }

    /// Returns the undelivered messages, and leaves them to the next receiver of the control.
    pub(super) fn into_undelivered(mut self) -> Vec<String> {
        self.apply_pending_requests();
        let texts = self.waiting.iter().map(|message| message.text().to_owned());
        let texts = texts.collect();
        for message in self.waiting.into_iter().rev() {
            self.control.requeue(RunRequest::Instruct(message));
        }
        texts
    }

    /// Waits as long as the work is paused.
    pub(super) async fn wait_while_paused(&mut self) -> WaitOutcome {
        self.apply_pending_requests();
        while self.is_paused && !self.is_cancelled() {
            self.next().await;
        }
        self.held()
    }

    /// Waits until a person sends a message, or resumes the work.
    pub(super) async fn wait_for_answer(&mut self) -> WaitOutcome {
        self.apply_pending_requests();
        let mut has_answer = !self.waiting.is_empty();
        while !has_answer && !self.is_cancelled() {
            self.next().await;
            has_answer = !self.waiting.is_empty() || !self.is_paused;
        }
        self.wait_while_paused().await
    }

    /// Waits for `time`; pauses and messages are kept for later.
    pub(super) async fn wait(&mut self, time: impl Future<Output = ()>) -> WaitOutcome {
        let control = self.control.clone();
        tokio::select! {
            biased;
            () = control.cancelled() => {}
            () = time => {}
        }
        self.held()
    }

    /// Runs an execution under `child`: messages are forwarded to it. Waits for its end even if the
    /// work is stopped. Returns the forwarded messages, to be settled.
    pub(super) async fn run_with_messages<T>(
        &mut self,
        child: &RunControl,
        execution: impl Future<Output = T>,
    ) -> (T, Vec<ForwardedMessage>) {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let mut forwarded: Vec<ForwardedMessage> =
            waiting.map(|message| forward(message, child)).collect();
        let control = self.control.clone();
        let mut execution = pin!(execution);
        loop {
            tokio::select! {
                biased;
                result = &mut execution => return (result, forwarded),
                () = control.cancelled(), if !child.is_cancelled() => child.cancel(),
                request = control.next_request() => {
                    self.apply_request(request);
                    forwarded.extend(self.waiting.drain(..).map(|message| forward(message, child)));
                }
            }
        }
    }

    /// Returns the messages that agents have received, and keeps the others for the next execution.
    pub(super) fn split_delivered(&mut self, forwarded: Vec<ForwardedMessage>) -> Vec<RunMessage> {
        let is_delivered = |message: &ForwardedMessage| message.is_delivered.load(Ordering::SeqCst);
        let (delivered, left): (Vec<_>, Vec<_>) = forwarded.into_iter().partition(is_delivered);
        let mut left: Vec<_> = left
            .into_iter()
            .map(|forwarded| forwarded.message)
            .collect();
        left.append(&mut self.waiting);
        self.waiting = left;
        delivered
            .into_iter()
            .map(|forwarded| forwarded.message)
            .collect()
    }

    /// Settles delivered messages, once their delivery is recorded.
    pub(super) fn settle(&mut self, delivered: Vec<RunMessage>) {
        for message in delivered {
            self.delivered.extend(message.id().map(str::to_owned));
            message.acknowledge();
        }
    }

    fn held(&self) -> WaitOutcome {
        if self.is_cancelled() {
            WaitOutcome::Stop
        } else {
            WaitOutcome::Continue
        }
    }

    fn apply_pending_requests(&mut self) {
        while let Some(request) = self.control.try_next_request() {
            self.apply_request(request);
        }
    }

    async fn next(&mut self) {
        let control = self.control.clone();
        tokio::select! {
            biased;
            () = control.cancelled() => {}
            request = control.next_request() => self.apply_request(request),
        }
    }

    fn apply_request(&mut self, request: RunRequest) {
        match request {
            RunRequest::Pause => self.is_paused = true,
            RunRequest::Resume => self.is_paused = false,
            // Its delivery was recorded, but a kill came before it could be settled.
            RunRequest::Instruct(message) if self.was_delivered(&message) => message.acknowledge(),
            RunRequest::Instruct(message) => self.waiting.push(message),
        }
    }

    fn was_delivered(&self, message: &RunMessage) -> bool {
        message.id().is_some_and(|id| self.delivered.contains(id))
    }
}

/// Passes a copy to an execution: the message itself is settled when its delivery is recorded.
fn forward(message: RunMessage, child: &RunControl) -> ForwardedMessage {
    let is_delivered = Arc::new(AtomicBool::new(false));
    let receipt = is_delivered.clone();
    let copy = RunMessage::new(message.text());
    child.send_message(copy.with_receipt(move || receipt.store(true, Ordering::SeqCst)));
    ForwardedMessage {
        message,
        is_delivered,
    }
}

impl From<&RunMessage> for DeliveredMessage {
    fn from(message: &RunMessage) -> Self {
        Self {
            id: message.id().map(str::to_owned),
            text: message.text().to_owned(),
        }
    }
}
