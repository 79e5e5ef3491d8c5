//! What holds for every answer, whatever it is.

use autonoe_core::TokenUsage;
use autonoe_testkit::conformance::{Checks, Finding, Flaw};

use super::answers::thoughts;
use super::heard::Heard;
use crate::contract::{ModelEvent, ModelReply};

pub(super) fn check(checks: &mut Checks, heard: &[Heard]) {
    each(
        checks,
        "an answer has one end, and nothing after it",
        heard,
        |heard| {
            ensure!(heard.end.is_some(), "it stopped without an end");
            ensure!(
                heard.after.is_empty(),
                "{:?} came after the end",
                heard.after
            );
            Ok(())
        },
    );
    each(
        checks,
        "a client does not ask again by itself",
        heard,
        |heard| {
            let again = |event: &&ModelEvent| matches!(event, ModelEvent::Retrying { .. });
            match heard.events.iter().find(again) {
                Some(event) => Err(Flaw::Failed(format!("it told {event:?}"))),
                None => Ok(()),
            }
        },
    );
    each(
        checks,
        "the pieces of an answer make the answer",
        heard,
        |heard| match &heard.end {
            Some(Ok(reply)) => makes(heard, reply),
            _ => Ok(()),
        },
    );
    each(
        checks,
        "what is told as used early is a part of it",
        heard,
        |heard| {
            let whole = match &heard.end {
                Some(Ok(reply)) => reply.usage.known(),
                Some(Err(error)) => error.usage.known(),
                None => return Ok(()),
            };
            for event in &heard.events {
                if let ModelEvent::Used(early) = event {
                    ensure!(is_part(early, &whole), "{early:?} is no part of {whole:?}");
                }
            }
            Ok(())
        },
    );
    each(
        checks,
        "the total usage of an incomplete answer is unknown",
        heard,
        |heard| {
            if let (false, Some(Err(error))) = (heard.events.is_empty(), &heard.end) {
                let told = error.usage.told();
                ensure!(told.is_none(), "it told {told:?} after {:?}", heard.events);
            }
            Ok(())
        },
    );
}

fn each(checks: &mut Checks, check: &str, all: &[Heard], finding: impl Fn(&Heard) -> Finding) {
    checks.look(check, || {
        for heard in all {
            if let Err(Flaw::Failed(what)) = finding(heard) {
                return Err(Flaw::Failed(format!("{:?}: {what}", heard.scenario)));
            }
        }
        match all.is_empty() {
            true => Err(Flaw::Untestable("nothing was heard".to_owned())),
            false => Ok(()),
        }
    });
}

fn makes(heard: &Heard, reply: &ModelReply) -> Finding {
    let (told, said) = (heard.texts().concat(), reply.message.to_text());
    ensure!(told == said, "it told {told:?} and said {said:?}");
    let (told, thought) = (heard.thoughts(), thoughts(&reply.message));
    ensure!(told == thought, "it told {told:?} and thought {thought:?}");
    let begun: Vec<_> = heard
        .events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::ToolCall { id, name } => Some((id.as_str(), name.as_str())),
            _ => None,
        })
        .collect();
    let called = reply.message.calls().map(|(id, name, _)| (id, name));
    let called: Vec<_> = called.collect();
    ensure!(begun == called, "it began {begun:?} and called {called:?}");
    Ok(())
}

/// Tells whether `early` is a part of `whole`. What is read from a cache may be known late, so
/// that the tokens of a prompt are counted together.
fn is_part(early: &TokenUsage, whole: &TokenUsage) -> bool {
    early.prompt() <= whole.prompt() && early.completion() <= whole.completion()
}
