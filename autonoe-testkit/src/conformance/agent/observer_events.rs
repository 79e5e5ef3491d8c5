//! Checks of the events that a backend emits to observers beside its stream.

use autonoe_core::StreamEvent;
use autonoe_core::agent::{EventCapabilities, TokenReports, TokenUsage};
use autonoe_core::event::SpanId;

use super::played::PlayedSession;
use super::record::{EmittedEvent, RecordEntry};
use crate::conformance::checks::{CheckOutcome, Flaw};

/// Returns the emitted events, in order.
fn emitted_events(played: &PlayedSession) -> impl Iterator<Item = &EmittedEvent> {
    played.log.iter().filter_map(|entry| match entry {
        RecordEntry::Emitted(emitted) => Some(emitted),
        _ => None,
    })
}

fn named<'p>(
    played: &'p PlayedSession,
    name: &'static str,
) -> impl Iterator<Item = &'p EmittedEvent> {
    emitted_events(played).filter(move |emitted| emitted.event["event"] == name)
}

pub(super) fn matches_claims(played: &PlayedSession, claimed: &EventCapabilities) -> CheckOutcome {
    let label = played.label;
    let calls = named(played, "model_started").count();
    if claimed.model_calls.is_yes() {
        ensure!(calls > 0, "{label}: no model call is reported");
    } else {
        ensure!(
            calls == 0,
            "{label}: model calls are reported, but not claimed"
        );
    }
    let chunks = named(played, "model_chunk").count();
    ensure!(
        chunks == 0 || claimed.model_chunks.is_yes(),
        "{label}: parts of answers are reported, but not claimed"
    );
    let notes = named(played, "progress_started").count();
    ensure!(
        notes == 0 || claimed.progress.is_yes(),
        "{label}: progress is reported, but not claimed"
    );
    Ok(())
}

/// Checks that the answer was streamed in pieces.
pub(super) fn pieces_make_the_answer(
    played: &PlayedSession,
    claimed: &EventCapabilities,
    expected: &str,
) -> CheckOutcome {
    if !claimed.model_chunks.is_yes() {
        return Ok(());
    }
    let text = named(played, "model_chunk").filter(|emitted| emitted.event["part"] == "text");
    let answer: String = text
        .filter_map(|emitted| emitted.event["text"].as_str())
        .collect();
    ensure!(
        answer.contains(expected),
        "the parts add up to {answer:?}, not to {expected:?}"
    );
    Ok(())
}

pub(super) fn calls_have_one_end_at_their_place(played: &PlayedSession) -> CheckOutcome {
    let label = played.label;
    let session = played.events.span();
    let calls = played.invocations();
    let of_calls = calls.iter().map(|call| played.events.at_call(call.id));
    let above: Vec<SpanId> = of_calls
        .map(|events| events.span().span)
        .chain([session.span])
        .collect();
    let started: Vec<&EmittedEvent> = named(played, "model_started").collect();
    for (index, EmittedEvent { span, event }) in started.iter().enumerate() {
        ensure!(
            span.trace == session.trace && span.parent.is_some_and(|it| above.contains(&it)),
            "{label}: {event} is neither below the session nor below a call of it"
        );
        ensure!(
            !started[..index]
                .iter()
                .any(|other| other.span.span == span.span),
            "{label}: two model calls have the same span"
        );
        let of_call = emitted_events(played).filter(|emitted| emitted.span.span == span.span);
        let names: Vec<_> = of_call
            .filter_map(|emitted| emitted.event["event"].as_str())
            .collect();
        let ends = names.iter().filter(|name| is_end(name)).count();
        ensure!(
            ends == 1 && names.last().is_some_and(|name| is_end(name)),
            "{label}: the events of a model call are {names:?}, and not exactly one end at the end"
        );
    }
    for EmittedEvent { span, event } in emitted_events(played) {
        let is_of_a_call = event["event"]
            .as_str()
            .is_some_and(|name| name.starts_with("model_"));
        let is_started = started.iter().any(|call| call.span.span == span.span);
        ensure!(
            !is_of_a_call || is_started,
            "{label}: {event} belongs to no call"
        );
    }
    Ok(())
}

fn is_end(name: &str) -> bool {
    matches!(name, "model_ended" | "model_failed")
}

pub(super) fn notes_are_hidden(played: &PlayedSession) -> CheckOutcome {
    let (started, ended) = (
        named(played, "progress_started").count(),
        named(played, "progress_ended").count(),
    );
    ensure!(
        started == ended,
        "{}: {started} notes of progress are shown and {ended} hidden",
        played.label
    );
    Ok(())
}

/// Checks that the usage of all model calls adds up to the usage of the session.
pub(super) fn usage_adds_up(played: &PlayedSession, claimed: &EventCapabilities) -> CheckOutcome {
    if !claimed.model_calls.is_yes() {
        return Ok(());
    }
    let mut of_calls = TokenUsage::default();
    for EmittedEvent { event, .. } in emitted_events(played) {
        if event["event"].as_str().is_some_and(is_end) {
            let tokens: TokenUsage = serde_json::from_value(event["tokens"].clone())
                .map_err(|error| Flaw::Failed(format!("{event} has no usage: {error}")))?;
            of_calls += tokens;
        }
    }
    let mut of_session = TokenUsage::default();
    for item in played.items() {
        if let Ok(StreamEvent::Usage { tokens, .. }) = item {
            of_session += *tokens;
        }
    }
    ensure!(
        of_calls == of_session,
        "{}: the calls of models used {of_calls:?}, the session {of_session:?}",
        played.label
    );
    Ok(())
}

/// Checks that a session reports its token usage if the backend claims to.
pub(super) fn has_tokens(played: &PlayedSession, claimed: TokenReports) -> CheckOutcome {
    if claimed == TokenReports::None {
        let reason = "the backend does not claim to report tokens";
        return Err(Flaw::Untestable(reason.to_owned()));
    }
    let has_tokens = played
        .items()
        .any(|item| matches!(item, Ok(StreamEvent::Usage { tokens, .. }) if tokens.total() > 0));
    ensure!(has_tokens, "{}: no tokens are reported", played.label);
    Ok(())
}
