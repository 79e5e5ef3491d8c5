//! Inside the crate, imports go one way: `domain` <- `port` <- `tools`, `guard`, `hooks` <- `run`
//! <- `engine` <- `project`.

use std::fs;
use std::path::{Path, PathBuf};

/// What the files of each layer may name with `crate::`.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("domain", &["domain"]),
    ("port", &["domain", "port"]),
    ("tools", &["domain", "port", "tools"]),
    ("guard", &["domain", "port", "guard"]),
    ("hooks", &["domain", "port", "hooks"]),
    (
        "project",
        &[
            "domain", "port", "tools", "guard", "hooks", "run", "engine", "project",
        ],
    ),
    ("engine", &["domain", "port", "run", "engine"]),
    ("run", &["domain", "port", "tools", "guard", "hooks", "run"]),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("the folder is there");
    entries
        .map(|entry| entry.expect("readable").path())
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Returns the layers that `code` names through the root of the crate, as they stand in it.
///
/// `depth` is how many modules deep the file is, so that `super` can be followed to the root.
fn named(code: &str, depth: usize) -> Vec<String> {
    let mut names = Vec::new();
    for (at, found) in code.match_indices("crate::") {
        // `$crate::` is the path of a macro's caller, not of the file.
        if !code[..at].ends_with('$') {
            names.extend(heads(&code[at + found.len()..]));
        }
    }
    let root = "super::".repeat(depth);
    for (at, found) in code.match_indices(&root) {
        names.extend(heads(&code[at + found.len()..]));
    }
    names
}

/// Returns the first names of a path or of a group in braces.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| {
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let Some(group) = rest.strip_prefix('{') else {
        return vec![name(rest)];
    };
    let mut depth = 0;
    let mut heads = vec![name(group)];
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(name(&group[at + 1..])),
            _ => {}
        }
    }
    heads
}

/// Returns the code of a file, comments left aside.
fn code_of(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("readable");
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

// Shows: spec/2.1/layers
#[test]
fn imports_go_one_way() {
    let layers: Vec<&str> = MAY_IMPORT.iter().map(|(layer, _)| *layer).collect();
    for (layer, allowed) in MAY_IMPORT {
        for file in files_below(&source().join(layer)) {
            if file.extension().is_none_or(|ending| ending != "rs") {
                continue;
            }
            let below = file.strip_prefix(source()).expect("below");
            let depth = below.components().count() - usize::from(below.ends_with("mod.rs"));
            for name in named(&code_of(&file), depth) {
                let forbidden = layers.contains(&name.as_str()) && !allowed.contains(&&*name);
                assert!(
                    !forbidden,
                    "{}: {layer} may not import {name}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn no_spelling_of_an_import_is_missed() {
    for code in [
        "use crate::run::RunMachine;",
        "use crate::{domain::Ledger, run::RunMachine};",
        "use crate::{domain::{A, B}, run};",
        "use super::super::run::RunMachine;",
        "let x = crate::run::f();",
    ] {
        let names = named(code, 2);

        assert!(names.contains(&"run".to_owned()), "{code}: {names:?}");
    }
    assert_eq!(named("$crate::run", 2), Vec::<String>::new());
}

#[test]
fn every_folder_is_a_layer() {
    for entry in fs::read_dir(source()).expect("the folder is there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .expect("a plain name");
            assert!(
                MAY_IMPORT.iter().any(|(layer, _)| *layer == name),
                "{name} has no place"
            );
        }
    }
}

#[test]
fn the_root_only_documents_and_re_exports() {
    let root = fs::read_to_string(source().join("lib.rs")).expect("readable");

    let code = root
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    for line in code {
        let kinds = [
            "mod ",
            "pub mod ",
            "pub use ",
            "#[doc(hidden)]",
            "#[cfg(",
            "}",
            "",
        ];
        let fine = kinds.iter().any(|kind| {
            if kind.is_empty() {
                line.is_empty()
            } else {
                line.trim_start().starts_with(kind)
            }
        });
        assert!(fine, "lib.rs holds code: {line}");
    }
}
