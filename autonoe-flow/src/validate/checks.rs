//! Validates the checks of steps.

use super::findings::Findings;
use crate::definition::{Check, ExpectedAction, PromptCheck, WorkStep};
use crate::finding::FindingKind::Check as Wrong;
use crate::load::PromptFile;

pub(super) fn check(findings: &mut Findings<'_>) {
    for (_, work, at) in findings.work() {
        match &work.check {
            Some(Check::Keyword(check)) => {
                keywords(findings, &check.keywords, &format!("{at}/check/keywords"));
            }
            Some(Check::Action(check)) => {
                let at = format!("{at}/check/actions");
                if check.actions.is_empty() {
                    let message = "the check expects no action, so it could never pass";
                    findings.error(
                        Wrong,
                        at.clone(),
                        message,
                        "add an action, or remove the check",
                    );
                }
                for (index, action) in check.actions.iter().enumerate() {
                    expected_action(findings, action, &format!("{at}/{index}"));
                }
            }
            Some(Check::Prompt(check)) => {
                judge(findings, work, check, &format!("{at}/check/prompt"));
            }
            None => {}
        }
    }
}

/// Reports a prompt that does not ask for a judgement. The judge receives the response in any case.
fn judge(findings: &mut Findings<'_>, work: &WorkStep, check: &PromptCheck, at: &str) {
    let Some((judged, PromptFile::Text { has_words, .. })) = findings.prompt_file(&check.prompt)
    else {
        // Other validations report a missing or broken prompt.
        return;
    };
    if !has_words {
        let message =
            "the prompt of the judge consists of variables only, so it cannot say what to judge";
        findings.error(Wrong, at, message, "write when the step passes");
        return;
    }
    let own = work
        .prompt
        .as_ref()
        .and_then(|own| findings.prompt_file(own));
    if own.is_some_and(|(own, _)| own.path == judged.path) {
        let message = "the judge receives the prompt of the step itself, and may do the work again";
        let hint = "write a prompt that says when the step passes";
        findings.warn(Wrong, at, message, hint);
    }
}

fn keywords(findings: &mut Findings<'_>, words: &[String], at: &str) {
    if words.is_empty() {
        let message = "the list of words is empty, so the check could never pass";
        findings.error(Wrong, at, message, "add a word that the agent writes");
    }
    for (index, word) in words.iter().enumerate() {
        if word.trim().is_empty() {
            let message = "a blank word is in every text";
            findings.error(Wrong, format!("{at}/{index}"), message, "write a word");
        }
    }
}

fn expected_action(findings: &mut Findings<'_>, action: &ExpectedAction, at: &str) {
    match action {
        ExpectedAction::Tool(action) => {
            if action.tool.trim().is_empty() {
                let message = "the name of the tool is blank";
                findings.error(
                    Wrong,
                    format!("{at}/tool"),
                    message,
                    "write the name of a tool, like Bash",
                );
            }
            if action.times == 0 {
                let message = "the check expects 0 calls";
                findings.error(Wrong, format!("{at}/times"), message, "write 1 or more");
            }
        }
        ExpectedAction::Command(action) => {
            let is_blank = action.command.first().is_none_or(|it| it.trim().is_empty());
            if is_blank {
                let message = "the command is empty";
                let hint = "write a program with its arguments, like [\"cargo\", \"test\"]";
                findings.error(Wrong, format!("{at}/command"), message, hint);
            }
            if action.timeout_seconds == 0 {
                let message = "the timeout of the command is 0";
                findings.error(
                    Wrong,
                    format!("{at}/timeoutSeconds"),
                    message,
                    "write 1 or more",
                );
            }
        }
    }
}
