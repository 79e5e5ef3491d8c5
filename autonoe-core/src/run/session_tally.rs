//! [`SessionTally`], the counters of a running session.

use std::time::Duration;

use crate::agent::{
    Activity, Budget, BudgetKind, BudgetUsage, CostTotal, CostUsd, SessionEnd, SessionReport,
    StreamEvent, TokenUsage,
};
use crate::text::excerpt::MAX_TEXT_LEN;
use crate::time::AgentSessionId;

/// The counters of a running session.
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
                // A longer ID would not fit into the stored result.
                let fits = session.as_str().len() <= MAX_TEXT_LEN;
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

    /// Returns the limit of `budget` that is reached, ignoring time.
    pub(super) fn spent(&self, budget: &Budget) -> Option<BudgetKind> {
        // Without a report, no spending is known; a session with a budget of zero never starts.
        if self.reports == 0 {
            return None;
        }
        let spent = BudgetUsage {
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

    /// Returns the totals as the result of the session.
    pub(super) fn into_result(self, end: SessionEnd, duration: Duration) -> SessionReport {
        SessionReport {
            cost: self.cost(&end),
            tokens: self.tokens,
            duration,
            activity: if self.active {
                Activity::Some
            } else {
                Activity::None
            },
            agent_session: self.agent_session,
            ..SessionReport::new(end)
        }
    }

    /// Returns the cost of the final event, or else the sum of the reports. That sum is only a
    /// lower bound if a report had no price or the session was interrupted before its last report.
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
