//! Compares the parser with Bash on the shell scripts installed on the machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use autonoe_security::syntax::parse;

use crate::syntax::bash::Bash;

/// Locations of scripts, and whether they are searched recursively.
const PLACES: [(&str, bool); 7] = [
    ("/etc/profile", false),
    ("/etc/profile.d", false),
    ("/etc/init.d", false),
    ("/usr/share", true),
    ("/usr/lib", true),
    ("/usr/bin", false),
    ("/usr/sbin", false),
];

/// Maximum number of pieces that Bash checks.
const PIECES: usize = 12_000;

#[test]
fn bash_accepts_script_pieces_that_parse() {
    let mut pieces = BTreeSet::new();
    for script in scripts() {
        let lines = script.lines().map(str::to_owned);
        let paragraphs = script.split("\n\n").map(str::to_owned);
        pieces.extend(lines.chain(paragraphs));
        pieces.insert(script);
    }
    assert!(
        !pieces.is_empty(),
        "there is no shell script on this machine"
    );
    let mut bash = Bash::for_syntax();
    let step = pieces.len().div_ceil(PIECES);
    let (mut accepted, mut refused, mut refused_by_choice) = (0, 0, 0);

    for piece in pieces.into_iter().step_by(step) {
        let valid = bash.accepts(&piece);
        match parse(&piece) {
            Ok(_) => {
                accepted += 1;
                assert!(valid, "Bash refuses {piece:?}");
            }
            Err(_) if valid => refused_by_choice += 1,
            Err(_) => refused += 1,
        }
    }

    println!("accepted {accepted}, refused {refused}, refused by choice {refused_by_choice}");
}

fn scripts() -> Vec<String> {
    let mut found = Vec::new();
    for (place, deep) in PLACES {
        collect(Path::new(place), deep, &mut found);
    }
    found.sort();
    found.dedup();
    let texts = found
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok());
    texts.filter(|text| !text.contains('\0')).collect()
}

/// Adds the scripts at `path`.
fn collect(path: &Path, deep: bool, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(path) else {
        found.extend(is_script(path).then(|| path.to_owned()));
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        if kind.is_dir() && deep {
            collect(&path, deep, found);
        } else if kind.is_file() && (!deep || has_ending(&path)) && is_script(&path) {
            found.push(path);
        }
    }
}

fn has_ending(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending == "sh" || ending == "bash")
}

/// Returns whether a file is a shell script, by its extension or its first line.
fn is_script(path: &Path) -> bool {
    use std::io::Read;

    if has_ending(path) || path == Path::new("/etc/profile") {
        return path.is_file();
    }
    let mut start = [0; 32];
    let length = std::fs::File::open(path).and_then(|mut file| file.read(&mut start));
    let start = String::from_utf8_lossy(&start[..length.unwrap_or(0)]).into_owned();
    let line = start.lines().next().unwrap_or_default();
    let program = line.strip_prefix("#!").unwrap_or_default().trim();
    [
        "/bin/sh",
        "/bin/bash",
        "/usr/bin/sh",
        "/usr/bin/bash",
        "/usr/bin/env bash",
        "/usr/bin/env sh",
    ]
    .iter()
    .any(|shell| program == *shell || program.starts_with(&format!("{shell} ")))
}
