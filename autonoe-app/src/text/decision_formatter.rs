//! [`DecisionFormatter`]: formats the decisions of a flow for people.

use autonoe_core::time::format_time;
use autonoe_flow::machine::{FlowWait, PromptOrder, SessionChoice, StepAttempt};
use autonoe_flow::{FlowAction, FlowFact, StepId};

use super::lines::{Level, Line};
use super::sanitize::shorten;
use crate::error::error_chain;

/// Formats a flow fact by fact.
#[derive(Debug, Default)]
pub struct DecisionFormatter {
    /// The step that is being checked or escalated.
    step: Option<StepId>,
    /// Whether the last prompt was sent because of an escalation.
    escalates: bool,
}

impl DecisionFormatter {
    /// Formats a fact, and the action that followed it, if that is known.
    pub fn format(&mut self, fact: &FlowFact, action: Option<&FlowAction>) -> Vec<Line> {
        let fact = format_fact(fact, self.step.as_ref());
        self.step = match action {
            Some(FlowAction::Check(order)) => Some(order.at.step.clone()),
            Some(FlowAction::Notify(order)) => Some(order.step.clone()),
            _ => None,
        };
        let action = action.and_then(|action| self.format_action(action));
        fact.into_iter().chain(action).collect()
    }

    fn format_action(&mut self, action: &FlowAction) -> Option<Line> {
        match action {
            FlowAction::Prompt(order) => self.escalation(order),
            FlowAction::Notify(order) => {
                let reason = shorten(&error_chain(&order.failure));
                let text = format!("Escalation of {}: {reason}", order.step);
                Some(Line::new(Level::Warning, text))
            }
            FlowAction::Wait {
                reason: FlowWait::RateLimit | FlowWait::RateLimitBackoff,
                until,
            } => {
                let text = format!("Waiting for the quota until {}", format_time(*until));
                Some(Line::new(Level::Info, text))
            }
            _ => None,
        }
    }

    /// Formats the start of an escalation step.
    fn escalation(&mut self, order: &PromptOrder) -> Option<Line> {
        let failure = order.variables.get("failure");
        let begins = failure.is_some() && !self.escalates;
        self.escalates = failure.is_some();
        let reason = failure.filter(|_| begins)?;
        let text = format!("Escalation to {}: {}", order.at.step, shorten(reason));
        Some(Line::new(Level::Warning, text))
    }
}

/// Formats that a prompt is sent.
pub fn prompt_sent(at: &StepAttempt, session: &SessionChoice) -> Line {
    let mut parts = vec![format!("Step {}", at.step)];
    if at.visit > 1 {
        parts.push(format!("visit {}", at.visit));
    }
    if at.retry > 0 {
        parts.push(format!("try {}", at.retry.saturating_add(1)));
    }
    if let SessionChoice::Continue(_) = session {
        parts.push("in the same conversation".to_owned());
    }
    Line::new(Level::Info, parts.join(", "))
}

/// Formats a fact about `step`, which may be unknown.
fn format_fact(fact: &FlowFact, step: Option<&StepId>) -> Option<Line> {
    let of_step = step.map(|step| format!(" of {step}")).unwrap_or_default();
    Some(match fact {
        FlowFact::Checked {
            verdict: Ok(verdict),
            ..
        } => {
            let (level, mark) = if verdict.passed {
                (Level::Good, "[PASS]")
            } else {
                (Level::Warning, "[FAIL]")
            };
            let reason = verdict.reason.as_deref().map(shorten);
            let parts: Vec<_> = step
                .map(ToString::to_string)
                .into_iter()
                .chain(reason)
                .collect();
            let text = format!("{mark} {}", parts.join(": "));
            Line::new(level, text.trim_end())
        }
        FlowFact::Checked {
            verdict: Err(failure),
            ..
        } => {
            let step = step.map(|step| format!(" {step}")).unwrap_or_default();
            let reason = shorten(&failure.to_string());
            let text = format!("The step{step} could not be checked: {reason}");
            Line::new(Level::Warning, text)
        }
        FlowFact::ConversationLost { failure, .. } => {
            let reason = shorten(&failure.to_string());
            let text = format!("A new conversation starts, because the last one is lost: {reason}");
            Line::new(Level::Warning, text)
        }
        FlowFact::Notified { result: Ok(()), .. } => {
            Line::new(Level::Info, format!("The failure{of_step} was reported"))
        }
        FlowFact::Notified {
            result: Err(failure),
            ..
        } => {
            let reason = shorten(&failure.to_string());
            let text = format!("The failure{of_step} was not reported: {reason}");
            Line::new(Level::Warning, text)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use autonoe_flow::FlowErrorKind;
    use autonoe_flow::machine::FlowFailure;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_is_formatted_with_its_visit_retry_and_conversation() {
        let same = SessionChoice::Continue(autonoe_core::time::AgentSessionId::new("1"));
        for (visit, retry, session, expected) in [
            (1, 0, &SessionChoice::Fresh, "Step fix"),
            (2, 0, &SessionChoice::Fresh, "Step fix, visit 2"),
            (1, 1, &same, "Step fix, try 2, in the same conversation"),
        ] {
            let at = json!({"step": "fix", "visit": visit, "retry": retry});
            let at: StepAttempt = serde_json::from_value(at).expect("a try");

            assert_eq!(prompt_sent(&at, session).text, expected);
        }
    }

    #[test]
    fn results_of_checks_and_notifications_are_formatted() {
        let step: StepId = "fix".parse().expect("an id");
        let at = jiff::Timestamp::UNIX_EPOCH;
        let failure = || FlowFailure::new(FlowErrorKind::StepCheck, "nobody judged");
        let checked = |verdict| FlowFact::Checked {
            at,
            verdict,
            spent: autonoe_flow::machine::SessionUsage::default(),
        };
        let verdict = |passed, reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            Ok(autonoe_flow::machine::CheckVerdict { passed, reason })
        };
        for (fact, expected) in [
            (checked(verdict(true, None)), "[PASS] fix"),
            (
                checked(verdict(false, Some("red\nred"))),
                "[FAIL] fix: red⏎red",
            ),
            (
                checked(Err(failure())),
                "The step fix could not be checked: nobody judged",
            ),
            (
                FlowFact::ConversationLost {
                    at,
                    iteration: 2,
                    failure: failure(),
                    spent: autonoe_flow::machine::SessionUsage::default(),
                },
                "A new conversation starts, because the last one is lost: nobody judged",
            ),
            (
                FlowFact::Notified { at, result: Ok(()) },
                "The failure of fix was reported",
            ),
            (
                FlowFact::Notified {
                    at,
                    result: Err(failure()),
                },
                "The failure of fix was not reported: nobody judged",
            ),
        ] {
            let line = format_fact(&fact, Some(&step)).map(|line| line.text);
            assert_eq!(line.as_deref(), Some(expected));
        }
        assert_eq!(format_fact(&FlowFact::WaitOver { at }, Some(&step)), None);
    }

    #[test]
    fn a_check_of_an_unknown_step_is_formatted_without_its_name() {
        let verdict = autonoe_flow::machine::CheckVerdict {
            passed: false,
            reason: Some("red".to_owned()),
        };
        let fact = FlowFact::Checked {
            at: jiff::Timestamp::UNIX_EPOCH,
            verdict: Ok(verdict),
            spent: autonoe_flow::machine::SessionUsage::default(),
        };

        let lines = DecisionFormatter::default().format(&fact, None);

        assert_eq!(lines[0].text, "[FAIL] red");
    }
}
