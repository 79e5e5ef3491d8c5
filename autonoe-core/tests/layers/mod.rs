//! Tests that modules import only from modules above them in [`ORDER`]. `event` is the exception:
//! every module emits events, and events carry values of every module.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the crate; each may import those before it.
const ORDER: &[&str] = &[
    "text", "time", "tool", "ledger", "gate", "agent", "run", "session", "spec", "engine",
    "project",
];

/// Returns whether a file of the module `from` may name the module `to`.
fn may_import(from: &str, to: &str) -> bool {
    let place = |module| ORDER.iter().position(|name| *name == module);
    match (from, to) {
        (_, "event") => true,
        ("event", to) => place(to) <= place("run"),
        _ => place(to) <= place(from),
    }
}

/// Names at the root of the crate that every module may use, beside the modules: an exported macro
/// has no other place.
const ROOT_NAMES: &[&str] = &["register_spec"];

/// Files beside the folders.
const ROOT_FILES: &[&str] = &["lib.rs", "schemas.rs"];

fn modules() -> impl Iterator<Item = &'static str> {
    ORDER.iter().copied().chain(["event"])
}

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

/// Returns what `code` names through the root of the crate.
///
/// `depth` is the number of modules above the file, so that `super` can be followed to the root.
fn named(code: &str, depth: usize) -> Vec<String> {
    let mut names = named_by_crate(code);
    let root = "super::".repeat(depth);
    for (at, found) in code.match_indices(&root) {
        names.extend(heads(&code[at + found.len()..]));
    }
    names
}

/// Returns the names after `crate::` in `code`.
fn named_by_crate(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, found) in code.match_indices("crate::") {
        // `$crate::` is the path of a macro's caller, not of the file.
        if !code[..at].ends_with('$') {
            names.extend(heads(&code[at + found.len()..]));
        }
    }
    names
}

/// Returns the first names of a path or of a group in braces, without leading `super`.
fn heads(mut rest: &str) -> Vec<String> {
    // An inline module needs one more of them than its file.
    while let Some(below) = rest.strip_prefix("super::") {
        rest = below;
    }
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

/// Returns the code of a file, without comments.
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
    for module in modules() {
        for file in files_below(&source().join(module)) {
            if file.extension().is_none_or(|ending| ending != "rs") {
                continue;
            }
            let below = file.strip_prefix(source()).expect("below");
            let depth = below.components().count() - usize::from(below.ends_with("mod.rs"));
            let code = code_of(&file);
            let is_module = |name: &str| modules().any(|other| other == name);
            for name in named(&code, depth) {
                let allowed = !is_module(&name) || may_import(module, &name);
                assert!(
                    allowed,
                    "{}: {module} may not import {name}",
                    file.display()
                );
            }
            for name in named_by_crate(&code) {
                let allowed = is_module(&name) || ROOT_NAMES.contains(&name.as_str());
                assert!(
                    allowed,
                    "{}: `crate::{name}` hides the module of {name}",
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
        "use crate::{ledger::Ledger, run::RunMachine};",
        "use crate::{ledger::{A, B}, run};",
        "use super::super::run::RunMachine;",
        "let x = crate::run::f();",
        "mod tests { use super::super::super::run::RunMachine; }",
    ] {
        let names = named(code, 2);

        assert!(names.contains(&"run".to_owned()), "{code}: {names:?}");
    }
    assert_eq!(named("$crate::run", 2), Vec::<String>::new());
    assert_eq!(named_by_crate("use crate::RunReport;"), ["RunReport"]);
}

#[test]
fn a_module_imports_only_those_before_it() {
    assert!(may_import("run", "gate"));
    assert!(may_import("tool", "tool"));
    assert!(may_import("time", "event"));
    assert!(may_import("event", "run"));
    assert!(!may_import("tool", "run"));
    assert!(!may_import("event", "session"));
}

#[test]
fn every_folder_has_a_place_in_the_order() {
    for entry in fs::read_dir(source()).expect("the folder is there") {
        let path = entry.expect("readable").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a plain name");
        let has_place = if path.is_dir() {
            modules().any(|module| module == name)
        } else {
            ROOT_FILES.contains(&name)
        };
        assert!(has_place, "{name} has no place");
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
        let is_list_of_names = line.ends_with(',')
            && line
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | ',' | ' '));
        assert!(fine || is_list_of_names, "lib.rs holds code: {line}");
    }
}
