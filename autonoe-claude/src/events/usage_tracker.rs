//! [`UsageTracker`], the cost of a turn computed from the totals of the process, and the [`ModelCalls`] of a session.

use std::collections::BTreeMap;

use autonoe_core::CostUsd;
use autonoe_core::agent::{
    CostTotal, ModelAnswer, ModelCall, ModelCallRequest, ModelMessages, ModelPart, TokenUsage,
};
use autonoe_core::event::{Events, Failure};
use serde_json::json;

use crate::wire::{AnswerChunk, ChunkKind, Message, ReportedUsage, ResultMessage};

/// Computes the cost of each turn from the totals of the process.
///
/// The program counts money and tokens over the whole life of its process, sub-agents included, and
/// restarts at zero when the conversation is cleared.
#[derive(Clone, Debug, Default)]
pub struct UsageTracker {
    cost: CostUsd,
    tokens: TokenUsage,
    query: CostTotal,
    turns: u32,
}

/// The usage of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnCost {
    /// The tokens, including those of sub-agents.
    pub tokens: TokenUsage,
    /// The cost; `None` is unknown.
    pub cost: Option<CostUsd>,
}

impl UsageTracker {
    /// Starts a new query, whose cost is counted from zero.
    pub(super) fn start_query(&mut self) {
        self.query = CostTotal::default();
        self.turns = 0;
    }

    /// Returns the usage of the turn that ended with `result`.
    pub(super) fn turn(&mut self, result: &ResultMessage<'_>) -> TurnCost {
        let total = result.total_cost_usd.map(CostUsd::from_f64);
        let cost = total.and_then(Result::ok).map(|total| {
            let spent = if total < self.cost {
                total
            } else {
                total.saturating_sub(self.cost)
            };
            self.cost = total;
            spent
        });
        let tokens = match result.model_usage.and_then(|usage| usage.0) {
            Some(total) => {
                let spent = since(total, self.tokens);
                self.tokens = total;
                spent
            }
            None => {
                // Nothing was used since the start, or the program does not count by model.
                self.tokens = TokenUsage::default();
                result.usage.unwrap_or_default().tokens()
            }
        };
        self.query.add(cost);
        self.turns += 1;
        TurnCost { tokens, cost }
    }

    /// Records that a part of the cost is unknown.
    pub(super) fn add_unknown(&mut self) {
        self.query.add(None);
    }

    /// Returns the cost of the query so far; `None` is unknown.
    pub fn query(&self) -> Option<CostUsd> {
        if self.turns == 0 {
            return None;
        }
        self.query.exact()
    }
}

/// Returns the usage since `before`; all of `now` if the count has restarted.
fn since(now: TokenUsage, before: TokenUsage) -> TokenUsage {
    let pairs = [
        (now.input, before.input),
        (now.output, before.output),
        (now.cache_read, before.cache_read),
        (now.cache_write, before.cache_write),
        (now.reasoning, before.reasoning),
    ];
    if pairs.iter().any(|(now, before)| now < before) {
        return now;
    }
    TokenUsage {
        input: now.input - before.input,
        output: now.output - before.output,
        cache_read: now.cache_read - before.cache_read,
        cache_write: now.cache_write - before.cache_write,
        reasoning: now.reasoning - before.reasoning,
    }
}

/// Emits events for each call of the model, chunk by chunk.
///
/// The program does not report the messages to the model. Sub-agents run concurrently with the main
/// agent; their model calls are below the tool calls that started them.
///
/// ```
/// use autonoe_claude::events::ModelCalls;
/// use autonoe_claude::wire::Line;
/// use autonoe_core::event::Events;
///
/// let mut calls = ModelCalls::new(Events::silent());
/// let line = Line::from_text(r#"{"type":"stream_event","event":{"type":"message_start"}}"#)?;
///
/// calls.observe(&line.parse());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ModelCalls {
    events: Events,
    /// The open calls, by the tool call that started the sub-agent.
    open: BTreeMap<Option<String>, OpenCall>,
}

#[derive(Debug)]
struct OpenCall {
    call: ModelCall,
    id: Option<String>,
    stop_reason: Option<String>,
    text: String,
    tools: usize,
    usage: ReportedUsage,
}

impl ModelCalls {
    /// Creates an emitter that reports to the observers of `events`.
    pub fn new(events: Events) -> Self {
        Self {
            events,
            open: BTreeMap::new(),
        }
    }

    /// Observes `message`.
    pub fn observe(&mut self, message: &Message<'_>) {
        match message {
            Message::Answer(chunk) => self.observe_chunk(chunk),
            Message::Result(result) => self.end_turn(result),
            _ => {}
        }
    }

    /// Ends an unfinished answer of the main agent, which ends with the turn: it was cancelled,
    /// unless the turn failed.
    fn end_turn(&mut self, result: &ResultMessage<'_>) {
        let subtype = result.subtype.as_deref().unwrap_or_default();
        let is_interrupted = subtype == "error_during_execution";
        if result.is_error.unwrap_or(subtype != "success") && !is_interrupted {
            self.fail_unfinished(&None);
        } else {
            self.open.remove(&None);
        }
    }

    fn observe_chunk(&mut self, chunk: &AnswerChunk<'_>) {
        let agent = chunk.parent_tool_use_id.as_deref().map(str::to_owned);
        if let ChunkKind::Started { model, id, usage } = &chunk.kind {
            self.fail_unfinished(&agent);
            let mut call = self.begin(agent.as_deref(), model.as_deref());
            call.id = id.as_deref().map(str::to_owned);
            call.usage = *usage;
            self.open.insert(agent, call);
            return;
        }
        if chunk.kind == ChunkKind::Ended {
            if let Some(open) = self.open.remove(&agent) {
                open.end();
            }
            return;
        }
        let Some(open) = self.open.get_mut(&agent) else {
            return;
        };
        match &chunk.kind {
            ChunkKind::Text(text) => {
                open.text.push_str(text);
                open.call.chunk(ModelPart::Text, text);
            }
            ChunkKind::Thinking(text) => open.call.chunk(ModelPart::Thinking, text),
            ChunkKind::ToolUse => open.tools += 1,
            ChunkKind::Stopped { usage, reason } => {
                open.usage.update(*usage);
                open.stop_reason = reason.as_deref().map(str::to_owned);
            }
            _ => {}
        }
    }

    fn begin(&self, agent: Option<&str>, model: Option<&str>) -> OpenCall {
        let events = match agent {
            Some(call) => self.events.at_call(call),
            None => self.events.clone(),
        };
        let unknown = || json!([]);
        let request =
            ModelCallRequest::new(model.unwrap_or("unknown"), ModelMessages::new(0, &unknown));
        OpenCall {
            call: events.model_call(&request),
            id: None,
            stop_reason: None,
            text: String::new(),
            tools: 0,
            usage: ReportedUsage::default(),
        }
    }

    /// Fails the call of an agent whose answer did not end.
    fn fail_unfinished(&mut self, agent: &Option<String>) {
        if let Some(open) = self.open.remove(agent) {
            let error = Failure::retryable("model_failed", "the answer was never finished");
            open.call.failed(&error, open.usage.tokens());
        }
    }
}

impl OpenCall {
    fn end(self) {
        let mut answer =
            ModelAnswer::new(&self.text, self.usage.tokens()).with_tool_calls(self.tools);
        answer.id = self.id.as_deref();
        answer.stop_reason = self.stop_reason.as_deref();
        self.call.ended(&answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Line, Message};

    fn turn(usage_tracker: &mut UsageTracker, text: &str) -> (u64, u64, u64, Option<String>) {
        let line = Line::from_text(format!("{{\"type\":\"result\",{text}}}")).expect("a line");
        let Message::Result(result) = line.parse() else {
            panic!("{line:?}")
        };
        let TurnCost { tokens, cost } = usage_tracker.turn(&result);
        let cost = cost.map(|cost| cost.to_string());
        (tokens.input, tokens.output, tokens.reasoning, cost)
    }

    fn cost(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn the_cost_of_a_turn_is_the_increase_since_the_last() {
        let mut usage_tracker = UsageTracker::default();

        let first = turn(
            &mut usage_tracker,
            r#""total_cost_usd":0.0016,"modelUsage":{"a":{"inputTokens":200,"outputTokens":40}},"usage":{"input_tokens":100}"#,
        );
        let second = turn(
            &mut usage_tracker,
            r#""total_cost_usd":0.0024000000000000002,"modelUsage":{"a":{"inputTokens":200,"outputTokens":40},"b":{"inputTokens":7,"outputTokens":9,"thinkingTokens":4}}"#,
        );

        assert_eq!(first, (200, 40, 0, cost("$0.0016")));
        assert_eq!(second, (7, 5, 4, cost("$0.0008")));
        assert_eq!(
            usage_tracker.query().map(|cost| cost.to_string()),
            cost("$0.0024")
        );
    }

    #[test]
    fn a_cleared_conversation_restarts_at_zero_and_the_sum_continues() {
        let mut usage_tracker = UsageTracker::default();

        for (text, expected) in [
            (
                r#""total_cost_usd":0.5,"modelUsage":{"a":{"inputTokens":100}}"#,
                (100, 0, 0, cost("$0.50")),
            ),
            (
                r#""total_cost_usd":0,"modelUsage":{}"#,
                (0, 0, 0, cost("$0.00")),
            ),
            (
                r#""total_cost_usd":0.25,"modelUsage":{"a":{"inputTokens":40}}"#,
                (40, 0, 0, cost("$0.25")),
            ),
            (
                r#""total_cost_usd":0.125,"modelUsage":{"a":{"inputTokens":30}}"#,
                (30, 0, 0, cost("$0.125")),
            ),
        ] {
            assert_eq!(turn(&mut usage_tracker, text), expected);
        }

        assert_eq!(
            usage_tracker.query().map(|cost| cost.to_string()),
            cost("$0.875")
        );
    }

    #[test]
    fn missing_costs_are_unknown_and_not_zero() {
        let mut usage_tracker = UsageTracker::default();

        assert_eq!(usage_tracker.query(), None);
        assert_eq!(
            turn(&mut usage_tracker, r#""total_cost_usd":0.5"#),
            (0, 0, 0, cost("$0.50"))
        );
        for unknown in ["null", "\"free\"", "-1"] {
            let fields = format!("\"total_cost_usd\":{unknown}");
            assert_eq!(turn(&mut usage_tracker, &fields).3, None, "{unknown}");
        }
        assert_eq!(usage_tracker.query(), None);

        usage_tracker.start_query();
        assert_eq!(
            turn(
                &mut usage_tracker,
                r#""total_cost_usd":0.75,"usage":{"input_tokens":3,"output_tokens":null}"#
            ),
            (3, 0, 0, cost("$0.25"))
        );
        assert_eq!(
            usage_tracker.query().map(|cost| cost.to_string()),
            cost("$0.25")
        );
    }
}
