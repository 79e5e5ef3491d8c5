//! Validates escalations and their receivers.

use super::findings::Findings;
use super::steps::unknown_step;
use crate::definition::{AfterFailure, NotificationMethod, Step, StepEscalation, StepId};
use crate::escalation::address_problem;
use crate::finding::FindingKind::{Escalation as Wrong, NeverUsed, UnknownStep, WebhookUrl};

pub(super) fn check(findings: &mut Findings<'_>) {
    for (id, step, at) in findings.steps() {
        // The validation of sub-steps reports escalations of sub-steps.
        let Step::Normal(work) = step else {
            continue;
        };
        let Some(escalation) = &work.escalation else {
            continue;
        };
        let at = format!("{at}/escalation");
        if !matches!(work.plan().after_failure, AfterFailure::Escalate(_)) {
            let message = "the step has a fallback, so its escalation is never used";
            let hint = "remove the escalation or the fallback";
            findings.error(NeverUsed, at.clone(), message, hint);
        }
        let pointer = format!("{at}/escalateTo");
        match escalation.notification_method {
            NotificationMethod::InAgent => to_step(findings, id, &escalation.escalate_to, pointer),
            NotificationMethod::Webhook => {
                if let Some(problem) = address_problem(&escalation.escalate_to) {
                    let hint = "use an address like https://example.com/hooks/flow";
                    findings.error(WebhookUrl, pointer, problem, hint);
                }
            }
            NotificationMethod::Log => {
                if escalation.escalate_to.trim().is_empty() {
                    let message = "the receiver is blank";
                    findings.error(
                        Wrong,
                        pointer,
                        message,
                        "write a name for the log, like `maintainer`",
                    );
                }
            }
        }
        signing_key(findings, escalation, &at);
    }
}

fn to_step(findings: &mut Findings<'_>, id: &StepId, name: &str, pointer: String) {
    match findings.registry.steps.get(name) {
        Some(_) if name == id.as_str() => {
            let message = format!("the step `{id}` is escalated to itself");
            let hint = "to retry the step, write `\"retry\": true`";
            findings.error(Wrong, pointer, message, hint);
        }
        Some(Step::Normal(_)) => {}
        Some(Step::Gateway(_) | Step::SubStep(_)) => {
            let message = format!("the step `{name}` is not a normal step");
            let hint = "escalate to a step with a prompt of its own";
            findings.error(Wrong, pointer, message, hint);
        }
        None if name.contains("://") => {
            let message = format!("there is no step `{name}`");
            let hint = "to notify a service, write `\"notificationMethod\": \"webhook\"`";
            findings.error(UnknownStep, pointer, message, hint);
        }
        None => unknown_step(findings, name, pointer),
    }
}

fn signing_key(findings: &mut Findings<'_>, escalation: &StepEscalation, at: &str) {
    let Some(name) = &escalation.signing_key else {
        return;
    };
    let pointer = format!("{at}/signingKey");
    if escalation.notification_method != NotificationMethod::Webhook {
        let message = "only notifications of a webhook are signed";
        findings.error(NeverUsed, pointer, message, "remove it");
    } else if name.trim().is_empty() {
        let message = "the name of the key is blank";
        findings.error(
            Wrong,
            pointer,
            message,
            "write the name of a key that the program receives at its start",
        );
    }
}
