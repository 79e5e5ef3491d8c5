//! Event stream with an injected fault.

use std::collections::VecDeque;
use std::future;

use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::{AgentError, MessageStream, StreamEvent};
use futures::{StreamExt, stream};

use super::plan::Fault;
use super::plan::Plan;

type Item = Result<StreamEvent, AgentError>;

/// Injects the fault of `plan` into `inner`; `on_hit` is called once, when it takes effect.
pub(super) fn disturb<'a>(
    inner: MessageStream<'a>,
    plan: Plan,
    on_hit: impl FnOnce() + Send + 'a,
) -> MessageStream<'a> {
    let disturbed = Disturbed {
        inner,
        plan,
        on_hit: Some(Box::new(on_hit)),
        waiting: VecDeque::new(),
        seen: 0,
        first_call: None,
        over: false,
    };
    stream::unfold(disturbed, |mut disturbed| async move {
        let item = disturbed.next().await?;
        Some((item, disturbed))
    })
    .boxed()
}

struct Disturbed<'a> {
    inner: MessageStream<'a>,
    plan: Plan,
    on_hit: Option<Box<dyn FnOnce() + Send + 'a>>,
    /// Items to return before the inner stream is polled again.
    waiting: VecDeque<Item>,
    seen: u64,
    first_call: Option<String>,
    over: bool,
}

impl Disturbed<'_> {
    async fn next(&mut self) -> Option<Item> {
        if let Some(item) = self.waiting.pop_front() {
            return Some(item);
        }
        if self.over {
            return None;
        }
        if self.plan.fault == Fault::SlowDrip {
            self.hit();
            tokio::time::sleep(self.plan.delay).await;
        }
        let item = self.inner.next().await?;
        let event = match item {
            Ok(event) => event,
            Err(error) => return Some(Err(error)),
        };
        let is_end = matches!(event, StreamEvent::End { .. });
        // In a short stream the fault strikes at the end at the latest.
        let is_time = is_end || self.seen >= self.plan.after;
        self.seen += 1;
        match self.plan.fault {
            Fault::CutStream if is_time => self.strike(None),
            Fault::MissingEnd if is_end => self.strike(None),
            Fault::Silence if is_time => {
                self.hit();
                future::pending().await
            }
            Fault::Panic if is_time => {
                self.hit();
                std::panic::panic_any("the fault injector panics here")
            }
            Fault::ErrorAfterEnd if is_end => {
                self.waiting.push_back(Err(AgentError::new(
                    AgentErrorKind::Crashed,
                    "the fault injector fails after the end",
                )));
                self.strike(Some(event))
            }
            Fault::QuotaInTool if matches!(event, StreamEvent::ToolInvocation { .. }) => {
                let outcome = SessionOutcome::QuotaExceeded {
                    message: "the fault injector spent the quota".to_owned(),
                    resets_at: None,
                };
                self.waiting
                    .push_back(Ok(StreamEvent::end(outcome, self.plan.cost)));
                self.strike(Some(event))
            }
            Fault::DuplicateCallIds => Some(Ok(self.duplicate(event))),
            Fault::WrongCost => Some(Ok(self.misprice(event))),
            _ => Some(Ok(event)),
        }
    }

    /// Ends the stream with `last` and the waiting items.
    fn strike(&mut self, last: Option<StreamEvent>) -> Option<Item> {
        self.hit();
        self.over = true;
        last.map(Ok)
    }

    fn duplicate(&mut self, mut event: StreamEvent) -> StreamEvent {
        if let StreamEvent::ToolInvocation { call_id, .. }
        | StreamEvent::ToolResponse { call_id, .. } = &mut event
        {
            let first = self.first_call.get_or_insert_with(|| call_id.clone());
            call_id.clone_from(first);
            self.waiting.push_back(Ok(event.clone()));
            self.hit();
        }
        event
    }

    fn misprice(&mut self, mut event: StreamEvent) -> StreamEvent {
        if let StreamEvent::End { cost, .. } = &mut event {
            *cost = self.plan.cost;
            self.hit();
        }
        event
    }

    fn hit(&mut self) {
        if let Some(on_hit) = self.on_hit.take() {
            on_hit();
        }
    }
}
