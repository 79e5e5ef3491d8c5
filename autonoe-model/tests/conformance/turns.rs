//! Conversion of scenarios into server scripts.

use autonoe_core::agent::TokenUsage;
use autonoe_model::ModelErrorCode;
use autonoe_model::conformance::{BrokenStream, ProviderScenario, RequestedDelay};
use autonoe_model::contract::{AssistantMessage, PartKind};
use autonoe_testkit::model_server::{
    FaultPosition, Refusal, ScriptedMessage, StreamFault, Turn, Usage,
};

use crate::conformance::replies;
use crate::conformance::scripted::{Api, KEY};

/// Converts a scenario into a script; `None` if the provider cannot play it.
pub(crate) fn turn(api: Api, scenario: &ProviderScenario) -> Option<Turn> {
    let message = |text: &str| ScriptedMessage::new().says(text).in_pieces_of(9);
    Some(match scenario {
        ProviderScenario::Answers { message, usage } => answer(api, message, *usage)?.into(),
        ProviderScenario::Pauses { text } => message(text)
            .breaks(FaultPosition::InBlock(0), StreamFault::Hang)
            .into(),
        ProviderScenario::Breaks { text, kind } => message(text)
            .breaks(FaultPosition::InBlock(0), fault(api, *kind)?)
            .into(),
        ProviderScenario::Refuses { code } => refusal(api, *code)?,
        ProviderScenario::Limits { wait } => match wait {
            None => Refusal::rate_limited().into(),
            Some(RequestedDelay::Seconds(seconds)) => {
                Refusal::rate_limited().retry_after(*seconds).into()
            }
            Some(RequestedDelay::Until(time)) => Refusal::rate_limited().retry_at(*time).into(),
            _ => return None,
        },
        ProviderScenario::Page { status: 200 } => Turn::html("<h1>Sign in to the network</h1>"),
        ProviderScenario::Page { status } => Refusal::new(*status, "x", "x")
            .with_body("<h1>Bad gateway</h1>")
            .into(),
        ProviderScenario::HangsUp => Turn::disconnect(),
        ProviderScenario::Hangs => Turn::hang(),
        ProviderScenario::RepeatsKey => {
            let message = format!("Incorrect API key provided: {KEY} (Bearer {KEY}).");
            Refusal::new(401, KEY, message)
                .with_header("request-id", KEY)
                .with_header("x-request-id", KEY)
                .into()
        }
        _ => return None,
    })
}

fn answer(api: Api, message: &AssistantMessage, usage: TokenUsage) -> Option<ScriptedMessage> {
    // The servers of the other vendors count this as input, and do not report it separately.
    if usage.cache_write > 0 && api != Api::Anthropic {
        return None;
    }
    let used = Usage::new(usage.input, usage.completion())
        .with_cache_read(usage.cache_read)
        .with_cache_creation(usage.cache_write)
        .with_reasoning(usage.reasoning);
    let empty = ScriptedMessage::new().with_usage(used).in_pieces_of(9);
    let whole = message
        .parts
        .iter()
        .fold(empty, |whole, part| match &part.kind {
            PartKind::Text { text } => whole.says(text),
            PartKind::Thinking { text } => whole.thinks(text),
            PartKind::ToolCall { id, name, input } => whole.uses_tool_as(id, name, input.clone()),
            _ => whole.with_raw_block(replies::unknown(api)),
        });
    Some(whole)
}

fn fault(api: Api, kind: BrokenStream) -> Option<StreamFault> {
    let error = |kind: &str, message: &str| StreamFault::Error {
        kind: kind.to_owned(),
        message: message.to_owned(),
    };
    Some(match kind {
        BrokenStream::Cut => StreamFault::Cut,
        BrokenStream::Ends => StreamFault::End,
        BrokenStream::Malformed => StreamFault::Malformed,
        BrokenStream::Silent => StreamFault::Hang,
        BrokenStream::Fails {
            code: ModelErrorCode::RateLimited,
        } => {
            let words = [
                "rate_limit_error",
                "rate_limit_exceeded",
                "RESOURCE_EXHAUSTED",
            ];
            error(api.word(words), "Slow down.")
        }
        BrokenStream::Fails {
            code: ModelErrorCode::NetworkError,
        } => error(
            api.word(["api_error", "server_error", "INTERNAL"]),
            "Sorry.",
        ),
        BrokenStream::RepeatsKey => error(KEY, &format!("The key {KEY} is wrong.")),
        _ => return None,
    })
}

fn refusal(api: Api, code: ModelErrorCode) -> Option<Turn> {
    Some(match code {
        ModelErrorCode::AuthenticationError => Refusal::unauthorized().into(),
        ModelErrorCode::RateLimited => Refusal::rate_limited().into(),
        ModelErrorCode::ModelNotFound => Refusal::model_not_found("model-x").into(),
        ModelErrorCode::ContextLengthExceeded => Refusal::context_too_long().into(),
        ModelErrorCode::NetworkError => Refusal::server_error().into(),
        ModelErrorCode::Timeout => {
            let kind = api.word(["timeout_error", "timeout", "DEADLINE_EXCEEDED"]);
            Refusal::new(504, kind, "It took too long.").into()
        }
        ModelErrorCode::InvalidResponse => Turn::raw("text/event-stream", "data: what?\n\n"),
        ModelErrorCode::Unknown => {
            let kind = api.word([
                "invalid_request_error",
                "invalid_request_error",
                "INVALID_ARGUMENT",
            ]);
            Refusal::new(400, kind, "A tool has no name.").into()
        }
        _ => return None,
    })
}
