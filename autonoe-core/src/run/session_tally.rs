//! What is counted while a session runs.

use std::time::Duration;

use crate::domain::excerpt::LONGEST_TEXT;
use crate::domain::{
    Activity, AgentSessionId, Budget, BudgetKind, CostTotal, CostUsd, SessionEnd, SessionResult,
    Spent, StreamEvent, TokenUsage,
};

/// What is counted while a session runs.
#[derive(Debug, Default)]
pub(super) struct SessionTally {
    active: bool,
    agent_session: Option<AgentSessionId>,
    tokens: TokenUsage,
    reported: CostTotal,
    reports: u32,
    final_cost: Option<CostUsd>,
}

impl SessionTally {
    /// Counts `event`.
    pub(super) fn note(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Started { session, .. } => {
                // A longer one would not fit where the result is kept and sent.
                let fits = session.as_str().len() <= LONGEST_TEXT;
                self.agent_session = fits.then(|| session.clone());
            }
            StreamEvent::Text { text, .. } => self.active |= !text.trim().is_empty(),
            StreamEvent::ToolInvocation { .. } => self.active = true,
            StreamEvent::Usage { tokens, cost, .. } => {
                self.tokens += *tokens;
                self.reported.add(*cost);
                self.reports += 1;
            }
            StreamEvent::End { cost, .. } => self.final_cost = *cost,
            StreamEvent::Thinking { .. }
            | StreamEvent::ToolResponse { .. }
            | StreamEvent::RateLimit { .. }
            | StreamEvent::Warning { .. } => {}
        }
    }

    /// Returns the limit of `budget` that is reached, time left aside.
    pub(super) fn spent(&self, budget: &Budget) -> Option<BudgetKind> {
        // With no report yet, nothing is known to be spent; a budget of zero
        // never gets as far as a session.
        if self.reports == 0 {
            return None;
        }
        let spent = Spent {
            cost: self.reported,
            tokens: self.tokens,
            time: Duration::ZERO,
        };
        Budget {
            time: None,
            ..*budget
        }
        .exhausted(&spent)
    }

    /// Sums up.
    pub(super) fn into_result(self, end: SessionEnd, duration: Duration) -> SessionResult {
        SessionResult {
            cost: self.cost(&end),
            tokens: self.tokens,
            duration,
            activity: if self.active {
                Activity::Some
            } else {
                Activity::None
            },
            agent_session: self.agent_session,
            ..SessionResult::new(end)
        }
    }

    /// The cost is the one that the end told, else the sum of the reports. That
    /// sum is only a lower bound if a report had no price or the session broke
    /// off before it could tell all.
    fn cost(&self, end: &SessionEnd) -> CostTotal {
        match self.final_cost {
            Some(cost) => CostTotal::known(cost),
            None if self.reports == 0 => CostTotal::unknown(),
            None => match (self.reported.exact(), end) {
                (Some(cost), SessionEnd::Outcome(_)) => CostTotal::known(cost),
                _ => CostTotal::at_least(self.reported.known_usd),
            },
        }
    }
}
