//! Random texts: the validator must not panic and must judge each of them.
//!
//! The test command tries some; `cargo xtask torture` tries ten million and prints the slowest.

use std::time::{Duration, Instant};

use autonoe_security::syntax::parse;
use autonoe_security::{
    AllowCommands, BashSecurity, BashValidator, Destructive, Mode, Policy, PolicyConfig,
    PolicyScope, Verdict,
};

use crate::common::corpus;
use crate::common::mutate::{Mutator, number};

/// Number of texts; the torture run sets it.
const ROUNDS: &str = "AUTONOE_TORTURE_ROUNDS";

/// Seed of the generated texts.
const SEED: &str = "AUTONOE_FUZZ_SEED";

/// Slower texts are measured again before they count.
const SLOW: Duration = Duration::from_millis(2);

fn validators() -> Vec<BashValidator> {
    let extensions = ["bash", "sh", "xargs", "env", "curl", "nice"];
    let made = [Mode::Run, Mode::Sync].map(|mode| {
        let scope = PolicyScope {
            mode,
            ..PolicyScope::new("/srv/project")
        };
        let config = PolicyConfig {
            destructive: Destructive::Allowed,
            allow_commands: AllowCommands::List(extensions.map(str::to_owned).into()),
            ..PolicyConfig::default()
        };
        BashValidator::new(Policy::new(scope, config).expect("a good policy"))
    });
    made.into()
}

fn corpus() -> Vec<String> {
    let commands = corpus::cases()
        .into_iter()
        .map(|case| corpus::command(&case));
    commands.filter(|command| command.len() < 2000).collect()
}

fn timed(validator: &BashValidator, text: &str) -> (Duration, Verdict) {
    let started = Instant::now();
    let verdict = validator.check(text);
    (started.elapsed(), verdict)
}

#[test]
fn no_text_makes_the_parser_or_the_validator_panic() {
    let rounds = number(ROUNDS, 20_000);
    let validators = validators();
    let mut mutator = Mutator::new(number(SEED, 4242), corpus());
    let (mut understood, mut allowed) = (0_u64, 0_u64);
    let mut slowest = (Duration::ZERO, String::new());
    for number in 0..rounds {
        let text = mutator.text();
        understood += u64::from(parse(&text).is_ok());
        let validator = &validators[usize::from(number % 3 == 0)];
        let (mut took, verdict) = timed(validator, &text);
        // Another process may have used the CPU.
        for _ in 0..5 {
            if took > SLOW {
                took = took.min(timed(validator, &text).0);
            }
        }
        allowed += u64::from(verdict.is_allowed());
        if took > slowest.0 {
            slowest = (took, text.clone());
        }
        if number % 64 == 0 {
            let explained = validator.explain(&text);
            assert_eq!(explained.verdict, verdict, "{text:?}");
        }
        if let Some(span) = verdict.denial().and_then(|denial| denial.span.clone()) {
            assert!(text.get(span.clone()).is_some(), "{span:?} in {text:?}");
        }
    }

    assert!(
        understood > rounds / 20,
        "only {understood} were Bash, which shows little"
    );
    let (time, text) = slowest;
    eprintln!(
        "{rounds} texts, {understood} understood, {allowed} allowed, slowest {time:?} of {} bytes",
        text.len(),
    );
}
