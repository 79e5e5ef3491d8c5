//! Suite for a validator that wraps another one and must not allow more.

use std::collections::HashSet;
use std::sync::Arc;

use autonoe_core::gate::policy::{BashSecurity, Verdict};
use autonoe_security::corpus;
use serde::Deserialize;

use super::texts::{Text, hostile, not_bash};
use super::{Answer, LIMIT, flaw_of, start_judging};
use crate::conformance::checks::{Checks, Conformance, Flaw};

/// Checks that `wrapped`, a validator around `base`, never allows what `base` denies.
///
/// Both judge every command of the public corpus, some of them nested in other commands, and
/// hostile texts. A custom rule that is added with [`BashSecurity::and`] passes.
///
/// ```no_run
/// use autonoe_core::gate::policy::{
///     BashSecurity, BashValidator, Denial, Layer, Policy, PolicyConfig, Verdict,
/// };
/// use autonoe_testkit::conformance;
///
/// let policy = BashValidator::new(Policy::new("/srv/project", PolicyConfig::default())?);
/// let short = |command: &str| match command.len() > 2_000 {
///     true => Verdict::Deny(Denial::new("short", Layer::User, "write a script instead")),
///     false => Verdict::Allow,
/// };
///
/// conformance::bash_stricter(policy.clone(), policy.and(short)).assert();
/// # Ok::<(), autonoe_core::gate::policy::PolicyError>(())
/// ```
pub fn bash_stricter(
    base: impl BashSecurity + 'static,
    wrapped: impl BashSecurity + 'static,
) -> Conformance {
    let base: Arc<dyn BashSecurity> = Arc::new(base);
    let wrapped: Arc<dyn BashSecurity> = Arc::new(wrapped);
    let mut checks = Checks::new("stricter bash security");
    for (name, texts) in [
        ("the corpus", of_corpus()),
        ("commands inside other commands", nested()),
        ("hostile texts", [hostile(), not_bash()].concat()),
    ] {
        let (base, judged) = (
            start_judging(&base, &texts),
            start_judging(&wrapped, &texts),
        );
        let (base, judged) = (base.answers(), judged.answers());
        let answers = || texts.iter().zip(&judged);
        checks.each(
            &format!("{name}: a command that the inner validator denies is denied"),
            answers().zip(&base),
            |((text, answer), base)| match (base, answer) {
                (Answer::Verdict(Verdict::Deny(denial)), Answer::Verdict(Verdict::Allow)) => {
                    let problem =
                        format!("{} is allowed; the inner validator: {denial}", text.label);
                    Err(Flaw::Failed(problem))
                }
                (Answer::TooLate | Answer::Panicked(_), _) => Err(Flaw::Untestable(format!(
                    "{}: the inner validator has no verdict",
                    text.label
                ))),
                _ => Ok(()),
            },
        );
        checks.each(
            &format!("{name}: every text gets a verdict"),
            answers(),
            |(text, answer)| match answer {
                Answer::Verdict(Verdict::Deny(denial)) => flaw_of(denial, text),
                Answer::Verdict(Verdict::Allow) => Ok(()),
                Answer::Panicked(message) => {
                    Err(Flaw::Failed(format!("{}: {message}", text.label)))
                }
                Answer::TooLate => Err(Flaw::Failed(format!(
                    "{}: no answer after {LIMIT:?}",
                    text.label
                ))),
            },
        );
    }
    checks.finish()
}

#[derive(Deserialize)]
struct Case {
    command: String,
}

/// Returns every command of the corpus once.
fn commands() -> Vec<String> {
    let mut seen = HashSet::new();
    let lines = corpus::files().iter().flat_map(|file| file.text.lines());
    lines
        .filter_map(|line| serde_json::from_str::<Case>(line).ok())
        .map(|case| case.command)
        .filter(|command| seen.insert(command.clone()))
        .collect()
}

fn of_corpus() -> Vec<Text> {
    commands().into_iter().map(labelled).collect()
}

/// Returns some commands of the corpus, each nested in another one.
fn nested() -> Vec<Text> {
    let quoted = |command: &str| format!("'{}'", command.replace('\'', "'\\''"));
    // Not a multiple of the number of forms, so that each form gets commands of all kinds.
    let commands = commands().into_iter().step_by(3).enumerate();
    let texts = commands.map(|(number, command)| match number % 8 {
        0 => format!("ls && {command}"),
        1 => format!("( {command}\n)"),
        2 => format!("echo \"$( {command}\n)\""),
        3 => format!("if true; then {command}\nfi"),
        4 => format!("bash -c {}", quoted(&command)),
        5 => format!("env {command}"),
        6 => format!("timeout 90 {command}"),
        _ => format!("{command}\nls"),
    });
    texts.map(labelled).collect()
}

fn labelled(text: String) -> Text {
    let excerpt: String = text.chars().take(200).collect();
    Text {
        label: format!("{excerpt:?}"),
        text,
    }
}
