//! What follows after each step of the loop.

use autonoe_core::SessionOutcome;

use super::prompts::{CALL_AGAIN, GO_ON, NOT_READ};
use crate::contract::{ModelError, ModelErrorCode, ModelReply, StopReason};

/// How often an answer may be gone on with that did not end as the model wanted, one after the
/// other: one that was cut at its length, or that its provider could not read.
const CUT_ANSWERS: u32 = 3;

/// How often a conversation may be made shorter before the model answers again.
const SHORTENED: u32 = 2;

/// Decides what follows after each step of the loop.
#[derive(Debug)]
pub(super) struct Rounds {
    /// How many answers the session may take.
    most: u32,
    taken: u32,
    /// How many answers in a row did not end as the model wanted.
    cut: u32,
    /// How often the conversation was made shorter since the last answer.
    shortened: u32,
}

/// What follows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Ask the model.
    Ask,
    /// Tell the model this, then ask it.
    Tell(&'static str),
    /// Carry out the calls of its answer, as far as they are whole; then comes the next.
    Call(Box<Step>),
    /// Make the conversation shorter, then ask.
    Shorten,
    /// The session is over.
    End(SessionOutcome),
    /// The session fails.
    Fail,
}

impl Rounds {
    pub(super) fn new(most: u32) -> Self {
        Self {
            most,
            taken: 0,
            cut: 0,
            shortened: 0,
        }
    }

    /// Decides before the model is asked, with a conversation that is or is not too long.
    pub(super) fn before_asking(&mut self, is_spent: bool, is_too_long: bool) -> Step {
        if is_spent {
            return Step::End(SessionOutcome::BudgetExceeded);
        }
        if self.taken >= self.most {
            return Step::End(SessionOutcome::MaxTurns);
        }
        if is_too_long && self.may_shorten() {
            return Step::Shorten;
        }
        Step::Ask
    }

    /// Decides after an answer. `has_more` says that a person has told something meanwhile.
    pub(super) fn answered(&mut self, reply: &ModelReply, has_more: bool) -> Step {
        self.taken += 1;
        self.shortened = 0;
        self.cut = match reply.stop {
            StopReason::MaxTokens | StopReason::Failed(_) => self.cut + 1,
            _ => 0,
        };
        let may_go_on = self.cut <= CUT_ANSWERS;
        let calls = reply.message.calls().next().is_some();
        let says_nothing = reply.message.to_text().trim().is_empty();
        match &reply.stop {
            StopReason::Refused => failed("the model refused to answer"),
            StopReason::MaxTokens if !may_go_on => {
                failed("every answer was cut at its length limit")
            }
            StopReason::MaxTokens if calls => Step::Call(Box::new(Step::Tell(CALL_AGAIN))),
            StopReason::MaxTokens => Step::Tell(GO_ON),
            // What its provider could not read, nobody carries out.
            StopReason::Failed(_) if may_go_on => Step::Tell(NOT_READ),
            StopReason::Failed(words) => {
                failed(&format!("the provider stopped every answer: {words}"))
            }
            StopReason::ContextFull if calls => Step::Call(Box::new(Step::Shorten)),
            StopReason::ContextFull => Step::Shorten,
            _ if calls => Step::Call(Box::new(Step::Ask)),
            StopReason::Paused => Step::Ask,
            StopReason::Other(words) if says_nothing => {
                failed(&format!("the model stopped and said nothing: {words}"))
            }
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Other(_) if has_more => {
                Step::Ask
            }
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Other(_) => {
                Step::End(SessionOutcome::Completed)
            }
        }
    }

    /// Decides after the model could not be asked.
    pub(super) fn failed(&mut self, error: &ModelError) -> Step {
        let overflowed = error.code == ModelErrorCode::ContextLengthExceeded;
        if overflowed && self.may_shorten() {
            Step::Shorten
        } else {
            Step::Fail
        }
    }

    fn may_shorten(&mut self) -> bool {
        let may = self.shortened < SHORTENED;
        self.shortened += u32::from(may);
        may
    }
}

fn failed(message: &str) -> Step {
    Step::End(SessionOutcome::ExecutionError {
        messages: vec![message.to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::{AssistantMessage, Part};

    fn said(stop: StopReason) -> ModelReply {
        ModelReply::new(AssistantMessage::text("Well.")).with_stop(stop)
    }

    #[test]
    fn an_answer_decides_what_follows() {
        let called = || {
            let call = Part::tool_call("1", "Read", json!({}));
            ModelReply::new(AssistantMessage::new([call]))
        };
        let then = |next| Step::Call(Box::new(next));
        for (reply, has_more, expected) in [
            (called(), false, then(Step::Ask)),
            (
                called().with_stop(StopReason::MaxTokens),
                false,
                then(Step::Tell(CALL_AGAIN)),
            ),
            (
                called().with_stop(StopReason::ContextFull),
                false,
                then(Step::Shorten),
            ),
            (
                called().with_stop(StopReason::Refused),
                false,
                failed("the model refused to answer"),
            ),
            (
                called().with_stop(StopReason::Failed("bad".into())),
                false,
                Step::Tell(NOT_READ),
            ),
            (
                called().with_stop(StopReason::Other("new".into())),
                false,
                then(Step::Ask),
            ),
            (
                said(StopReason::EndTurn),
                false,
                Step::End(SessionOutcome::Completed),
            ),
            (said(StopReason::EndTurn), true, Step::Ask),
            (
                said(StopReason::Other("new".into())),
                false,
                Step::End(SessionOutcome::Completed),
            ),
            (
                ModelReply::new(AssistantMessage::default())
                    .with_stop(StopReason::Other("new".into())),
                true,
                failed("the model stopped and said nothing: new"),
            ),
            (
                said(StopReason::Failed("bad".into())),
                false,
                Step::Tell(NOT_READ),
            ),
            (said(StopReason::Paused), false, Step::Ask),
            (said(StopReason::MaxTokens), false, Step::Tell(GO_ON)),
            (said(StopReason::ContextFull), false, Step::Shorten),
            (
                said(StopReason::Refused),
                true,
                failed("the model refused to answer"),
            ),
        ] {
            assert_eq!(
                Rounds::new(9).answered(&reply, has_more),
                expected,
                "{reply:?}"
            );
        }
    }

    #[test]
    fn a_session_ends_with_the_last_round_it_may_take() {
        let mut rounds = Rounds::new(2);
        for _ in 0..2 {
            assert_eq!(rounds.before_asking(false, false), Step::Ask);
            rounds.answered(&said(StopReason::Paused), false);
        }

        assert_eq!(
            rounds.before_asking(false, false),
            Step::End(SessionOutcome::MaxTurns)
        );
        let spent = Step::End(SessionOutcome::BudgetExceeded);
        assert_eq!(rounds.before_asking(true, false), spent);
    }

    #[test]
    fn answers_that_never_end_as_they_should_come_to_an_end() {
        let called = |stop| {
            let call = Part::tool_call("1", "Read", json!("{\"path"));
            ModelReply::new(AssistantMessage::new([call])).with_stop(stop)
        };
        let malformed = || StopReason::Failed("MALFORMED".into());
        for reply in [
            said(StopReason::MaxTokens),
            called(StopReason::MaxTokens),
            said(malformed()),
            called(malformed()),
        ] {
            let mut rounds = Rounds::new(99);
            for _ in 0..CUT_ANSWERS {
                let step = rounds.answered(&reply, false);
                assert!(matches!(step, Step::Tell(_) | Step::Call(_)), "{step:?}");
            }

            let last = rounds.answered(&reply, false);

            assert!(
                matches!(last, Step::End(SessionOutcome::ExecutionError { .. })),
                "{last:?}"
            );
        }
    }

    #[test]
    fn a_conversation_that_stays_too_long_is_not_shortened_for_ever() {
        let overflow = ModelError::new(ModelErrorCode::ContextLengthExceeded, "too long");
        let mut rounds = Rounds::new(99);

        assert_eq!(rounds.before_asking(false, true), Step::Shorten);
        assert_eq!(rounds.failed(&overflow), Step::Shorten);
        assert_eq!(rounds.failed(&overflow), Step::Fail);
        assert_eq!(rounds.before_asking(false, true), Step::Ask);

        rounds.answered(&said(StopReason::Paused), false);
        assert_eq!(rounds.before_asking(false, true), Step::Shorten);
    }

    #[test]
    fn other_failures_are_final() {
        for code in ModelErrorCode::ALL {
            if code != ModelErrorCode::ContextLengthExceeded {
                let step = Rounds::new(9).failed(&ModelError::new(code, "no"));
                assert_eq!(step, Step::Fail, "{code}");
            }
        }
    }
}
