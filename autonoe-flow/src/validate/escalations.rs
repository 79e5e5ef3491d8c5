//! Validates escalations and their receivers.

use super::findings::Findings;
use crate::definition::{AfterFailure, NotificationMethod, Step, StepEscalation, StepId, StepType};
use crate::escalation::address_problem;
use crate::finding::FindingKind::{Escalation as Wrong, NeverUsed, UnknownStep, WebhookUrl};
use autonoe_core::project::config_parts::did_you_mean;

pub(super) fn check(found: &mut Findings<'_>) {
    for (id, step, at) in found.steps() {
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
            found.error(NeverUsed, at.clone(), message, hint);
        }
        let pointer = format!("{at}/escalateTo");
        match escalation.notification_method {
            NotificationMethod::InAgent => to_step(found, id, &escalation.escalate_to, pointer),
            NotificationMethod::Webhook => {
                if let Some(problem) = address_problem(&escalation.escalate_to) {
                    let hint = "use an address like https://example.com/hooks/flow";
                    found.error(WebhookUrl, pointer, problem, hint);
                }
            }
            NotificationMethod::Log => {
                if escalation.escalate_to.trim().is_empty() {
                    let message = "the receiver is blank";
                    found.error(
                        Wrong,
                        pointer,
                        message,
                        "write a name for the log, like `maintainer`",
                    );
                }
            }
        }
        signing_key(found, escalation, &at);
    }
}

fn to_step(found: &mut Findings<'_>, id: &StepId, name: &str, pointer: String) {
    let known = found.registry.steps.get_key_value(name);
    match known.map(|(known, step)| (known, step.step_type())) {
        Some((known, _)) if known == id => {
            let message = format!("the step `{id}` is escalated to itself");
            let hint = "to retry the step, write `\"retry\": true`";
            found.error(Wrong, pointer, message, hint);
        }
        Some((_, StepType::Normal)) => {}
        Some((_, StepType::Gateway | StepType::SubStep)) => {
            let message = format!("the step `{name}` is not a normal step");
            let hint = "escalate to a step with a prompt of its own";
            found.error(Wrong, pointer, message, hint);
        }
        None => {
            let message = format!("there is no step `{name}`");
            let is_address = name.contains("://");
            let hint = if is_address {
                "to notify a service, write `\"notificationMethod\": \"webhook\"`".to_owned()
            } else {
                did_you_mean(name, found.ids())
            };
            found.error(UnknownStep, pointer, message, hint);
        }
    }
}

fn signing_key(found: &mut Findings<'_>, escalation: &StepEscalation, at: &str) {
    let Some(name) = &escalation.signing_key else {
        return;
    };
    let pointer = format!("{at}/signingKey");
    if escalation.notification_method != NotificationMethod::Webhook {
        let message = "only notifications of a webhook are signed";
        found.error(NeverUsed, pointer, message, "remove it");
    } else if name.trim().is_empty() {
        let message = "the name of the key is blank";
        found.error(
            Wrong,
            pointer,
            message,
            "write the name of a key that the program receives at its start",
        );
    }
}
