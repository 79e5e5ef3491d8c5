//! Output of `autonoe check`, as text and as JSON.

use autonoe_app::text::shorten;
use autonoe_core::gate::policy::{Denial, Explanation, Finding, Layer};
use schemars::JsonSchema;
use serde::Serialize;

use super::underline::underline;
use crate::columns::columns;

/// Output of `autonoe check --json` for a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer<'a> {
    /// The command.
    command: &'a str,
    /// Whether it may run.
    allowed: bool,
    /// Reason for the denial. Spans are byte offsets in the command.
    denial: Option<&'a Denial>,
    /// Every simple command that was found.
    commands: &'a [Finding],
}

/// The answer to a line that is not a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Unanswered {
    /// Reason why the line is invalid.
    pub(super) error: String,
}

/// Output of `autonoe check` for a line of standard input.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LineAnswer<'a> {
    /// A command.
    Answer(Answer<'a>),
    /// Not a command.
    Unanswered(Unanswered),
}

impl<'a> Answer<'a> {
    pub(super) fn new(command: &'a str, found: &'a Explanation) -> Self {
        Self {
            command,
            allowed: found.verdict.is_allowed(),
            denial: found.verdict.denial(),
            commands: &found.commands,
        }
    }
}

/// Formats the verdict on a command and the reason for a denial, as text.
pub(super) fn format_verdict(command: &str, found: &Explanation) -> String {
    let Some(denial) = found.verdict.denial() else {
        return format!("allowed{}\n", names(&found.commands));
    };
    let mut text = format!("denied: {}\n\n", shorten(&denial.reason));
    text.push_str(&underline(command, denial.span.as_ref()));
    text.push('\n');
    text.push_str(&columns(2, &details(denial)));
    let others = found.commands.iter();
    let others: Vec<_> = others
        .filter_map(|finding| finding.verdict.denial())
        .filter(|other| *other != denial)
        .map(|other| {
            [format!(
                "- {} (rule {})",
                shorten(&other.reason),
                other.rule
            )]
        })
        .collect();
    if !others.is_empty() {
        text.push_str("\nOther denied parts of the command:\n");
        text.push_str(&columns(2, &others));
    }
    text
}

fn details(denial: &Denial) -> Vec<[String; 2]> {
    let rule = match &*denial.code {
        "" => denial.rule.to_string(),
        code => format!("{} ({code})", denial.rule),
    };
    let mut rows = vec![("rule", rule), ("layer", layer(denial.layer).to_owned())];
    rows.extend(denial.why.as_deref().map(|why| ("because", shorten(why))));
    let instead = denial.instead.as_deref();
    rows.extend(instead.map(|instead| ("instead", shorten(instead))));
    let remedy = denial.remedy.as_deref();
    rows.extend(remedy.map(|remedy| ("to allow it", shorten(remedy))));
    let rows = rows.into_iter();
    rows.map(|(name, value)| [name.to_owned(), value]).collect()
}

fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Grammar => "grammar: a command that cannot be parsed as Bash is denied",
        Layer::Baseline => "baseline: applies to every project",
        Layer::Profile => "profile: the languages of the project",
        Layer::Mode => "mode: restrictions of a run or a sync",
        Layer::User => "user: agent.json or a command-line option",
        _ => "unknown",
    }
}

/// Lists the names of the simple commands that were judged.
fn names(found: &[Finding]) -> String {
    let names: Vec<_> = found
        .iter()
        .filter_map(|finding| finding.name.as_deref())
        .map(shorten)
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(": {}", names.join(", "))
    }
}
