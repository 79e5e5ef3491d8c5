//! What is said about a command.

use autonoe_core::{Denial, Explanation, Finding, Layer};
use schemars::JsonSchema;
use serde::Serialize;

use super::underline::underlined;
use crate::columns::columns;
use crate::present::shorten;

/// What `autonoe check --json` prints about a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer<'a> {
    /// The command, as it was given.
    command: &'a str,
    /// Whether it may run.
    allowed: bool,
    /// Why not; the spans in it count bytes of the command.
    denial: Option<&'a Denial>,
    /// Every simple command that was found.
    commands: &'a [Finding],
}

/// What is printed about a line that is no command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Unanswered {
    /// What is wrong with the line, for people.
    pub(super) error: String,
}

/// What `autonoe check` prints about a line of standard input.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LineAnswer<'a> {
    /// It is a command.
    Answer(Answer<'a>),
    /// It is none.
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

/// Says for people whether a command may run, and why not.
pub(super) fn shown(command: &str, found: &Explanation) -> String {
    let Some(denial) = found.verdict.denial() else {
        return format!("allowed{}\n", names(&found.commands));
    };
    let mut text = format!("denied: {}\n\n", shorten(&denial.reason));
    text.push_str(&underlined(command, denial.span.as_ref()));
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
        text.push_str("\nThere is more in it that may not run:\n");
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
        Layer::Grammar => "grammar: what is not understood as Bash does not run",
        Layer::Baseline => "baseline: it holds for every project",
        Layer::Profile => "profile: the languages of the project",
        Layer::Mode => "mode: what a run or a sync is for",
        Layer::User => "user: what agent.json or an option says",
        _ => "another one",
    }
}

/// Lists the commands that were found, so that a person sees what was judged.
fn names(found: &[Finding]) -> String {
    let names: Vec<_> = found
        .iter()
        .filter_map(|finding| finding.name.as_deref())
        .map(shorten)
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(": {}", names.join(", ")),
    }
}
