//! Validates each completion condition by itself.

use std::collections::BTreeSet;

use super::findings::{Findings, In};
use crate::definition::{Completion, Composite, ExternalStateSource};
use crate::finding::FindingKind::Completion as Wrong;

/// JSON pointer of a flow's completion condition.
pub(super) const CONFIG: &str = "/behavior/completionConfig";

pub(super) fn check(found: &mut Findings<'_>) {
    let completion = &found.agent.behavior.completion;
    condition(found, completion, CONFIG);
}

fn condition(found: &mut Findings<'_>, completion: &Completion, at: &str) {
    let mut wrong = |pointer: String, message: &str, hint: &str| {
        found.error_in(In::Agent, Wrong, pointer, message, hint);
    };
    match completion {
        Completion::IterationBudget(budget) => {
            if budget.max_iterations == 0 {
                let message = "a flow is never complete before its first iteration";
                wrong(format!("{at}/maxIterations"), message, "write 1 or more");
            }
        }
        Completion::CheckBudget(budget) => {
            if budget.max_checks == 0 {
                let message = "a flow is never complete before its first check";
                wrong(format!("{at}/maxChecks"), message, "write 1 or more");
            }
        }
        Completion::KeywordSignal(signal) => {
            if signal.keywords.is_empty() {
                let message = "the list of words is empty, so the condition could never hold";
                wrong(
                    format!("{at}/keywords"),
                    message,
                    "add a word that the agent writes",
                );
            }
            for (index, word) in signal.keywords.iter().enumerate() {
                if word.trim().is_empty() {
                    let message = "a blank word is in every text";
                    wrong(format!("{at}/keywords/{index}"), message, "write a word");
                }
            }
        }
        Completion::StructuredSignal(signal) => {
            if signal.signal.trim().is_empty() {
                let message = "the signal has no name";
                wrong(format!("{at}/signal"), message, "write one, like \"done\"");
            }
        }
        Completion::PhaseCompletion(phases) => {
            if phases.terminal_phases.is_empty() {
                let message = "the list of phases is empty, so the condition could never hold";
                wrong(
                    format!("{at}/terminalPhases"),
                    message,
                    "add the phase of a step",
                );
            }
        }
        Completion::ExternalState(state) => match &state.source {
            ExternalStateSource::Command(command) => {
                if command
                    .command
                    .first()
                    .is_none_or(|it| it.trim().is_empty())
                {
                    let hint = "write a program with its arguments, like [\"./is-done.sh\"]";
                    wrong(format!("{at}/source/command"), "the command is empty", hint);
                }
                if command.timeout_seconds == 0 {
                    let pointer = format!("{at}/source/timeoutSeconds");
                    wrong(
                        pointer,
                        "the timeout of the command is 0",
                        "write 1 or more",
                    );
                }
            }
            ExternalStateSource::Named(state) => {
                if state.name.trim().is_empty() {
                    let hint = "write the name under which the program registers it";
                    wrong(format!("{at}/source/name"), "the name is blank", hint);
                }
            }
        },
        Completion::Composite(composite) => conditions(found, composite, at),
        // Nothing in them can be wrong; a custom condition checks itself when it is built.
        Completion::StepMachine(_) | Completion::Deliverables(_) | Completion::Custom(_) => {}
    }
}

fn conditions(found: &mut Findings<'_>, composite: &Composite, at: &str) {
    let at = format!("{at}/conditions");
    if composite.conditions.is_empty() {
        let message = "the list of conditions is empty";
        found.error_in(
            In::Agent,
            Wrong,
            at.clone(),
            message,
            "add one or more conditions",
        );
    }
    let mut names = BTreeSet::new();
    for (index, part) in composite.conditions.iter().enumerate() {
        let at = format!("{at}/{index}");
        if part.name.trim().is_empty() {
            let message = "the name of the condition is blank";
            found.error_in(
                In::Agent,
                Wrong,
                format!("{at}/name"),
                message,
                "write a name, or remove it",
            );
        } else if !names.insert(&part.name) {
            let message = format!("two conditions are named `{}`", part.name);
            let hint = "give each condition its own `name`, under which its state is reported";
            found.error_in(In::Agent, Wrong, at.clone(), message, hint);
        }
        condition(found, &part.completion, &format!("{at}/config"));
    }
}
