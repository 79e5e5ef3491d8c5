//! Clients with one fault each, and the checks that detect them.

use std::collections::BTreeSet;
use std::time::Duration;

use autonoe_model::conformance::{BrokenStream, model_client};
use autonoe_model::contract::PartKind;
use autonoe_model::{MessagePart, ModelError, ModelErrorCode, ModelEvent, ModelReply, ModelStream};
use futures::{StreamExt, stream};
use serde_json::json;

use crate::conformance::memory::{InMemory, KEY, failure};

/// Fault of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    TakesCutStreams,
    TakesAnyEnd,
    SkipsNonsense,
    SkipsErrorsInStreams,
    TakesPages,
    Panics,
    WaitsForEver,
    EndsTwice,
    NeverEnds,
    SendsTwice,
    ReportsRetries,
    HoldsBack,
    StreamsOnlyTheEnd,
    ThinksAloud,
    MixesCalls,
    CountsCachesTwice,
    ForgetsCaches,
    ForgetsThinking,
    CountsNothing,
    ReportsTooMuchEarly,
    TakesHalvesForFree,
    ForgetsTheSystemPrompt,
    ForgetsResults,
    DropsSignatures,
    DropsAllSignatures,
    DropsTheUnknown,
    KnowsNoCodes,
    TakesAllForTimeouts,
    KnowsNoDates,
    MakesUpWaits,
    SendsAtOnce,
    ContinuesWhenDropped,
    OneAtATime,
    MixesAnswers,
    RepeatsKeys,
    ShowsKeys,
    LogsKeys,
    LogsPrompts,
}

/// Each fault, and a check that detects it.
#[rustfmt::skip]
const FOUND: &[(Fault, &str)] = &[
    (Fault::TakesCutStreams, "a cut stream is an error"),
    (Fault::TakesAnyEnd, "a stream without the protocol's end marker is an error"),
    (Fault::SkipsNonsense, "a malformed stream is an error"),
    (Fault::SkipsErrorsInStreams, "an error inside a stream is reported as RATE_LIMITED"),
    (Fault::TakesPages, "an HTML page instead of an answer is an error"),
    (Fault::Panics, "a malformed stream is an error"),
    (Fault::WaitsForEver, "a stream that falls silent times out"),
    (Fault::WaitsForEver, "a silent provider times out"),
    (Fault::EndsTwice, "an answer has one end and no events after it"),
    (Fault::NeverEnds, "an answer has one end and no events after it"),
    (Fault::SendsTwice, "no delay is invented"),
    (Fault::ReportsRetries, "a client does not retry by itself"),
    (Fault::HoldsBack, "a text is streamed before the answer ends"),
    (Fault::StreamsOnlyTheEnd, "a text is streamed in pieces and complete at the end"),
    (Fault::ThinksAloud, "thinking is reported as thinking"),
    (Fault::MixesCalls, "simultaneous calls are distinguished"),
    (Fault::CountsCachesTwice, "tokens read from a cache are reported separately"),
    (Fault::ForgetsCaches, "tokens written to a cache are reported separately"),
    (Fault::ForgetsThinking, "tokens of hidden thinking are reported separately"),
    (Fault::CountsNothing, "the usage of a call is reported"),
    (Fault::ReportsTooMuchEarly, "usage reported early is part of the total"),
    (Fault::TakesHalvesForFree, "the total usage of an incomplete answer is unknown"),
    (Fault::ForgetsTheSystemPrompt, "the request reaches the provider"),
    (Fault::ForgetsResults, "results of calls reach the provider"),
    (Fault::DropsSignatures, "thinking is sent back unchanged"),
    (Fault::DropsAllSignatures, "an answer is sent back unchanged"),
    (Fault::DropsTheUnknown, "opaque parts are preserved and sent back"),
    (Fault::KnowsNoCodes, "a failure is reported as AUTHENTICATION_ERROR"),
    (Fault::TakesAllForTimeouts, "a failure is reported as UNKNOWN"),
    (Fault::KnowsNoDates, "a retry date is reported"),
    (Fault::MakesUpWaits, "no delay is invented"),
    (Fault::SendsAtOnce, "nothing is sent before the stream is polled"),
    (Fault::ContinuesWhenDropped, "a dropped stream ends the call"),
    (Fault::OneAtATime, "several calls are answered at once"),
    (Fault::MixesAnswers, "answers at once are not mixed up"),
    (Fault::RepeatsKeys, "a key that a refusal repeats is in no error"),
    (Fault::ShowsKeys, "a key is in no Debug output and no serialized value"),
    (Fault::LogsKeys, "no key is in any log"),
    (Fault::LogsPrompts, "no prompt and no answer is in a log above TRACE"),
];

#[tokio::test(start_paused = true)]
async fn a_client_without_a_fault_conforms() {
    let report = model_client(&InMemory(Fault::None)).await;

    report.assert();
    assert_eq!(report.skipped(), []);
}

#[tokio::test(start_paused = true)]
async fn each_fault_is_found_by_its_check() {
    let sound = model_client(&InMemory(Fault::None)).await;
    let mut blind: BTreeSet<_> = sound.passed().iter().cloned().collect();
    for (fault, check) in FOUND {
        let report = model_client(&InMemory(*fault)).await;

        let failed: Vec<_> = report
            .failures()
            .iter()
            .map(|it| it.check.clone())
            .collect();
        assert!(failed.iter().any(|it| it == check), "{fault:?}: {report}");
        for check in failed {
            blind.remove(&check);
        }
    }
    assert_eq!(blind, BTreeSet::new(), "nothing fails these");
}

impl Fault {
    /// Returns whether half an answer is treated as complete.
    pub(crate) fn takes_for_whole(self, kind: BrokenStream) -> bool {
        match self {
            Self::TakesCutStreams => kind == BrokenStream::Cut,
            Self::TakesAnyEnd => kind == BrokenStream::Ends,
            Self::SkipsNonsense => kind == BrokenStream::Malformed,
            Self::SkipsErrorsInStreams => matches!(kind, BrokenStream::Fails { .. }),
            _ => false,
        }
    }

    pub(crate) fn changes(self, mut error: ModelError) -> ModelError {
        match self {
            Self::KnowsNoCodes => error.code = ModelErrorCode::Unknown,
            Self::TakesAllForTimeouts => error.code = ModelErrorCode::Timeout,
            Self::MakesUpWaits => error.retry_after = Some(Duration::from_secs(1)),
            _ => {}
        }
        error
    }

    /// Modifies a streamed answer.
    pub(crate) fn changes_stream(self, answer: ModelStream) -> ModelStream {
        match self {
            Self::EndsTwice => {
                let twice = |item: Result<ModelEvent, ModelError>| {
                    let times = match item {
                        Ok(ModelEvent::Done(_)) => 2,
                        _ => 1,
                    };
                    stream::iter(std::iter::repeat_n(item, times))
                };
                answer.flat_map(twice).boxed()
            }
            Self::NeverEnds => {
                let is_not_done = |item: &Result<ModelEvent, ModelError>| {
                    futures::future::ready(matches!(item, Ok(event) if !is_done(event)))
                };
                answer.take_while(is_not_done).boxed()
            }
            Self::ReportsRetries => {
                let retrying = ModelEvent::Retrying {
                    error: failure(ModelErrorCode::NetworkError),
                    attempt: 2,
                    delay: Duration::ZERO,
                };
                stream::iter([Ok(retrying)]).chain(answer).boxed()
            }
            Self::HoldsBack => {
                let all = async { stream::iter(answer.collect::<Vec<_>>().await) };
                stream::once(all).flatten().boxed()
            }
            Self::StreamsOnlyTheEnd => {
                let is_end = |item: &Result<ModelEvent, ModelError>| {
                    let is_end = item.as_ref().map_or(true, is_done);
                    futures::future::ready(is_end)
                };
                answer.filter(is_end).boxed()
            }
            Self::ReportsTooMuchEarly => {
                let much = autonoe_core::agent::TokenUsage {
                    output: 1_000_000,
                    ..Default::default()
                };
                stream::iter([Ok(ModelEvent::Usage(much))])
                    .chain(answer)
                    .boxed()
            }
            _ => answer.map(move |item| self.changes_item(item)).boxed(),
        }
    }

    fn changes_item(self, item: Result<ModelEvent, ModelError>) -> Result<ModelEvent, ModelError> {
        match item {
            Ok(ModelEvent::Done(mut reply)) => {
                self.changes_reply(&mut reply);
                Ok(ModelEvent::Done(reply))
            }
            Ok(ModelEvent::Thinking(text)) if self == Self::ThinksAloud => {
                Ok(ModelEvent::Text(text))
            }
            item => item,
        }
    }

    fn changes_reply(self, reply: &mut ModelReply) {
        let (parts, mut usage) = (&mut reply.message.parts, reply.usage.known());
        match self {
            Self::ThinksAloud => {
                for part in parts {
                    if let PartKind::Thinking { text } = &part.kind {
                        *part = MessagePart::text(text.clone());
                    }
                }
            }
            Self::MixesCalls => {
                for part in parts.iter_mut().skip(2) {
                    if let PartKind::ToolCall { input, .. } = &mut part.kind {
                        *input = json!({"name": "OuseNene"});
                    }
                }
            }
            Self::CountsCachesTwice => usage.input += usage.cache_read,
            Self::ForgetsCaches => (usage.cache_read, usage.cache_write) = (0, 0),
            Self::ForgetsThinking => usage.reasoning = 0,
            Self::CountsNothing => usage = Default::default(),
            Self::DropsTheUnknown => parts.retain(|part| part.kind != PartKind::Opaque),
            Self::MixesAnswers if usage.input == 9 => *parts = vec![MessagePart::text(KEY)],
            _ => {}
        }
        reply.usage = usage.into();
    }
}

fn is_done(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::Done(_))
}
