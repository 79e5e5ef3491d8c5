//! Execution oracle: runs every allowed text, and every command that Bash then starts must be one
//! that the validator has seen and the policy lists.
//!
//! Commands of the corpus are mutated. Mutations that are still allowed run in a jail that contains
//! nothing but Bash: no program, no network, no process of the machine. A handler takes the place
//! of missing programs and prints hostile text, as a file or a server might.
//!
//! `cargo xtask torture` runs many more of them.
#![cfg(target_os = "linux")]

mod jail;
mod trace;

use std::collections::BTreeMap;

use autonoe_security::{
    AllowCommands, BashSecurity, BashValidator, Destructive, Finding, Policy, PolicyConfig,
};

use crate::common::corpus;
use crate::common::mutate::{Mutator, number};
use crate::oracle::jail::Jail;

/// Number of allowed commands to run; the torture run sets it.
const RUNS: &str = "AUTONOE_TORTURE_ROUNDS";

/// Seed of the mutations.
const SEED: &str = "AUTONOE_ORACLE_SEED";

/// Number of commands in one jail.
const BATCH: usize = 500;

fn validator() -> BashValidator {
    let config = PolicyConfig {
        destructive: Destructive::Allowed,
        allow_commands: AllowCommands::default(),
        ..PolicyConfig::default()
    };
    BashValidator::new(Policy::new(jail::PROJECT, config).expect("a good policy"))
}

fn corpus() -> Vec<String> {
    let commands = corpus::cases()
        .into_iter()
        .map(|case| corpus::command(&case));
    commands.filter(|command| command.len() < 2000).collect()
}

#[test]
fn nothing_runs_that_the_validator_has_not_seen() {
    let (wanted, seed) = (number(RUNS, 2_000), number(SEED, 21));
    let validator = validator();
    let mut mutator = Mutator::new(seed, corpus());
    let mut left = usize::try_from(wanted).expect("a number that fits");
    let (mut started, mut candidates) = (0, 0_u64);
    let mut violations = BTreeMap::new();
    while left > 0 {
        let mut batch = Vec::new();
        while batch.len() < BATCH.min(left) {
            let command = mutator.text();
            candidates += 1;
            if validator.check(&command).is_allowed() {
                batch.push(command);
            }
        }
        let traces = Jail::new().run(&batch);
        let ran = batch.iter().zip(&traces);
        let ran: Vec<_> = ran
            .filter_map(|(command, trace)| Some((command, trace.as_ref()?)))
            .collect();
        assert!(
            ran.len() > batch.len() / 2,
            "most of a batch was not started"
        );
        left -= ran.len();
        for (command, trace) in ran {
            let names = trace::names(trace);
            started += names.len();
            if let Some(name) = unseen(&validator, command, &names) {
                violations.insert(command.clone(), name);
            }
        }
    }

    assert!(violations.is_empty(), "{violations:#?}");
    let enough = usize::try_from(wanted).expect("a number that fits") / 2;
    assert!(
        started > enough,
        "only {started} commands were started, which shows nothing"
    );
    eprintln!("{candidates} candidates, {wanted} run, {started} commands started, 0 violations");
}

/// Returns the first name that ran although the validator has not seen it, or does not allow it.
fn unseen(validator: &BashValidator, command: &str, names: &[String]) -> Option<String> {
    let explained = validator.explain(command);
    let names_in = |found: &Finding| -> Vec<String> {
        // The shell itself runs the commands of a trap.
        let all = found.invocations();
        let printed = if found.name.as_deref() == Some("trap") {
            all.len()
        } else {
            1
        };
        let words = all.into_iter().take(printed);
        words
            .filter_map(|words| words.first().cloned().flatten())
            .collect()
    };
    let seen: Vec<String> = explained.commands.iter().flat_map(names_in).collect();
    let runs = |name: &str| {
        // The empty command.
        if name == "''" {
            return true;
        }
        let listed = name.rsplit('/').next().unwrap_or(name);
        // A script of the project is allowed by its path, from any directory of the shell.
        let is_outside = name.starts_with('/') && !name.starts_with(jail::PROJECT);
        // In `/tmp`, so is a program that the text has just built.
        let is_built = name.starts_with("/tmp/") && explained.verdict.is_allowed();
        let is_script = name.contains('/') && (!is_outside || is_built);
        seen.iter().any(|it| it == name) && (is_script || is_listed(validator, listed))
    };
    names.iter().find(|name| !runs(name)).cloned()
}

/// Returns whether a name is on a list, at least for printing its version.
fn is_listed(validator: &BashValidator, name: &str) -> bool {
    let name = quoted(name);
    let prints_version = ["--version", "-version", "-v", "version"]
        .iter()
        .any(|argument| validator.check(&format!("{name} {argument}")).is_allowed());
    prints_version || validator.check(&name).is_known()
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "'\\''"))
}

/// Determines whether a verdict about a bare name implies that the name is on a list.
trait IsKnown {
    fn is_known(&self) -> bool;
}

impl IsKnown for autonoe_security::Verdict {
    fn is_known(&self) -> bool {
        // A listed command may need arguments; one that is on no list is denied for that reason.
        let unlisted = ["R5", "R6", "R7", "R8", "R60", "R71"];
        self.denial()
            .is_none_or(|denial| !unlisted.contains(&denial.rule.as_ref()))
    }
}

#[test]
fn the_oracle_sees_what_runs() {
    let hidden = [
        ("echo \"$(evil)\"", "evil"),
        ("x='a[$(evil)]'; echo $((x))", "evil"),
        ("cat <<E\n`evil`\nE", "evil"),
        ("eval evil", "evil"),
        ("[ $(cat f) ]", "evil_output"),
        ("x=$(cat f); [[ $x -eq 1 ]]", "evil_output"),
        ("printf \"$(cat f)\" a", "evil_output"),
        ("x=$(cat f); echo $((x))", "evil_output"),
    ];
    // Each of them with each kind of hostile text.
    let tries = hidden.iter().flat_map(|(command, _)| [*command; 4]);
    let commands: Vec<String> = tries.map(str::to_owned).collect();

    let traces = Jail::new().run(&commands);

    for ((command, expected), traces) in hidden.iter().zip(traces.chunks(4)) {
        let names: Vec<String> = traces
            .iter()
            .flatten()
            .flat_map(|trace| trace::names(trace))
            .collect();
        assert!(
            names.iter().any(|name| name == expected),
            "{command}: {names:?}"
        );
    }
}

#[test]
fn names_are_read_whole_whatever_characters_they_have() {
    let tries = [
        ("\"b/ /\nE\n+ x\" a", vec!["b/ /\nE\n+ x"]),
        ("$'ncat\\f/x' a", vec!["ncat\u{c}/x"]),
        ("$'c\\e/x' a", vec!["c\u{1b}/x"]),
        ("$'bin/\\x4ls' a", vec!["bin/\u{4}ls"]),
        ("é a", vec!["é"]),
        ("'é b' a", vec!["é b"]),
        ("\"\\$'a'\" b", vec!["$'a'"]),
        ("'' a", vec!["''"]),
        ("'a=b' c", vec!["a=b"]),
        ("a=1 b='x y' c d", vec!["c"]),
        ("a[0]=1; a+=(x 'y z'); a+=1", vec![]),
        (
            "declare -A m; m[\")['name'a b\"]=1; c",
            vec!["declare", "c"],
        ),
        ("[[ 'a\n+ evil' == b ]]; (( 1 +\n2 )); c", vec!["c"]),
        ("cat <<'E'\n+ evil\n++ evil\nE", vec!["cat"]),
        ("echo \"$(c '\n++ d')\"", vec!["c", "echo"]),
    ];
    let commands: Vec<String> = tries.iter().map(|(it, _)| (*it).to_owned()).collect();

    let traces = Jail::new().run(&commands);

    for ((command, expected), trace) in tries.iter().zip(&traces) {
        let names = trace.as_deref().map(trace::names);
        let expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(names, Some(expected), "{command}");
    }
}

#[test]
fn a_name_must_be_judged_and_listed() {
    let validator = validator();
    for (command, name, is_fine) in [
        ("ls", "ls", true),
        ("docker --version", "docker", true),
        ("java -version", "java", true),
        ("perl -v", "perl", true),
        ("zig version", "zig", true),
        ("ls", "docker", false),
        ("evil --version", "evil", false),
        ("./evil", "./evil", true),
        ("/tmp/evil", "/tmp/evil", false),
    ] {
        let names = [name.to_owned()];
        let unseen = unseen(&validator, command, &names);
        assert_eq!(unseen.is_none(), is_fine, "{command}: {name}");
    }
}
