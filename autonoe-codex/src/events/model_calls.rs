//! Calls of the model, as far as the program shows them.

use autonoe_core::{
    Events, Failure, ModelAnswer, ModelAsked, ModelCall, ModelMessages, ModelPart, TokenUsage,
};
use serde_json::json;

use crate::wire::{Item, Notice, TokenTotals};

/// Tells observers of each call of the model, piece by piece.
///
/// The program does not say when it asks the model, nor what: a call begins with the first that
/// comes of it, and ends when it is said what it used.
#[derive(Debug)]
pub(super) struct ModelCalls {
    events: Events,
    model: String,
    open: Option<ModelCall>,
    text: String,
    tools: usize,
}

impl ModelCalls {
    pub(super) fn new(events: Events, model: Option<&str>) -> Self {
        Self {
            events,
            model: model.unwrap_or("unknown").to_owned(),
            open: None,
            text: String::new(),
            tools: 0,
        }
    }

    /// Takes note of what comes of a call.
    pub(super) fn observe(&mut self, notice: &Notice) {
        match notice {
            Notice::ItemStarted(Item::Other(_)) | Notice::ItemCompleted(Item::Other(_)) => {}
            Notice::ItemStarted(Item::Message(_) | Item::Reasoning(_)) => {
                self.call();
            }
            Notice::ItemStarted(_) => {
                self.tools += 1;
                self.call();
            }
            Notice::TextDelta { delta, .. } => self.call().chunk(ModelPart::Text, delta),
            Notice::ThinkingDelta { delta, .. } => self.call().chunk(ModelPart::Thinking, delta),
            Notice::ItemCompleted(Item::Message(said)) => self.text.push_str(&said.text),
            Notice::Error(retried) if retried.will_retry => {
                if let Some(call) = self.open.take() {
                    let error = Failure::retryable("model_failed", &retried.error.message);
                    call.failed(&error, TokenUsage::default());
                }
                self.forget();
            }
            _ => {}
        }
    }

    /// Takes note of the end of a call, and of what it used.
    pub(super) fn ended(&mut self, tokens: TokenUsage) {
        self.call();
        if let Some(call) = self.open.take() {
            let answer = ModelAnswer::new(&self.text, tokens).with_tool_calls(self.tools);
            call.ended(&answer);
        }
        self.forget();
    }

    /// Takes note that nothing more comes.
    pub(super) fn over(&mut self) {
        self.open = None;
        self.forget();
    }

    fn forget(&mut self) {
        self.text.clear();
        self.tools = 0;
    }

    fn call(&mut self) -> &ModelCall {
        self.open.get_or_insert_with(|| {
            let unknown = || json!([]);
            let messages = ModelMessages::new(0, &unknown);
            self.events
                .model_call(&ModelAsked::new(&self.model, messages))
        })
    }
}

/// What was used, from totals of the whole conversation.
///
/// ```
/// use autonoe_codex::events::Spending;
/// use autonoe_codex::wire::TokenTotals;
///
/// let totals = |input: u64| -> TokenTotals {
///     serde_json::from_value(serde_json::json!({"inputTokens": input})).expect("totals")
/// };
/// let mut spending = Spending::default();
///
/// // The turns before this session were paid for before it.
/// assert_eq!(spending.spend(totals(500), totals(100)).input, 100);
/// assert_eq!(spending.spend(totals(530), totals(30)).input, 30);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Spending {
    total: Option<TokenTotals>,
}

impl Spending {
    /// Takes note of a total that is about an earlier turn.
    pub fn inherit(&mut self, total: TokenTotals) {
        self.total = Some(total);
    }

    /// Returns what was used since the last total, when the last call of the model used `last`.
    pub fn spend(&mut self, total: TokenTotals, last: TokenTotals) -> TokenUsage {
        let before = self.total.unwrap_or_else(|| total.since(last));
        self.total = Some(total);
        total.since(before).into()
    }
}
