//! Document of a run in the live view: the sections of the report, and the log.

use autonoe_core::run::RunLimits;
use autonoe_core::time::format_duration;
use maud::{DOCTYPE, Markup, html};

use super::format::{money, thousands, total};
use super::untrusted_text::{foreign, inline};
use super::{Facts, charts, deliverables, denied, head, ledger_changes, sessions, time_line};

/// Renders the document. The page of the live view copies the elements with `data-part`, and
/// replaces those that changed.
pub(crate) fn live_document<'l>(
    facts: &Facts,
    limits: Option<&RunLimits>,
    log: impl Iterator<Item = &'l String>,
) -> String {
    let parts: [(&str, Markup); 10] = [
        ("banner", head::banner(facts)),
        ("tiles", head::tiles(facts)),
        ("budget", budget(facts, limits)),
        ("deliverables", deliverables::section(facts)),
        ("time-line", time_line::section(facts)),
        (
            "charts",
            html! { div.pair { (charts::cost(facts)) (charts::deliverables(facts)) } },
        ),
        ("sessions", sessions::section(facts)),
        ("ledger", ledger_changes::section(facts)),
        ("denied", denied::section(facts)),
        ("log", log_section(log)),
    ];
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { (inline(&facts.project)) }
            }
            body { @for (name, part) in parts { div data-part=(name) { (part) } } }
        }
    };
    markup.into_string()
}

/// Renders the spent part of each limit of the budget. Running sessions are not included, because
/// their cost is unknown until they end.
fn budget(facts: &Facts, limits: Option<&RunLimits>) -> Markup {
    let timeline = &facts.timeline;
    let budget = limits.map(|limits| limits.budget).unwrap_or_default();
    let spent = timeline.cost.last().map(|point| point.total);
    let tokens: u64 = timeline
        .sessions
        .iter()
        .filter_map(|session| session.result.as_ref())
        .map(|result| result.tokens.total())
        .sum();
    html! {
        section.panel aria-labelledby="budget" {
            h2 #budget { "Budget" }
            @if budget == autonoe_core::agent::Budget::default() {
                p.muted { "No limit is set." }
            } @else {
                ul {
                    @if let Some(limit) = budget.cost_usd {
                        li { "Cost: " (total(spent.unwrap_or_default())) " of " (money(limit)) }
                    }
                    @if let Some(limit) = budget.tokens {
                        li { "Tokens: " (thousands(tokens)) " of " (thousands(limit)) }
                    }
                    @if let Some(limit) = budget.time {
                        li { "Time: at most " (format_duration(limit)) }
                    }
                }
            }
            p.muted { "The cost and the tokens of a running session are added when it ends." }
        }
    }
}

fn log_section<'l>(log: impl Iterator<Item = &'l String>) -> Markup {
    html! {
        section.panel aria-labelledby="log" {
            h2 #log { "Log" }
            pre role="region" aria-labelledby="log" tabindex="0" {
                @for line in log { (foreign(line)) "\n" }
            }
        }
    }
}
