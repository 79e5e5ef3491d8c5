//! Conformance suites for validators of Bash commands.

mod case;
mod corpus;
mod stricter;
mod texts;
mod validator_thread;

use std::sync::Arc;

use autonoe_core::gate::policy::{BashSecurity, Denial, Verdict};

use self::texts::Text;
use self::validator_thread::{Answer, LIMIT, start_judging};
use super::checks::{CheckOutcome, Checks, Flaw};
use super::report::Conformance;

pub use case::{BashCase, bash_security_cases};
pub use corpus::bash_security;
pub use stricter::bash_stricter;

/// Checks a [`BashSecurity`] against its contract, with unexpected texts.
///
/// A policy is free to choose what it allows and denies, with one exception: a text that is not
/// valid Bash cannot be understood and must be denied. Use [`bash_security_cases`] for a policy's
/// own verdicts, and [`bash_security`] for a validator that follows the project's rules.
///
/// Every text is checked on a thread with a deadline in real time. A validator that overflows its
/// stack ends the whole test program: no text may cause that.
///
/// ```
/// use autonoe_core::gate::policy::{Denial, Layer, Verdict};
/// use autonoe_testkit::conformance;
///
/// let only_ls = |command: &str| match command {
///     "ls" => Verdict::Allow,
///     _ => Verdict::Deny(Denial::new("only-ls", Layer::User, "only ls may run").at(0..command.len())),
/// };
///
/// conformance::bash_contract(only_ls).assert();
/// ```
pub fn bash_contract(security: impl BashSecurity + 'static) -> Conformance {
    let security: Arc<dyn BashSecurity> = Arc::new(security);
    let not_bash = texts::not_bash();
    let mut texts = texts::hostile();
    texts.extend_from_slice(&not_bash);
    let mut checks = Checks::new("bash security");

    let first = start_judging(&security, &texts).answers();
    let answers = || texts.iter().zip(&first);
    checks.each(
        "no text makes it panic",
        answers(),
        |(text, answer)| match answer {
            Answer::Panicked(said) => Err(Flaw::Failed(format!("{}: {said}", text.label))),
            _ => Ok(()),
        },
    );
    checks.each("every text is answered", answers(), |(text, answer)| {
        ensure!(
            *answer != Answer::TooLate,
            "{}: no answer after {LIMIT:?}",
            text.label
        );
        Ok(())
    });
    checks.each(
        "invalid Bash is denied",
        answers().skip(texts.len() - not_bash.len()),
        |(text, answer)| {
            ensure!(
                *answer != Answer::Verdict(Verdict::Allow),
                "{}: it is allowed",
                text.label
            );
            Ok(())
        },
    );
    checks.each(
        "a denial names its rule, its reason and a place in the text",
        answers(),
        |(text, answer)| match answer {
            Answer::Verdict(Verdict::Deny(denial)) => flaw_of(denial, text),
            _ => Ok(()),
        },
    );

    // A validator that gave no answer is not called again.
    let answering = !first.contains(&Answer::TooLate);
    // In another order: the result must not depend on earlier calls.
    let backwards: Vec<Text> = texts.iter().rev().cloned().collect();
    let again = if answering {
        start_judging(&security, &backwards).answers()
    } else {
        Vec::new()
    };
    checks.each(
        "the same text gets the same verdict",
        answers().rev().zip(&again),
        same,
    );
    let threads: Vec<_> = if answering {
        (0..4).map(|_| start_judging(&security, &texts)).collect()
    } else {
        Vec::new()
    };
    let at_once: Vec<_> = threads
        .into_iter()
        .map(validator_thread::PendingVerdicts::answers)
        .collect();
    let pairs = at_once
        .iter()
        .flat_map(|answers_of_one| answers().zip(answers_of_one));
    checks.each("several threads get the same verdict", pairs, same);
    checks.finish()
}

/// Checks the denial of `text`.
fn flaw_of(denial: &Denial, Text { label, text }: &Text) -> CheckOutcome {
    ensure!(!denial.rule.trim().is_empty(), "{label}: the rule is blank");
    ensure!(
        !denial.reason.trim().is_empty(),
        "{label}: the reason is blank"
    );
    let instead = denial.instead.as_deref();
    ensure!(
        !instead.is_some_and(|instead| instead.trim().is_empty()),
        "{label}: the alternative is blank"
    );
    let remedy = denial.remedy.as_deref();
    ensure!(
        !remedy.is_some_and(|remedy| remedy.trim().is_empty()),
        "{label}: the remedy is blank"
    );
    if let Some(span) = &denial.span {
        ensure!(
            text.get(span.clone()).is_some(),
            "{label}: {span:?} is no part of a text of {} bytes",
            text.len()
        );
    }
    Ok(())
}

fn same(((text, first), again): ((&Text, &Answer), &Answer)) -> CheckOutcome {
    // Another check reports panics.
    let comparable = !matches!((first, again), (Answer::Panicked(_), Answer::Panicked(_)));
    ensure!(
        !comparable || first == again,
        "{}: first {first:?}, then {again:?}",
        text.label
    );
    Ok(())
}
