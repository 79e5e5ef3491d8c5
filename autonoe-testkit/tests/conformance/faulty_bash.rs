//! Validators of Bash commands with one fault each.

use std::sync::atomic::{AtomicUsize, Ordering};

use autonoe_core::gate::policy::{
    BashSecurity, BashValidator, Denial, Layer, Policy, PolicyConfig, Verdict,
};
use autonoe_testkit::conformance::{BashCase, bash_contract, bash_security_cases, bash_stricter};

use crate::conformance::assert_fails;

fn denial() -> Denial {
    Denial::new("R1", Layer::Baseline, "nothing may run")
}

#[test]
fn a_validator_that_panics_on_a_zero_byte_is_found() {
    let report = bash_contract(|command: &str| {
        let text = std::ffi::CString::new(command).expect("no zero bytes, please");
        Verdict::Deny(denial().at(0..text.as_bytes().len()))
    });

    assert_fails(&report, &["no text makes it panic"]);
}

#[test]
fn a_validator_that_allows_invalid_bash_is_reported() {
    let first_word = |command: &str| match command.split_whitespace().next() {
        Some("ls") => Verdict::Allow,
        _ => Verdict::Deny(denial()),
    };

    let report = bash_contract(first_word);

    assert_fails(&report, &["invalid Bash is denied"]);
}

#[test]
fn a_validator_that_points_beside_the_text_is_found() {
    let counts_characters = |command: &str| Verdict::Deny(denial().at(0..command.chars().count()));

    let report = bash_contract(counts_characters);

    assert_fails(
        &report,
        &["a denial names its rule, its reason and a place in the text"],
    );
}

#[test]
fn a_validator_that_gives_no_reason_is_found() {
    let report = bash_contract(|_: &str| Verdict::Deny(Denial::new("R1", Layer::User, "\t")));

    assert_fails(
        &report,
        &["a denial names its rule, its reason and a place in the text"],
    );
}

#[test]
fn a_validator_that_changes_its_mind_is_found() {
    let count = AtomicUsize::new(0);
    let alternates = move |command: &str| match command {
        "ls -la" if count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) => Verdict::Allow,
        _ => Verdict::Deny(denial()),
    };

    let report = bash_contract(alternates);

    assert_fails(
        &report,
        &[
            "the same text gets the same verdict",
            "several threads get the same verdict",
        ],
    );
}

#[test]
fn a_validator_that_mixes_up_its_callers_is_found() {
    let together = std::sync::Barrier::new(4);
    let count = AtomicUsize::new(0);
    let mixes_up = move |command: &str| {
        let at_once = command == "ls -la" && count.fetch_add(1, Ordering::Relaxed) >= 2;
        if at_once && together.wait().is_leader() {
            return Verdict::Allow;
        }
        Verdict::Deny(denial())
    };

    let report = bash_contract(mixes_up);

    assert_fails(&report, &["several threads get the same verdict"]);
}

#[test]
fn a_case_with_the_opposite_verdict_is_reported() {
    let deny = |_: &str| Verdict::Deny(denial());
    let cases = [BashCase::allowed("ls"), BashCase::denied("rm")];

    let report = bash_security_cases(deny, &cases);

    assert_fails(&report, &["\"ls\" is allowed"]);
    assert_eq!(
        report.failures()[0].problem,
        "it is denied: nothing may run (rule R1)"
    );
}

fn policy() -> BashValidator {
    BashValidator::new(Policy::new("/srv/project", PolicyConfig::default()).expect("a good policy"))
}

#[test]
fn a_rule_beside_the_policy_only_adds_denials() {
    let no_git = |command: &str| {
        if command.contains("git") {
            Verdict::Deny(denial())
        } else {
            Verdict::Allow
        }
    };

    bash_stricter(policy(), policy().and(no_git)).assert();
}

#[test]
fn a_validator_that_allows_more_than_the_one_inside_is_found() {
    let base = policy();
    let generous = move |command: &str| {
        if command.starts_with("timeout 90 ") {
            Verdict::Allow
        } else {
            base.check(command)
        }
    };

    let report = bash_stricter(policy(), generous);

    assert_fails(
        &report,
        &["commands inside other commands: a command that the inner validator denies is denied"],
    );
}

#[test]
fn a_validator_around_another_that_panics_is_found() {
    let base = policy();
    let panics = move |command: &str| {
        assert_ne!(command, "\u{1F980} \"\u{1F980}", "no crabs, please");
        base.check(command)
    };

    let report = bash_stricter(policy(), panics);

    assert_fails(&report, &["hostile texts: every text gets a verdict"]);
}
