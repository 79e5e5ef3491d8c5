//! Generated scripts with marked commands, each of which must be found.

use std::collections::BTreeSet;

use autonoe_security::syntax::{SyntaxErrorKind, parse};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use crate::common::mutate::number;
use crate::syntax::bash::Bash;
use crate::syntax::probes::names;

/// Number of scripts; a longer run sets it.
const SCRIPTS: &str = "AUTONOE_SYNTAX_SCRIPTS";

/// Seed of the scripts.
const SEED: &str = "AUTONOE_SYNTAX_SEED";

/// Errors that generated scripts may have.
const REFUSED: [SyntaxErrorKind; 2] = [
    SyntaxErrorKind::Unsupported("a here-document among commands"),
    SyntaxErrorKind::Unsupported("a command substitution of this kind in an expansion"),
];

/// Placeholder for the name of a command; each one gets a number in the end.
const MARK: &str = "\u{1}";

/// A command with nested commands down to some depth.
fn command() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(MARK.to_string()),
        Just(format!("{MARK} a 'b c' \"d\" e\\ f")),
        Just(format!("{MARK} -x {{a,b}} ~/c *.d")),
        Just(format!("X=1 {MARK} $y \"${{z}}\"")),
        Just(format!("{MARK} > f 2>&1 < g")),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| format!("{a}; {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} && {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} || {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} | {{ {b}; }}")),
            two.clone().prop_map(|(a, b)| format!("{a}\n{b}")),
            two.prop_map(|(a, b)| format!("{a} & {b}")),
            compound(inner.clone()),
            word(inner.clone()).prop_map(|word| format!("{MARK} {word}")),
            nested_command(inner),
        ]
    })
}

fn compound(
    inner: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> {
    let two = (inner.clone(), inner.clone());
    prop_oneof![
        inner.clone().prop_map(|a| format!("( {a} )")),
        inner.clone().prop_map(|a| format!("{{ {a}; }}")),
        two.clone()
            .prop_map(|(a, b)| format!("if {a}; then {b}; fi")),
        two.clone()
            .prop_map(|(a, b)| format!("if {a}; then :; elif {b}; then :; else {a}; fi")),
        two.clone()
            .prop_map(|(a, b)| format!("while {a}; do {b}; done")),
        two.clone()
            .prop_map(|(a, b)| format!("until {a}; do {b}; done")),
        two.prop_map(|(a, b)| format!("case a in (b|c) {a};; *) {b};; esac")),
        inner
            .clone()
            .prop_map(|a| format!("for x in a b; do {a}; done")),
        inner
            .clone()
            .prop_map(|a| format!("for ((i=0; i<1; i++)); do {a}; done")),
        inner
            .clone()
            .prop_map(|a| format!("{{ :; time ( {a} ); }}")),
        inner.prop_map(|a| format!("! {{ {a}; }}")),
    ]
}

/// A word with a nested command.
fn word(inner: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = String> {
    prop_oneof![
        inner.clone().prop_map(|a| format!("$( {a} )")),
        inner.clone().prop_map(|a| format!("\"x $( {a} ) y\"")),
        inner.clone().prop_map(|a| format!("<( {a} )")),
        inner.clone().prop_map(|a| format!("${{x:-$( {a} )}}")),
        inner.clone().prop_map(|a| format!("\"${{x:-$( {a} )}}\"")),
        inner.clone().prop_map(|a| format!("${{x#$( {a} )}}")),
        inner.clone().prop_map(|a| format!("${{x/a/$( {a} )}}")),
        inner.clone().prop_map(|a| format!("${{x[$( {a} )]}}")),
        inner.clone().prop_map(|a| format!("${{x:$( {a} )}}")),
        inner.clone().prop_map(|a| format!("$((1 + $( {a} )))")),
        inner.clone().prop_map(|a| format!("p{{a,$( {a} )}}s")),
        inner.prop_filter_map("it has back-quotes or backslashes", |a| {
            (!a.contains(['`', '\\'])).then(|| format!("`{a}`"))
        }),
    ]
}

/// A command with another one in an unusual position.
fn nested_command(
    inner: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> {
    let word = word(inner).boxed();
    prop_oneof![
        word.clone().prop_map(|w| format!("x={w}")),
        word.clone().prop_map(|w| format!("x={w} {MARK}")),
        word.clone().prop_map(|w| format!("x=(a {w})")),
        word.clone().prop_map(|w| format!("declare x=({w})")),
        word.clone().prop_map(|w| format!("{MARK} > {w}")),
        word.clone().prop_map(|w| format!("{MARK} <<< {w}")),
        word.clone().prop_map(|w| format!("[[ {w} == {w} ]]")),
        word.clone()
            .prop_map(|w| format!("for x in {w}; do :; done")),
        word.clone().prop_map(|w| format!("case {w} in a) ;; esac")),
        word.prop_filter_map("it has lines or quotes", |w| {
            let fits = !w.contains(['\n', '"', '\'']) && !w.starts_with('<');
            fits.then(|| format!("{{ {MARK} <<E\nx {w}\nE\n}}"))
        }),
    ]
}

/// Numbers the placeholders, and returns the resulting names.
fn numbered(text: &str) -> (String, BTreeSet<String>) {
    let mut names = BTreeSet::new();
    let mut result = String::new();
    for (number, part) in text.split(MARK).enumerate() {
        if number > 0 {
            let name = format!("cmd{number}");
            result += &name;
            names.insert(name);
        }
        result += part;
    }
    (result, names)
}

#[test]
fn every_command_that_was_put_in_is_found() {
    let bash = std::cell::RefCell::new(Bash::for_syntax());
    let config = ProptestConfig {
        cases: u32::try_from(number(SCRIPTS, 1500)).expect("a small number"),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let seed = [u8::try_from(number(SEED, 1)).expect("a small number"); 32];
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, random);

    let result = runner.run(&command(), |text| {
        let (text, expected) = numbered(&text);
        let tree = match parse(&text) {
            Err(error) if REFUSED.contains(&error.kind) => return Ok(()),
            tree => tree,
        };
        prop_assert!(tree.is_ok(), "{:?}: {:?}", text, tree);
        let found = tree.as_ref().map(names).unwrap_or_default();
        let missing: Vec<_> = expected.difference(&found).collect();
        prop_assert!(missing.is_empty(), "{:?}: {:?}", text, missing);
        prop_assert!(bash.borrow_mut().accepts(&text), "Bash refuses {:?}", text);
        Ok(())
    });

    result.unwrap_or_else(|error| panic!("{error}"));
}
