//! What a backend tells observers beside its stream.

use autonoe_core::{SpanId, StreamEvent, TokenReports, TokenUsage, ToldEvents};

use super::played::Played;
use super::record::{Happening, Told};
use crate::conformance::checks::{Finding, Flaw};

/// Returns what was told, in order.
fn told(played: &Played) -> impl Iterator<Item = &Told> {
    played.log.iter().filter_map(|happening| match happening {
        Happening::Told(told) => Some(told),
        _ => None,
    })
}

fn named<'p>(played: &'p Played, name: &'static str) -> impl Iterator<Item = &'p Told> {
    told(played).filter(move |told| told.event["event"] == name)
}

pub(super) fn is_what_is_claimed(played: &Played, claimed: &ToldEvents) -> Finding {
    let label = played.label;
    let calls = named(played, "model_started").count();
    if claimed.model_calls.is_yes() {
        ensure!(calls > 0, "{label}: no call of a model is told");
    } else {
        ensure!(
            calls == 0,
            "{label}: calls of models are told and not claimed"
        );
    }
    let chunks = named(played, "model_chunk").count();
    ensure!(
        chunks == 0 || claimed.model_chunks.is_yes(),
        "{label}: pieces of answers are told and not claimed"
    );
    let notes = named(played, "progress_shown").count();
    ensure!(
        notes == 0 || claimed.progress.is_yes(),
        "{label}: progress is told and not claimed"
    );
    Ok(())
}

/// Checks that the answer came piece by piece.
pub(super) fn pieces_make_the_answer(
    played: &Played,
    claimed: &ToldEvents,
    expected: &str,
) -> Finding {
    if !claimed.model_chunks.is_yes() {
        return Ok(());
    }
    let text = named(played, "model_chunk").filter(|told| told.event["part"] == "text");
    let said: String = text
        .filter_map(|told| told.event["text"].as_str())
        .collect();
    ensure!(
        said.contains(expected),
        "the pieces make {said:?}, and not {expected:?}"
    );
    Ok(())
}

pub(super) fn calls_have_one_end_at_their_place(played: &Played) -> Finding {
    let label = played.label;
    let session = played.events.span();
    let calls = played.invocations();
    let of_calls = calls.iter().map(|call| played.events.at_call(call.id));
    let above: Vec<SpanId> = of_calls
        .map(|events| events.span().span)
        .chain([session.span])
        .collect();
    let started: Vec<&Told> = named(played, "model_started").collect();
    for (index, Told { span, event }) in started.iter().enumerate() {
        ensure!(
            span.trace == session.trace && span.parent.is_some_and(|it| above.contains(&it)),
            "{label}: {event} is neither below the session nor below a call of it"
        );
        ensure!(
            !started[..index]
                .iter()
                .any(|other| other.span.span == span.span),
            "{label}: two calls of models are told at one place"
        );
        let of_call = told(played).filter(|told| told.span.span == span.span);
        let names: Vec<_> = of_call
            .filter_map(|told| told.event["event"].as_str())
            .collect();
        let ends = names.iter().filter(|name| is_end(name)).count();
        ensure!(
            ends == 1 && names.last().is_some_and(|name| is_end(name)),
            "{label}: of a call of a model is told {names:?}, and not one end at last"
        );
    }
    for Told { span, event } in told(played) {
        let is_of_a_call = event["event"]
            .as_str()
            .is_some_and(|name| name.starts_with("model_"));
        let has_begun = started.iter().any(|call| call.span.span == span.span);
        ensure!(
            !is_of_a_call || has_begun,
            "{label}: {event} belongs to no call"
        );
    }
    Ok(())
}

fn is_end(name: &str) -> bool {
    matches!(name, "model_ended" | "model_failed")
}

pub(super) fn notes_are_hidden(played: &Played) -> Finding {
    let (shown, hidden) = (
        named(played, "progress_shown").count(),
        named(played, "progress_hidden").count(),
    );
    ensure!(
        shown == hidden,
        "{}: {shown} notes of progress are shown and {hidden} hidden",
        played.label
    );
    Ok(())
}

/// Checks that the calls of models used what the session says that it used.
pub(super) fn usage_adds_up(played: &Played, claimed: &ToldEvents) -> Finding {
    if !claimed.model_calls.is_yes() {
        return Ok(());
    }
    let mut of_calls = TokenUsage::default();
    for Told { event, .. } in told(played) {
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

/// Checks that a session says how many tokens it used, where the backend claims to.
pub(super) fn has_tokens(played: &Played, claimed: TokenReports) -> Finding {
    if claimed == TokenReports::None {
        let why = "the backend does not claim to tell tokens";
        return Err(Flaw::Untestable(why.to_owned()));
    }
    let told = played
        .items()
        .any(|item| matches!(item, Ok(StreamEvent::Usage { tokens, .. }) if tokens.total() > 0));
    ensure!(told, "{}: no tokens are told", played.label);
    Ok(())
}
