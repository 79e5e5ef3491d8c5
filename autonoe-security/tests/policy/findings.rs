//! Words of the commands found, and the commands that they start.

use autonoe_security::{BashSecurity, Denial, Explanation, Finding, Layer, PolicyConfig, Verdict};

use crate::policy::support::{corpus, validator};

fn explain(command: &str) -> Explanation {
    validator(PolicyConfig::default()).explain(command)
}

/// Renders the words of a finding and of the commands that it starts; `?` is an unknown word.
fn invocations(finding: &Finding) -> Vec<String> {
    let written = |words: &[Option<String>]| {
        let words: Vec<&str> = words
            .iter()
            .map(|it| it.as_deref().unwrap_or("?"))
            .collect();
        words.join(" ")
    };
    finding.invocations().into_iter().map(written).collect()
}

#[test]
fn a_finding_has_the_words_of_the_command_without_quotes() {
    let found = explain("A=1 g'i't commit -m \"$x\" *.rs && x=1");

    let words: Vec<_> = found.commands.iter().map(invocations).collect();
    assert_eq!(words, [vec!["git commit -m ? ?"], vec![""]]);
}

#[test]
fn a_finding_has_the_commands_that_its_words_start() {
    for (command, started) in [
        ("env A=1 npm test", &["npm test"][..]),
        ("timeout 5 nohup npm test", &["nohup npm test", "npm test"]),
        ("ls | xargs -n 1 rm -f", &["rm -f"]),
        (
            "find . -exec grep x {} + -exec rm {} \\;",
            &["grep x {}", "rm {}"],
        ),
        ("bash -c 'cd x && rm \"$y\"'", &["cd x", "rm ?"]),
        (
            "bash -c 'env sh -c \"a; b\"'",
            &["env sh -c a; b", "sh -c a; b", "a", "b"],
        ),
        ("npm test", &[]),
    ] {
        let found = explain(command);
        let last = found.commands.last().expect("a command");

        assert_eq!(invocations(last)[1..], *started, "{command}");
        assert!(!last.starts_unknown, "{command}");
    }
}

#[test]
fn a_command_that_its_words_do_not_show_is_announced() {
    for command in [
        "bash x.sh",
        "bash -c \"$x\"",
        "sh",
        "env -S 'a b'",
        "bash -c '('",
    ] {
        let found = explain(command);

        assert!(found.commands[0].starts_unknown, "{command}");
    }
}

#[test]
fn an_inner_command_has_a_place() {
    let command = "timeout 5 npm test && bash -c 'ls; pwd'";

    let found = explain(command);

    let places = found.commands.iter().flat_map(|finding| &finding.inner);
    let places: Vec<&str> = places.map(|inner| &command[inner.span.clone()]).collect();
    assert_eq!(places, ["npm test", "'ls; pwd'", "'ls; pwd'"]);
}

#[test]
fn commands_that_start_each_other_are_followed_to_a_depth() {
    let found = explain(&format!("{}ls", "nohup ".repeat(5_000)));

    let finding = &found.commands[0];
    assert!(finding.starts_unknown);
    assert!(finding.invocations().len() < 20);
}

#[test]
fn places_of_inner_commands_lie_in_the_text() {
    for case in corpus() {
        for finding in case.validator().explain(&case.command).commands {
            for inner in &finding.inner {
                let place = case.command.get(inner.span.clone());
                assert!(place.is_some_and(|it| !it.is_empty()), "{}", case.id);
            }
        }
    }
}

#[test]
fn a_validator_that_is_added_can_only_deny() {
    let deny = |reason: &'static str| {
        move |command: &str| {
            if command.contains(reason) {
                Verdict::Deny(Denial::new("test", Layer::User, reason))
            } else {
                Verdict::Allow
            }
        }
    };
    let validator = deny("one").and(deny("two")).and(deny("three"));

    for (command, reason) in [
        ("zero", None),
        ("three two one", Some("one")),
        ("three two", Some("two")),
        ("three", Some("three")),
    ] {
        let verdict = validator.check(command);
        let found = verdict.denial().map(|denial| denial.reason.as_ref());
        assert_eq!(found, reason, "{command}");
    }
}
