//! A page about a run: one file of HTML that needs nothing else.
//!
//! Facts become markup here and nothing is decided. Markup is made by `maud`, which escapes
//! whatever is put into it; texts of agents and persons go through [`foreign`] besides.

mod charts;
mod deliverables;
mod denied;
mod facts;
mod figures;
mod foreign;
mod head;
mod ledger_changes;
mod scale;
mod sessions;
mod time_line;
mod words;

pub(crate) use facts::Facts;
pub(crate) use words::thousands;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use self::foreign::inline;

const STYLE: &str = include_str!("style.css");

/// Writes the page. The same facts give the same bytes.
pub(crate) fn page(facts: &Facts) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Nothing may be fetched, whatever stands in the page; no script runs.
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                // Without it, browsers ask a server for one.
                link rel="icon" href="data:,";
                title { (inline(&facts.project)) ": " (facts.standing.headline()) " · Autonoe" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                (head::banner(facts))
                main #main {
                    (head::tiles(facts))
                    (time_line::section(facts))
                    div.pair {
                        (charts::cost(facts))
                        (charts::deliverables(facts))
                    }
                    (sessions::section(facts))
                    (deliverables::section(facts))
                    (ledger_changes::section(facts))
                    (denied::section(facts))
                }
                (footer(facts))
            }
        }
    };
    markup.into_string()
}

fn footer(facts: &Facts) -> Markup {
    html! {
        footer {
            p {
                "Made by " code { "autonoe report" } " from the journal of run "
                code { (inline(facts.timeline.run.as_str())) } ". All times are UTC."
            }
        }
    }
}
