//! How steps are judged.

use super::findings::Findings;
use crate::definition::{Check, ExpectedAction};
use crate::finding::FindingKind::Check as Wrong;

pub(super) fn check(found: &mut Findings<'_>) {
    for (_, work, at) in found.work() {
        match &work.check {
            Some(Check::Keyword(check)) => {
                keywords(found, &check.keywords, &format!("{at}/check/keywords"));
            }
            Some(Check::Action(check)) => {
                let at = format!("{at}/check/actions");
                if check.actions.is_empty() {
                    let message = "no action is expected, so that the check would always pass";
                    found.error(
                        Wrong,
                        at.clone(),
                        message,
                        "name an action, or leave the check out",
                    );
                }
                for (index, action) in check.actions.iter().enumerate() {
                    expected(found, action, &format!("{at}/{index}"));
                }
            }
            Some(Check::Prompt(_)) | None => {}
        }
    }
}

fn keywords(found: &mut Findings<'_>, words: &[String], at: &str) {
    if words.is_empty() {
        let message = "there are no words, so that the check could never pass";
        found.error(Wrong, at, message, "name a word that the agent says");
    }
    for (index, word) in words.iter().enumerate() {
        if word.trim().is_empty() {
            let message = "a blank word stands in every text";
            found.error(Wrong, format!("{at}/{index}"), message, "write a word");
        }
    }
}

fn expected(found: &mut Findings<'_>, action: &ExpectedAction, at: &str) {
    match action {
        ExpectedAction::Tool(action) => {
            if action.tool.trim().is_empty() {
                let message = "the name of the tool is blank";
                found.error(
                    Wrong,
                    format!("{at}/tool"),
                    message,
                    "name a tool, like Bash",
                );
            }
            if action.times == 0 {
                let message = "no call at all is expected";
                found.error(Wrong, format!("{at}/times"), message, "write 1 or more");
            }
        }
        ExpectedAction::Command(action) => {
            let is_blank = action.command.first().is_none_or(|it| it.trim().is_empty());
            if is_blank {
                let message = "there is no program to run";
                let hint = "write it with its arguments, like [\"cargo\", \"test\"]";
                found.error(Wrong, format!("{at}/command"), message, hint);
            }
            if action.timeout_seconds == 0 {
                let message = "the command has no time";
                found.error(
                    Wrong,
                    format!("{at}/timeoutSeconds"),
                    message,
                    "write 1 or more",
                );
            }
        }
    }
}
