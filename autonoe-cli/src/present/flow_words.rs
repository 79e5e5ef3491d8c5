//! What a flow decides, in the words of people.

use autonoe_core::format_time;
use autonoe_flow::{FlowAction, FlowFact, FlowWait, PromptOrder, SessionChoice, StepId, StepTry};

use super::lines::{Level, Line};
use super::shorten::shorten;
use crate::error::whole;

/// Tells a flow fact by fact.
#[derive(Debug, Default)]
pub(crate) struct FlowWords {
    /// The step that is being checked or told about.
    step: Option<StepId>,
    /// Whether the last prompt was sent because of an escalation.
    escalates: bool,
}

impl FlowWords {
    /// Says what is to be said of a fact, and of what came of it where that is known.
    pub(crate) fn decided(&mut self, fact: &FlowFact, action: Option<&FlowAction>) -> Vec<Line> {
        let fact = told(fact, self.step.as_ref());
        self.step = match action {
            Some(FlowAction::Check(order)) => Some(order.at.step.clone()),
            Some(FlowAction::Notify(order)) => Some(order.step.clone()),
            _ => None,
        };
        let action = action.and_then(|action| self.comes(action));
        fact.into_iter().chain(action).collect()
    }

    fn comes(&mut self, action: &FlowAction) -> Option<Line> {
        match action {
            FlowAction::Prompt(order) => self.escalation(order),
            FlowAction::Notify(order) => {
                let why = shorten(&whole(&order.failure));
                let text = format!("Escalation of {}: {why}", order.step);
                Some(Line::new(Level::Warning, text))
            }
            FlowAction::Wait {
                reason: FlowWait::RateLimit | FlowWait::RateLimitBackoff,
                until,
            } => {
                let text = format!("Waits for the quota until {}", format_time(*until));
                Some(Line::new(Level::Info, text))
            }
            _ => None,
        }
    }

    /// Says that a step is run because another one failed, when that begins.
    fn escalation(&mut self, order: &PromptOrder) -> Option<Line> {
        let failure = order.variables.get("failure");
        let begins = failure.is_some() && !self.escalates;
        self.escalates = failure.is_some();
        let why = failure.filter(|_| begins)?;
        let text = format!("Escalation to {}: {}", order.at.step, shorten(why));
        Some(Line::new(Level::Warning, text))
    }
}

/// Says that a prompt is sent.
pub(crate) fn prompt_sent(at: &StepTry, session: &SessionChoice) -> Line {
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

/// Says what stays of a fact about `step`, which nobody may know any more.
fn told(fact: &FlowFact, step: Option<&StepId>) -> Option<Line> {
    let of_step = step.map(|step| format!(" of {step}")).unwrap_or_default();
    Some(match fact {
        FlowFact::Checked {
            verdict: Ok(verdict),
            ..
        } => {
            let (level, mark) = match verdict.passed {
                true => (Level::Good, "[PASS]"),
                false => (Level::Warning, "[FAIL]"),
            };
            let reason = verdict.reason.as_deref().map(shorten);
            let parts = step.map(ToString::to_string).into_iter().chain(reason);
            let parts: Vec<_> = parts.collect();
            let text = format!("{mark} {}", parts.join(": "));
            Line::new(level, text.trim_end())
        }
        FlowFact::Checked {
            verdict: Err(failure),
            ..
        } => {
            let step = step.map(|step| format!(" {step}")).unwrap_or_default();
            let why = shorten(&failure.to_string());
            let text = format!("The step{step} could not be checked: {why}");
            Line::new(Level::Warning, text)
        }
        FlowFact::Notified { result: Ok(()), .. } => {
            Line::new(Level::Info, format!("The failure{of_step} was told"))
        }
        FlowFact::Notified {
            result: Err(failure),
            ..
        } => {
            let why = shorten(&failure.to_string());
            let text = format!("The failure{of_step} was not told: {why}");
            Line::new(Level::Warning, text)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use autonoe_flow::{FlowErrorKind, FlowFailure};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_is_told_with_what_is_not_usual_about_it() {
        let same = SessionChoice::Continue(autonoe_core::AgentSessionId::new("1"));
        for (visit, retry, session, told) in [
            (1, 0, &SessionChoice::Fresh, "Step fix"),
            (2, 0, &SessionChoice::Fresh, "Step fix, visit 2"),
            (1, 1, &same, "Step fix, try 2, in the same conversation"),
        ] {
            let at = json!({"step": "fix", "visit": visit, "retry": retry});
            let at: StepTry = serde_json::from_value(at).expect("a try");

            assert_eq!(prompt_sent(&at, session).text, told);
        }
    }

    #[test]
    fn what_checks_and_services_said_is_told() {
        let step: StepId = "fix".parse().expect("an id");
        let at = jiff::Timestamp::UNIX_EPOCH;
        let failure = || FlowFailure::new(FlowErrorKind::StepCheck, "nobody judged");
        let checked = |verdict| FlowFact::Checked {
            at,
            verdict,
            spent: autonoe_flow::Expense::default(),
        };
        let verdict = |passed, reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            Ok(autonoe_flow::CheckVerdict { passed, reason })
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
                FlowFact::Notified { at, result: Ok(()) },
                "The failure of fix was told",
            ),
            (
                FlowFact::Notified {
                    at,
                    result: Err(failure()),
                },
                "The failure of fix was not told: nobody judged",
            ),
        ] {
            let line = told(&fact, Some(&step)).map(|line| line.text);
            assert_eq!(line.as_deref(), Some(expected));
        }
        assert_eq!(told(&FlowFact::WaitOver { at }, Some(&step)), None);
    }

    #[test]
    fn a_check_of_a_step_that_nobody_knows_any_more_is_told_without_its_name() {
        let verdict = autonoe_flow::CheckVerdict {
            passed: false,
            reason: Some("red".to_owned()),
        };
        let fact = FlowFact::Checked {
            at: jiff::Timestamp::UNIX_EPOCH,
            verdict: Ok(verdict),
            spent: autonoe_flow::Expense::default(),
        };

        let lines = FlowWords::default().decided(&fact, None);

        assert_eq!(lines[0].text, "[FAIL] red");
    }
}
