//! Checks every case of the corpus.

use std::fmt::Write;

use autonoe_security::{BashSecurity, Rule};

use crate::policy::support::corpus;

// Shows: interfaces/bash-security/result
// Shows: spec/6.2/git
// Shows: spec/6.2/base-commands
// Shows: spec/6.3/toolchain
#[test]
fn every_case_gets_the_verdict_that_its_rules_give() {
    let cases = corpus();
    let mut wrong = String::new();
    for case in &cases {
        let verdict = case.validator().check(&case.command);
        if verdict.is_allowed() != case.allowed {
            let _ = writeln!(
                wrong,
                "{} {:?} {:?}: {:?}",
                case.id,
                case.rules,
                case.command.chars().take(120).collect::<String>(),
                verdict.denial().map(ToString::to_string),
            );
        }
    }

    assert!(cases.len() >= 13_000, "cases are added, not lost");
    assert!(
        wrong.is_empty(),
        "{} cases:\n{wrong}",
        wrong.lines().count()
    );
}

#[test]
fn a_denial_names_a_rule_that_the_policy_has_and_a_place_in_the_command() {
    for case in corpus() {
        let verdict = case.validator().check(&case.command);
        let Some(denial) = verdict.denial() else {
            continue;
        };

        let rule = Rule::all().iter().find(|rule| rule.id() == denial.rule);
        let rule = rule.unwrap_or_else(|| panic!("{}: {}", case.id, denial.rule));
        assert_eq!(denial.code, rule.code(), "{}", case.id);
        let span = denial.span.clone().expect("a place");
        assert!(
            case.command.get(span.clone()).is_some(),
            "{}: {span:?}",
            case.id
        );
        assert!(denial.instead.is_some(), "{}: {denial}", case.id);
        // These are for agents, which cannot change settings.
        for advice in [&denial.rationale, &denial.instead].into_iter().flatten() {
            for setting in ["agent.json", "allowCommands", "--allow"] {
                assert!(!advice.contains(setting), "{}: {denial}", case.id);
            }
        }
        let line = denial.to_string();
        assert!(
            !line.contains('\n') || case.command.contains('\n'),
            "{}: {line}",
            case.id
        );
    }
}

#[test]
fn explaining_finds_a_denied_command_exactly_when_the_whole_is_denied() {
    for case in corpus() {
        let explained = case.validator().explain(&case.command);

        let all_allowed = explained
            .commands
            .iter()
            .all(|found| found.verdict.is_allowed());
        let is_understood = !explained.commands.is_empty() || explained.verdict.is_allowed();
        if is_understood {
            assert_eq!(all_allowed, explained.verdict.is_allowed(), "{}", case.id);
        }
    }
}
