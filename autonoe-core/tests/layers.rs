//! Inside the crate, imports go one way: `domain` <- `port` <- `tools`, `guard`, `hooks` <- `run`.

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
            "domain", "port", "tools", "guard", "hooks", "run", "project",
        ],
    ),
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

/// Returns the layers that a line of code names, comments left aside.
fn named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("crate::")
        // `$crate::` is the path of a macro's caller, not of the file.
        .filter(|(at, _)| !code[..*at].ends_with('$'))
        .filter_map(|(at, found)| {
            let rest = &code[at + found.len()..];
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            Some(&rest[..end]).filter(|name| !name.is_empty())
        })
        .collect()
}

#[test]
fn imports_go_one_way() {
    for (layer, allowed) in MAY_IMPORT {
        for file in files_below(&source().join(layer)) {
            let text = fs::read_to_string(&file).expect("readable");
            for (number, line) in text.lines().enumerate() {
                for name in named(line) {
                    // `register_spec!` is a macro at the root of the crate.
                    let fine = allowed.contains(&name) || name == "register_spec";
                    assert!(
                        fine,
                        "{}:{}: {layer} may not import {name}",
                        file.display(),
                        number + 1
                    );
                }
            }
        }
    }
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
