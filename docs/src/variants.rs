//! Compares the variants and constants that pages name with the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Types of other crates. Their members are not checked.
const FOREIGN: [&str; 4] = ["Duration", "ErrorKind", "ExitCode", "Timestamp"];

/// Returns all files below `folder` with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found
}

/// Returns the name at the start of `text`, if it starts with a capital letter.
fn capitalized(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let name = &text[..end.unwrap_or(text.len())];
    name.starts_with(|c: char| c.is_ascii_uppercase())
        .then_some(name)
}

/// Returns a line without its indentation, which is also returned, and its visibility.
fn item(line: &str) -> (usize, &str) {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let visibilities = ["pub ", "pub(crate) ", "pub(super) "];
    let text = visibilities
        .iter()
        .find_map(|visibility| text.strip_prefix(visibility));
    (indent, text.unwrap_or(line.trim_start()))
}

/// Returns the type that an `enum` or `impl` block is about.
fn owner(text: &str) -> Option<&str> {
    let header = text.strip_suffix(" {")?;
    if let Some(name) = header.strip_prefix("enum ") {
        return capitalized(name);
    }
    let header = header.strip_prefix("impl")?;
    let name = match header.split_once(" for ") {
        Some((_, name)) => name,
        None => header.split_once(' ')?.1,
    };
    capitalized(name.rsplit_once("::").map_or(name, |(_, name)| name))
}

/// Returns `Type::Member` for all variants, constants and associated types of a formatted source.
fn members_of_source(source: &str) -> BTreeSet<String> {
    let mut members = BTreeSet::new();
    let mut block: Option<(usize, &str)> = None;
    for line in source.lines() {
        let (indent, text) = item(line);
        match block {
            None => block = owner(text).map(|owner| (indent, owner)),
            Some((start, _)) if indent == start && text.starts_with('}') => block = None,
            Some((start, owner)) if indent == start + 4 => {
                let name = ["const ", "type "]
                    .iter()
                    .find_map(|keyword| text.strip_prefix(keyword));
                if let Some(name) = capitalized(name.unwrap_or(text)) {
                    members.insert(format!("{owner}::{name}"));
                }
            }
            Some(_) => {}
        }
    }
    members
}

/// Returns `Type::Member` for all variants and constants in code; `Type::{A, B}` are two.
fn members_of_code(code: &str) -> BTreeSet<String> {
    let mut members = BTreeSet::new();
    for (at, _) in code.match_indices("::") {
        let before = &code[..at];
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let Some(owner) = capitalized(&before[start.map_or(0, |start| start + 1)..]) else {
            continue;
        };
        let after = &code[at + 2..];
        let list = after
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'));
        let names: Vec<_> = match list {
            Some((list, _)) => list.split(", ").collect(),
            None => vec![after],
        };
        for name in names.into_iter().filter_map(capitalized) {
            members.insert(format!("{owner}::{name}"));
        }
    }
    members
}

/// Returns the code spans of a page, without its blocks of code.
fn spans(page: &str) -> impl Iterator<Item = &str> {
    let prose = page.split("```").step_by(2);
    prose.flat_map(|text| text.split('`').skip(1).step_by(2))
}

#[test]
fn pages_name_only_variants_and_constants_that_exist() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut known = BTreeSet::new();
    for entry in fs::read_dir(docs.join("..")).expect("the workspace") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if name.starts_with("autonoe-") {
            for file in files(&path, "rs") {
                known.extend(members_of_source(
                    &fs::read_to_string(file).expect("a source"),
                ));
            }
        }
    }
    // Macros generate the variants of some types.
    for file in files(&docs.join("api"), "txt") {
        known.extend(members_of_code(
            &fs::read_to_string(file).expect("a listing"),
        ));
    }
    assert!(
        known.len() > 1000,
        "only {} members were found",
        known.len()
    );

    let mut unknown = Vec::new();
    for file in files(docs, "md") {
        let page = fs::read_to_string(&file).expect("a page");
        for member in spans(&page).flat_map(members_of_code) {
            let (owner, _) = member.split_once("::").expect("a member");
            if !known.contains(&member) && !FOREIGN.contains(&owner) {
                unknown.push(format!("{}: {member}", file.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn members_are_found_in_sources_and_in_spans() {
    let source = "\
/// A colour.
#[derive(Clone)]
pub enum Colour {
    /// Like Blood.
    Red,
    Mixed {
        Share: u8,
    },
}

impl From<u8> for shade::Shade {
    type Error = Failure;
}

impl<T> Colour {
    fn new() {}

    pub const LAST: Self = Self::Red;
}
";
    let members: Vec<_> = members_of_source(source).into_iter().collect();
    assert_eq!(
        members,
        [
            "Colour::LAST",
            "Colour::Mixed",
            "Colour::Red",
            "Shade::Error"
        ]
    );

    let page = "`a::Colour::Red` or `Colour::{Green, mixed, Blue(u8)}`, not Colour::No and not\n\
                ```rust\nColour::Neither\n```\n`Colour::new()`";
    let members: Vec<_> = spans(page).flat_map(members_of_code).collect();
    assert_eq!(members, ["Colour::Red", "Colour::Blue", "Colour::Green"]);
}
