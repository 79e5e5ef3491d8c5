//! [`SpentBudget`], the limits and the usage of a run, rendered as a section of its report.

use autonoe_core::Budget;
use autonoe_core::agent::BudgetUsage;
use autonoe_core::time::format_duration;
use maud::{Markup, html};

use super::format::{money, thousands, total};

/// The limits and the usage of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpentBudget {
    pub(crate) limits: Budget,
    pub(crate) usage: BudgetUsage,
}

/// Renders the usage of each limit. `budget` is `None` if the limits are unknown.
pub(super) fn section(budget: Option<&SpentBudget>) -> Markup {
    html! {
        section.panel aria-labelledby="budget" {
            h2 #budget { "Budget" }
            @match budget {
                None => { p.muted { "This page does not show the limits of a flow." } }
                Some(budget) if budget.limits == Budget::default() => {
                    p.muted { "No limit is set." }
                }
                Some(SpentBudget { limits, usage }) => {
                    ul {
                        @if let Some(limit) = limits.cost_usd {
                            li { "Cost: " (total(usage.cost)) " of " (money(limit)) }
                        }
                        @if let Some(limit) = limits.tokens {
                            li {
                                "Tokens: " (thousands(usage.tokens.total())) " of "
                                (thousands(limit))
                            }
                        }
                        @if let Some(limit) = limits.time {
                            li {
                                "Time: " (format_duration(usage.time)) " of "
                                (format_duration(limit))
                            }
                        }
                    }
                    // Its cost is unknown until it ends.
                    p.muted { "The cost and the tokens of a running session are added when it ends." }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use autonoe_core::CostUsd;
    use autonoe_core::agent::CostTotal;

    use super::*;

    #[test]
    fn each_limit_has_its_spent_part() {
        let limits = Budget {
            cost_usd: Some(CostUsd::from_cents(500)),
            tokens: Some(20_000),
            time: Some(Duration::from_secs(5400)),
        };
        let usage = BudgetUsage {
            cost: CostTotal::known(CostUsd::from_cents(125)),
            time: Duration::from_secs(754),
            ..BudgetUsage::default()
        };

        let page = section(Some(&SpentBudget { limits, usage })).into_string();

        for expected in [
            "Cost: $1.25 of $5.00",
            "Tokens: 0 of 20",
            "Time: 12m 34s of 1h 30m",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }

    #[test]
    fn missing_and_unknown_limits_are_distinguished() {
        let (limits, usage) = (Budget::default(), BudgetUsage::default());

        let without_limits = section(Some(&SpentBudget { limits, usage })).into_string();
        let flow = section(None).into_string();

        assert!(
            without_limits.contains("No limit is set."),
            "{without_limits}"
        );
        assert!(!flow.contains("No limit is set."), "{flow}");
    }
}
