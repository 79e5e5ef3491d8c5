//! Answers of the in-memory client.

use std::time::Duration;

use autonoe_core::agent::TokenUsage;
use autonoe_model::conformance::{BrokenStream, ProviderScenario, RequestedDelay};
use autonoe_model::contract::{AssistantMessage, PartKind};
use autonoe_model::{MessagePart, ModelError, ModelErrorCode, ModelEvent, ModelReply, ModelStream};
use futures::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{KEY, Memory, PROTOCOL};
use crate::conformance::faulty::Fault;

/// Timeout of the client for a silent provider.
const PATIENCE: Duration = Duration::from_secs(5);

impl Memory {
    /// Answers as the scenario requires.
    pub(super) fn answer(&self) -> ModelStream {
        let fails = |error: ModelError| stream::iter([Err(self.fault.changes(error))]).boxed();
        let late = || {
            let fault = self.fault;
            stream::once(async move {
                match fault {
                    Fault::WaitsForEver => std::future::pending().await,
                    _ => tokio::time::sleep(PATIENCE).await,
                }
                Err(fault.changes(failure(ModelErrorCode::Timeout)))
            })
            .boxed()
        };
        match &self.scenario {
            ProviderScenario::Answers { message, usage } => {
                let parts: Vec<_> = message
                    .parts
                    .iter()
                    .map(|part| MessagePart::new(part.kind.clone()).with_wire(PROTOCOL, item(part)))
                    .collect();
                let mut events: Vec<_> = parts.iter().flat_map(events).collect();
                let reply = ModelReply::new(AssistantMessage::new(parts)).with_usage(*usage);
                events.push(Ok(ModelEvent::Usage(*usage)));
                events.push(Ok(ModelEvent::Done(Box::new(reply))));
                stream::iter(events).boxed()
            }
            ProviderScenario::Pauses { text } => {
                let half = stream::iter(half(text));
                half.chain(stream::pending()).boxed()
            }
            ProviderScenario::Breaks { text, kind } => {
                let end = match kind {
                    BrokenStream::Cut | BrokenStream::Ends => {
                        fails(failure(ModelErrorCode::NetworkError))
                    }
                    BrokenStream::Malformed if self.fault == Fault::Panics => {
                        stream::once(async { panic!("this is no JSON") }).boxed()
                    }
                    BrokenStream::Malformed => fails(failure(ModelErrorCode::InvalidResponse)),
                    BrokenStream::Silent => late(),
                    BrokenStream::Fails { code } => fails(failure(*code)),
                    BrokenStream::RepeatsKey => fails(self.repeated_key()),
                    other => panic!("{other:?} is new"),
                };
                let end = if self.fault.takes_for_whole(*kind) {
                    let reply = ModelReply::new(AssistantMessage::text(half_of(text)));
                    stream::iter([Ok(ModelEvent::Done(Box::new(reply)))]).boxed()
                } else {
                    end
                };
                let fault = self.fault;
                let end = end.map(move |item| {
                    item.map_err(|error| match fault {
                        Fault::TakesHalvesForFree => error.with_nothing_used(),
                        _ => error.with_usage(TokenUsage::default()),
                    })
                });
                stream::iter(half(text)).chain(end).boxed()
            }
            ProviderScenario::Refuses { code } => fails(failure(*code)),
            ProviderScenario::Limits { wait } => {
                let wait = wait.and_then(|wait| match wait {
                    RequestedDelay::Seconds(seconds) => Some(Duration::from_secs(seconds)),
                    RequestedDelay::Until(_) if self.fault == Fault::KnowsNoDates => None,
                    RequestedDelay::Until(time) => {
                        Some(Duration::try_from(time - Timestamp::now()).unwrap_or_default())
                    }
                    other => panic!("{other:?} is new"),
                });
                fails(failure(ModelErrorCode::RateLimited).with_retry_after(wait))
            }
            ProviderScenario::Page { status: 200 } if self.fault == Fault::TakesPages => {
                let page = "<h1>Sign in</h1>".to_owned();
                let reply = ModelReply::new(AssistantMessage::text(page.clone()));
                stream::iter([
                    Ok(ModelEvent::Text(page)),
                    Ok(ModelEvent::Done(Box::new(reply))),
                ])
                .boxed()
            }
            ProviderScenario::Page { status: 200 } => {
                fails(failure(ModelErrorCode::InvalidResponse))
            }
            ProviderScenario::Page { .. } | ProviderScenario::HangsUp => {
                fails(failure(ModelErrorCode::NetworkError))
            }
            ProviderScenario::Hangs => late(),
            ProviderScenario::RepeatsKey => fails(self.repeated_key()),
            other => panic!("{other:?} is new"),
        }
    }

    fn repeated_key(&self) -> ModelError {
        let key = match self.fault {
            Fault::RepeatsKeys => KEY,
            _ => "[redacted]",
        };
        failure(ModelErrorCode::AuthenticationError).with_reason(key.to_owned())
    }
}

pub(crate) fn failure(code: ModelErrorCode) -> ModelError {
    ModelError::new(code, "it failed")
}

/// Returns a part in the format of the protocol.
pub(super) fn item(part: &MessagePart) -> Value {
    json!({"what": part.kind, "signature": "c2ln"})
}

/// Returns the events of a part before the end.
fn events(part: &MessagePart) -> Vec<Result<ModelEvent, ModelError>> {
    let events = match &part.kind {
        PartKind::Text { text } => pieces(text).map(ModelEvent::Text).collect(),
        PartKind::Thinking { text } => pieces(text).map(ModelEvent::Thinking).collect(),
        PartKind::ToolCall { id, name, .. } => vec![ModelEvent::ToolCall {
            id: id.clone(),
            name: name.clone(),
        }],
        _ => Vec::new(),
    };
    events.into_iter().map(Ok).collect()
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters.chunks(9).map(|it| it.iter().collect()).collect();
    pieces.into_iter()
}

fn half_of(text: &str) -> String {
    pieces(text).take(2).collect()
}

fn half(text: &str) -> Vec<Result<ModelEvent, ModelError>> {
    pieces(text)
        .take(2)
        .map(|it| Ok(ModelEvent::Text(it)))
        .collect()
}
