//! What of a flow stays on the screen, beside what its sessions do.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_flow::{FlowAction, FlowEvent, FlowFact, FlowObserver, SessionChoice, StepId, StepTry};

use super::Presenter;
use super::lines::{Level, Line};
use super::shorten::shorten;

/// Shows a person where a flow is and what its checks find.
#[derive(Debug)]
pub(crate) struct FlowLines {
    presenter: Arc<Presenter>,
    /// The step that is being checked or told about.
    step: Mutex<Option<StepId>>,
}

impl FlowLines {
    pub(crate) fn new(presenter: Arc<Presenter>) -> Self {
        Self {
            presenter,
            step: Mutex::default(),
        }
    }
}

impl FlowObserver for FlowLines {
    fn observe(&self, event: &FlowEvent<'_>) {
        let mut step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            FlowEvent::PromptSent { at, session, .. } => {
                self.presenter.stays(Some(prompt_sent(at, session)));
            }
            FlowEvent::Decided { fact, action } => {
                self.presenter.stays(decided(fact, step.as_ref()));
                *step = match action {
                    FlowAction::Check(order) => Some(order.at.step.clone()),
                    FlowAction::Notify(order) => Some(order.step.clone()),
                    _ => None,
                };
            }
            // The prompt itself is warned of where it is read.
            _ => {}
        }
    }
}

fn prompt_sent(at: &StepTry, session: &SessionChoice) -> Line {
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

/// Says what stays of a fact about `step`.
fn decided(fact: &FlowFact, step: Option<&StepId>) -> Option<Line> {
    let step = step?;
    match fact {
        FlowFact::Checked {
            verdict: Ok(verdict),
            ..
        } => {
            let (level, mark) = match verdict.passed {
                true => (Level::Good, "[PASS]"),
                false => (Level::Warning, "[FAIL]"),
            };
            let reason = verdict.reason.as_deref().map(shorten).unwrap_or_default();
            let text = format!("{mark} {step}: {reason}");
            Some(Line::new(level, text.trim_end_matches(": ")))
        }
        FlowFact::Checked {
            verdict: Err(failure),
            ..
        } => {
            let text = format!(
                "The step {step} could not be checked: {}",
                shorten(&failure.to_string())
            );
            Some(Line::new(Level::Warning, text))
        }
        FlowFact::Notified { result: Ok(()), .. } => {
            let text = format!("The failure of {step} was told");
            Some(Line::new(Level::Info, text))
        }
        FlowFact::Notified {
            result: Err(failure),
            ..
        } => {
            let why = shorten(&failure.to_string());
            let text = format!("The failure of {step} was not told: {why}");
            Some(Line::new(Level::Warning, text))
        }
        _ => None,
    }
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
        for (fact, told) in [
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
            let line = decided(&fact, Some(&step)).map(|line| line.text);
            assert_eq!(line.as_deref(), Some(told));
        }
        assert_eq!(decided(&FlowFact::WaitOver { at }, Some(&step)), None);
    }
}
