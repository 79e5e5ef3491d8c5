//! Checks that apply to every answer.

use autonoe_core::agent::TokenUsage;
use autonoe_testkit::conformance::{CheckOutcome, Checks, Flaw};

use super::answers::thinking;
use super::recorded_answer::RecordedAnswer;
use crate::contract::{ModelEvent, ModelReply};

pub(super) fn check(checks: &mut Checks, recorded: &[RecordedAnswer]) {
    each(
        checks,
        "an answer has one end and no events after it",
        recorded,
        |recorded| {
            ensure!(recorded.end.is_some(), "it stopped without an end");
            ensure!(
                recorded.after.is_empty(),
                "{:?} was sent after the end",
                recorded.after
            );
            Ok(())
        },
    );
    each(
        checks,
        "a client does not retry by itself",
        recorded,
        |recorded| {
            let is_retry = |event: &&ModelEvent| matches!(event, ModelEvent::Retrying { .. });
            match recorded.events.iter().find(is_retry) {
                Some(event) => Err(Flaw::Failed(format!("it sent {event:?}"))),
                None => Ok(()),
            }
        },
    );
    each(
        checks,
        "the pieces of an answer make the answer",
        recorded,
        |recorded| match &recorded.end {
            Some(Ok(reply)) => makes(recorded, reply),
            _ => Ok(()),
        },
    );
    each(
        checks,
        "usage reported early is part of the total",
        recorded,
        |recorded| {
            let whole = match &recorded.end {
                Some(Ok(reply)) => reply.usage.known(),
                Some(Err(error)) => error.usage.known(),
                None => return Ok(()),
            };
            for event in &recorded.events {
                if let ModelEvent::Usage(early) = event {
                    ensure!(is_part(early, &whole), "{early:?} is no part of {whole:?}");
                }
            }
            Ok(())
        },
    );
    each(
        checks,
        "the total usage of an incomplete answer is unknown",
        recorded,
        |recorded| {
            if let (false, Some(Err(error))) = (recorded.events.is_empty(), &recorded.end) {
                let reported = error.usage.complete();
                ensure!(
                    reported.is_none(),
                    "it reported {reported:?} after {:?}",
                    recorded.events
                );
            }
            Ok(())
        },
    );
}

fn each(
    checks: &mut Checks,
    check: &str,
    all: &[RecordedAnswer],
    finding: impl Fn(&RecordedAnswer) -> CheckOutcome,
) {
    checks.run_sync(check, || {
        for recorded in all {
            if let Err(Flaw::Failed(message)) = finding(recorded) {
                return Err(Flaw::Failed(format!("{:?}: {message}", recorded.scenario)));
            }
        }
        if all.is_empty() {
            Err(Flaw::Untestable("no event was received".to_owned()))
        } else {
            Ok(())
        }
    });
}

fn makes(recorded: &RecordedAnswer, reply: &ModelReply) -> CheckOutcome {
    let (streamed, text) = (recorded.texts().concat(), reply.message.to_text());
    ensure!(
        streamed == text,
        "it streamed {streamed:?}, and its reply is {text:?}"
    );
    let (streamed, expected) = (recorded.thinking(), thinking(&reply.message));
    ensure!(
        streamed == expected,
        "it streamed {streamed:?}, and its thinking is {expected:?}"
    );
    let started: Vec<_> = recorded
        .events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::ToolCall { id, name } => Some((id.as_str(), name.as_str())),
            _ => None,
        })
        .collect();
    let called: Vec<_> = reply
        .message
        .calls()
        .map(|(id, name, _)| (id, name))
        .collect();
    ensure!(
        started == called,
        "it began {started:?} and called {called:?}"
    );
    Ok(())
}

/// Returns whether `early` is a part of `whole`. The share that comes from a cache may be known
/// late, so the tokens of the prompt are compared as a sum.
fn is_part(early: &TokenUsage, whole: &TokenUsage) -> bool {
    early.prompt() <= whole.prompt() && early.completion() <= whole.completion()
}
