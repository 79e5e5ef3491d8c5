//! Policy of the agent loop: decides on the next step after each event.

use autonoe_core::agent::SessionOutcome;

use super::prompts::{CONTINUE, REPEAT_CALL, UNPARSED};
use crate::contract::{ModelError, ModelErrorCode, ModelReply, StopReason};

/// Maximum number of consecutive continuations of an incomplete answer: one that was cut at the
/// output limit, or that its provider could not parse.
const MAX_CONTINUATIONS: u32 = 3;

/// Maximum number of compactions between two answers.
const MAX_COMPACTIONS: u32 = 2;

/// Decides on the next step of the loop.
#[derive(Debug)]
pub(super) struct LoopPolicy {
    /// Maximum number of answers of the session.
    max_rounds: u32,
    rounds: u32,
    /// Number of consecutive incomplete answers.
    cut: u32,
    /// Number of compactions since the last answer.
    shortened: u32,
}

/// Next step of the loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LoopStep {
    /// Call the model.
    CallModel,
    /// Add this message, then call the model.
    Prompt(&'static str),
    /// Run the complete calls of the answer, then continue with the inner step.
    Call(Box<LoopStep>),
    /// Compact the conversation, then call the model.
    Compact,
    /// End the session.
    End(SessionOutcome),
    /// Fail the session.
    Fail,
}

impl LoopPolicy {
    pub(super) fn new(max_rounds: u32) -> Self {
        Self {
            max_rounds,
            rounds: 0,
            cut: 0,
            shortened: 0,
        }
    }

    /// Decides before a model call, depending on the budget and the length of the conversation.
    pub(super) fn before_call(&mut self, is_spent: bool, is_too_long: bool) -> LoopStep {
        if is_spent {
            return LoopStep::End(SessionOutcome::BudgetExceeded);
        }
        if self.rounds >= self.max_rounds {
            return LoopStep::End(SessionOutcome::MaxTurns);
        }
        if is_too_long && self.may_compact() {
            return LoopStep::Compact;
        }
        LoopStep::CallModel
    }

    /// Decides after an answer. `has_more` says that steering messages arrived meanwhile.
    pub(super) fn on_reply(&mut self, reply: &ModelReply, has_more: bool) -> LoopStep {
        self.rounds += 1;
        self.shortened = 0;
        self.cut = match reply.stop {
            StopReason::MaxTokens | StopReason::Failed(_) => self.cut + 1,
            StopReason::EndTurn
            | StopReason::ToolUse
            | StopReason::ContextFull
            | StopReason::Refused
            | StopReason::Paused
            | StopReason::Other(_) => 0,
        };
        let may_continue = self.cut <= MAX_CONTINUATIONS;
        let calls = reply.message.calls().next().is_some();
        let is_empty = reply.message.to_text().trim().is_empty();
        match &reply.stop {
            StopReason::Refused => failed("the model refused to answer"),
            StopReason::MaxTokens if !may_continue => {
                failed("every answer was cut at its length limit")
            }
            StopReason::MaxTokens if calls => {
                LoopStep::Call(Box::new(LoopStep::Prompt(REPEAT_CALL)))
            }
            StopReason::MaxTokens => LoopStep::Prompt(CONTINUE),
            // Calls of an unparsable answer are not run.
            StopReason::Failed(_) if may_continue => LoopStep::Prompt(UNPARSED),
            StopReason::Failed(words) => {
                failed(&format!("the provider stopped every answer: {words}"))
            }
            StopReason::ContextFull if calls => LoopStep::Call(Box::new(LoopStep::Compact)),
            StopReason::ContextFull => LoopStep::Compact,
            _ if calls => LoopStep::Call(Box::new(LoopStep::CallModel)),
            StopReason::Paused => LoopStep::CallModel,
            StopReason::Other(words) if is_empty => {
                failed(&format!("the model stopped without an answer: {words}"))
            }
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Other(_) if has_more => {
                LoopStep::CallModel
            }
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Other(_) => {
                LoopStep::End(SessionOutcome::Completed)
            }
        }
    }

    /// Decides after a failed model call.
    pub(super) fn on_error(&mut self, error: &ModelError) -> LoopStep {
        let overflowed = error.code == ModelErrorCode::ContextLengthExceeded;
        if overflowed && self.may_compact() {
            LoopStep::Compact
        } else {
            LoopStep::Fail
        }
    }

    fn may_compact(&mut self) -> bool {
        let may = self.shortened < MAX_COMPACTIONS;
        self.shortened += u32::from(may);
        may
    }
}

fn failed(message: &str) -> LoopStep {
    LoopStep::End(SessionOutcome::ExecutionError {
        messages: vec![message.to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::{AssistantMessage, MessagePart};

    fn reply(stop: StopReason) -> ModelReply {
        ModelReply::new(AssistantMessage::text("Well.")).with_stop(stop)
    }

    #[test]
    fn an_answer_determines_the_next_step() {
        let called = || {
            let call = MessagePart::tool_call("1", "Read", json!({}));
            ModelReply::new(AssistantMessage::new([call]))
        };
        let then = |next| LoopStep::Call(Box::new(next));
        for (reply, has_more, expected) in [
            (called(), false, then(LoopStep::CallModel)),
            (
                called().with_stop(StopReason::MaxTokens),
                false,
                then(LoopStep::Prompt(REPEAT_CALL)),
            ),
            (
                called().with_stop(StopReason::ContextFull),
                false,
                then(LoopStep::Compact),
            ),
            (
                called().with_stop(StopReason::Refused),
                false,
                failed("the model refused to answer"),
            ),
            (
                called().with_stop(StopReason::Failed("bad".into())),
                false,
                LoopStep::Prompt(UNPARSED),
            ),
            (
                called().with_stop(StopReason::Other("new".into())),
                false,
                then(LoopStep::CallModel),
            ),
            (
                reply(StopReason::EndTurn),
                false,
                LoopStep::End(SessionOutcome::Completed),
            ),
            (reply(StopReason::EndTurn), true, LoopStep::CallModel),
            (
                reply(StopReason::Other("new".into())),
                false,
                LoopStep::End(SessionOutcome::Completed),
            ),
            (
                ModelReply::new(AssistantMessage::default())
                    .with_stop(StopReason::Other("new".into())),
                true,
                failed("the model stopped without an answer: new"),
            ),
            (
                reply(StopReason::Failed("bad".into())),
                false,
                LoopStep::Prompt(UNPARSED),
            ),
            (reply(StopReason::Paused), false, LoopStep::CallModel),
            (
                reply(StopReason::MaxTokens),
                false,
                LoopStep::Prompt(CONTINUE),
            ),
            (reply(StopReason::ContextFull), false, LoopStep::Compact),
            (
                reply(StopReason::Refused),
                true,
                failed("the model refused to answer"),
            ),
        ] {
            assert_eq!(
                LoopPolicy::new(9).on_reply(&reply, has_more),
                expected,
                "{reply:?}"
            );
        }
    }

    #[test]
    fn a_session_ends_with_the_last_round_it_may_take() {
        let mut rounds = LoopPolicy::new(2);
        for _ in 0..2 {
            assert_eq!(rounds.before_call(false, false), LoopStep::CallModel);
            rounds.on_reply(&reply(StopReason::Paused), false);
        }

        assert_eq!(
            rounds.before_call(false, false),
            LoopStep::End(SessionOutcome::MaxTurns)
        );
        let spent = LoopStep::End(SessionOutcome::BudgetExceeded);
        assert_eq!(rounds.before_call(true, false), spent);
    }

    #[test]
    fn repeated_incomplete_replies_end_with_an_error() {
        let called = |stop| {
            let call = MessagePart::tool_call("1", "Read", json!("{\"path"));
            ModelReply::new(AssistantMessage::new([call])).with_stop(stop)
        };
        let malformed = || StopReason::Failed("MALFORMED".into());
        for reply in [
            reply(StopReason::MaxTokens),
            called(StopReason::MaxTokens),
            reply(malformed()),
            called(malformed()),
        ] {
            let mut rounds = LoopPolicy::new(99);
            for _ in 0..MAX_CONTINUATIONS {
                let step = rounds.on_reply(&reply, false);
                assert!(
                    matches!(step, LoopStep::Prompt(_) | LoopStep::Call(_)),
                    "{step:?}"
                );
            }

            let last = rounds.on_reply(&reply, false);

            assert!(
                matches!(last, LoopStep::End(SessionOutcome::ExecutionError { .. })),
                "{last:?}"
            );
        }
    }

    // Shows: framework/models/context-length
    #[test]
    fn a_conversation_that_stays_too_long_is_not_shortened_for_ever() {
        let overflow = ModelError::new(ModelErrorCode::ContextLengthExceeded, "too long");
        let mut rounds = LoopPolicy::new(99);

        assert_eq!(rounds.before_call(false, true), LoopStep::Compact);
        assert_eq!(rounds.on_error(&overflow), LoopStep::Compact);
        assert_eq!(rounds.on_error(&overflow), LoopStep::Fail);
        assert_eq!(rounds.before_call(false, true), LoopStep::CallModel);

        rounds.on_reply(&reply(StopReason::Paused), false);
        assert_eq!(rounds.before_call(false, true), LoopStep::Compact);
    }

    // Shows: framework/models/long-delays
    #[test]
    fn other_failures_are_final() {
        for code in ModelErrorCode::ALL {
            if code != ModelErrorCode::ContextLengthExceeded {
                let step = LoopPolicy::new(9).on_error(&ModelError::new(code, "no"));
                assert_eq!(step, LoopStep::Fail, "{code}");
            }
        }
    }
}
