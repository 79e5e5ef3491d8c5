//! Checks of the event stream of a turn.

use autonoe_core::StreamEvent;
use autonoe_core::agent::SessionOutcome;

use super::played::PlayedSession;
use crate::conformance::checks::{CheckOutcome, Flaw};

pub(super) fn starts_once(played: &PlayedSession) -> CheckOutcome {
    let label = played.label;
    let is_start =
        |item: &Result<&StreamEvent, &str>| matches!(item, Ok(StreamEvent::Started { .. }));
    match played.items().next() {
        // An agent that could not start returns an error.
        Some(Err(_)) => return Ok(()),
        Some(item) if is_start(&item) => {}
        first => return Err(Flaw::Failed(format!("{label}: it starts with {first:?}"))),
    }
    let starts = played.items().filter(is_start).count();
    ensure!(starts == 1, "{label}: it started {starts} times");
    Ok(())
}

pub(super) fn ends_once(played: &PlayedSession) -> CheckOutcome {
    let label = played.label;
    let is_end =
        |item: &Result<&StreamEvent, &str>| matches!(item, Ok(StreamEvent::End { .. }) | Err(_));
    let Some(end) = played.items().position(|item| is_end(&item)) else {
        return Err(Flaw::Failed(format!(
            "{label}: the stream ended without End and without an error"
        )));
    };
    let after: Vec<_> = played.items().skip(end + 1).collect();
    ensure!(after.is_empty(), "{label}: after its end came {after:?}");
    Ok(())
}

pub(super) fn completes(played: &PlayedSession) -> CheckOutcome {
    let outcome = played.outcome();
    ensure!(
        outcome == Some(&SessionOutcome::Completed),
        "{}: the outcome is {outcome:?}",
        played.label
    );
    Ok(())
}

pub(super) fn has_text(played: &PlayedSession, expected: &str) -> CheckOutcome {
    let text: String = played
        .items()
        .filter_map(|item| match item {
            Ok(StreamEvent::Text { text, .. }) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    ensure!(
        text.contains(expected),
        "the agent said {expected:?}, the stream {text:?}"
    );
    Ok(())
}

pub(super) fn is_no_success(played: &PlayedSession) -> CheckOutcome {
    let outcome = played.outcome();
    ensure!(
        outcome != Some(&SessionOutcome::Completed),
        "an agent that failed ended as {outcome:?}"
    );
    Ok(())
}

pub(super) fn hits_quota(played: &PlayedSession) -> CheckOutcome {
    let outcome = played.outcome();
    let reports_reset = matches!(
        outcome,
        Some(SessionOutcome::QuotaExceeded {
            resets_at: Some(_),
            ..
        })
    );
    ensure!(reports_reset, "an agent without quota ended as {outcome:?}");
    Ok(())
}
