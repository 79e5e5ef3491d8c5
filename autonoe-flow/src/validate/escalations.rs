//! Escalations: who is told, and whether they are there.

use super::findings::Findings;
use crate::definition::{AfterFailure, Escalation, NotificationMethod, Step, StepId, StepType};
use crate::finding::FindingKind::{Escalation as Wrong, NeverUsed, UnknownStep, WebhookUrl};
use crate::suggest::did_you_mean;

pub(super) fn check(found: &mut Findings<'_>) {
    for (id, step, at) in found.steps() {
        // That a sub-step is not escalated is told of sub-steps.
        let Step::Normal(work) = step else {
            continue;
        };
        let Some(escalation) = &work.escalation else {
            continue;
        };
        let at = format!("{at}/escalation");
        if !matches!(work.plan().after_failure, AfterFailure::Escalate(_)) {
            let message = "the step goes elsewhere when it failed, and is never escalated";
            let hint = "leave the escalation out, or the fallback";
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
                    let message = "nobody is named";
                    found.error(Wrong, pointer, message, "write who should read it");
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
            let hint = "to try it again, write `\"retry\": true`";
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
            let hint = match is_address {
                true => "to tell a service, write `\"notificationMethod\": \"webhook\"`".to_owned(),
                false => did_you_mean(name, found.ids()),
            };
            found.error(UnknownStep, pointer, message, hint);
        }
    }
}

fn signing_key(found: &mut Findings<'_>, escalation: &Escalation, at: &str) {
    let Some(name) = &escalation.signing_key else {
        return;
    };
    let pointer = format!("{at}/signingKey");
    if escalation.notification_method != NotificationMethod::Webhook {
        let message = "only what a webhook is told is signed";
        found.error(NeverUsed, pointer, message, "leave it out");
    } else if name.trim().is_empty() {
        let message = "the name of the key is blank";
        found.error(
            Wrong,
            pointer,
            message,
            "name a key that is given at the start",
        );
    }
}

/// Says what is wrong with the address of a webhook.
///
/// Plain `http` is for this machine alone: what is told elsewhere is not for
/// everybody to read.
fn address_problem(address: &str) -> Option<String> {
    let told = |problem: &str| Some(format!("{address:?}: {problem}"));
    let Some((scheme, rest)) = address.split_once("://") else {
        return told("there is no https://");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "\\\"<>`{}|^".contains(c);
    if address.contains(is_odd) {
        return told("there is a character that no address has");
    }
    if authority.contains('@') {
        return Some("there is a name or a password in the address".to_owned());
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() {
        return told("there is no host");
    }
    if port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
        return told("there is no fit port");
    }
    match scheme {
        "https" => None,
        "http" if matches!(host, "localhost" | "127.0.0.1" | "[::1]") => None,
        "http" => told("plain http is only for this machine"),
        _ => told("the scheme is neither https nor http"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_on_this_machine() {
        for fine in [
            "https://example.com",
            "https://example.com:8443/hooks?x=1#y",
            "http://localhost:9000/hook",
            "http://127.0.0.1:1/",
            "http://[::1]:80/a",
            "https://[2001:db8::1]/a",
        ] {
            assert_eq!(address_problem(fine), None, "{fine}");
        }
        for wrong in [
            "",
            "example.com/hook",
            "ftp://example.com",
            "http://example.com/hook",
            "http://localhost.example.com/",
            "http://127.0.0.1@example.com/",
            "https://",
            "https:///hook",
            "https://example.com:0/",
            "https://example.com:http/",
            "https://user:secret@example.com/",
            "https://exa mple.com/",
            "https://example.com/{id}",
        ] {
            assert!(address_problem(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_not_repeated() {
        let problem = address_problem("https://user:secret@example.com/").expect("wrong");

        assert!(!problem.contains("secret"), "{problem}");
    }
}
