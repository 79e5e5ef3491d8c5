//! Collects the events of a stream into a complete answer.

use futures::StreamExt;

use super::{CallUsage, Meter, ModelError, ModelErrorCode, ModelEvent, ModelReply, ModelStream};

/// Waits for the complete answer. A stream that ends without one is an error.
pub(super) async fn collect(mut stream: ModelStream) -> Result<ModelReply, ModelError> {
    // Usage of failed attempts.
    let mut used = CallUsage::NOTHING;
    let mut meter = Meter::default();
    let error = loop {
        match stream.next().await {
            Some(Ok(ModelEvent::Done(mut reply))) => {
                reply.usage += used;
                return Ok(*reply);
            }
            Some(Ok(ModelEvent::Retrying { error, .. })) => {
                used += meter.failed(&error);
                meter = Meter::default();
            }
            Some(Ok(event)) => meter.on_event(&event),
            Some(Err(error)) => break error,
            None => {
                let message = "the answer ended before it was complete";
                break ModelError::new(ModelErrorCode::InvalidResponse, message);
            }
        }
    };
    let usage = meter.failed(&error) + used;
    Err(ModelError { usage, ..error })
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::TokenUsage;
    use futures::{FutureExt, stream};

    use super::*;
    use crate::contract::AssistantMessage;

    // Shows: framework/models/model-response-success-or-error
    // Shows: framework/models/is-model-success-is-model
    // Shows: framework/models/response-json
    #[test]
    fn an_answer_without_an_end_is_no_answer() {
        let cut = stream::iter([Ok(ModelEvent::Text("All".into()))]).boxed();

        let error = collect(cut)
            .now_or_never()
            .expect("it is there")
            .expect_err("it is cut");

        assert_eq!(error.code, ModelErrorCode::InvalidResponse);
    }

    // Shows: framework/models/model-response-success-or-error
    // Shows: framework/models/is-model-success-is-model
    #[test]
    fn reply_is_taken_from_the_done_event() {
        let whole = ModelReply::new(AssistantMessage::text("All is well."));
        let events = [
            Ok(ModelEvent::Text("All".into())),
            Ok(ModelEvent::Done(Box::new(whole.clone()))),
        ];

        let reply = collect(stream::iter(events).boxed()).now_or_never();

        assert_eq!(reply.expect("it is there").expect("whole"), whole);
    }

    #[test]
    fn usage_includes_failed_tries() {
        let tokens = |input| TokenUsage {
            input,
            ..TokenUsage::default()
        };
        let retrying = ModelEvent::Retrying {
            error: ModelError::new(ModelErrorCode::Timeout, "slow").with_usage(tokens(3)),
            attempt: 2,
            delay: std::time::Duration::from_secs(1),
        };
        let whole = ModelReply::new(AssistantMessage::text("x")).with_usage(tokens(4));
        let events = [Ok(retrying), Ok(ModelEvent::Done(Box::new(whole)))];

        let reply = collect(stream::iter(events).boxed()).now_or_never();

        let usage = reply.expect("it is there").expect("whole").usage;
        assert_eq!(usage, CallUsage::AtLeast(tokens(7)));
    }
}
