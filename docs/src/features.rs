//! Compares the table of Cargo features in the reference with the manifests of the crates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A feature of a crate; a crate without features has one row with the name `none`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    krate: String,
    feature: String,
    is_default: bool,
    brings: BTreeSet<String>,
}

/// Returns the section `[features]` of a manifest: each name with its list.
fn features(manifest: &str) -> BTreeMap<String, BTreeSet<String>> {
    let Some((_, rest)) = manifest.split_once("\n[features]\n") else {
        return BTreeMap::new();
    };
    let section = rest.split("\n[").next().unwrap_or_default();
    let lines = section.lines().filter(|line| !line.starts_with('#'));
    let entries = lines.collect::<Vec<_>>().join(" ");
    let entry = |text: &str| {
        let (name, list) = text.split_once('=')?;
        let quoted = list.split('"').skip(1).step_by(2);
        Some((name.trim().to_owned(), quoted.map(str::to_owned).collect()))
    };
    entries.split(']').filter_map(entry).collect()
}

fn rows_of_crate(krate: &str, manifest: &str) -> Vec<Row> {
    let mut features = features(manifest);
    let default = features.remove("default").unwrap_or_default();
    if features.is_empty() {
        features.insert("none".to_owned(), BTreeSet::new());
    }
    let row = |(feature, list): (String, BTreeSet<String>)| Row {
        krate: krate.to_owned(),
        is_default: default.contains(&feature),
        brings: list
            .iter()
            .map(|it| it.trim_start_matches("dep:").to_owned())
            .collect(),
        feature,
    };
    features.into_iter().map(row).collect()
}

fn rows_of_manifests() -> BTreeSet<Row> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut rows = BTreeSet::new();
    for entry in fs::read_dir(workspace).expect("the workspace can be listed") {
        let entry = entry.expect("an entry");
        let krate = entry.file_name().to_string_lossy().into_owned();
        let manifest = entry.path().join("Cargo.toml");
        if krate.starts_with("autonoe-") && manifest.is_file() {
            let manifest = fs::read_to_string(manifest).expect("a manifest");
            rows.extend(rows_of_crate(&krate, &manifest));
        }
    }
    rows
}

/// Returns the texts in backquotes.
pub(crate) fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

fn rows_of_page(page: &str) -> BTreeSet<Row> {
    let lines = page.lines().filter(|line| line.starts_with("| `autonoe-"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, krate, feature, default, _adds, brings, _] = cells[..] else {
            panic!("a row with another number of cells: {line}");
        };
        Row {
            krate: krate.trim_matches('`').to_owned(),
            feature: feature.trim_matches('`').to_owned(),
            is_default: default == "yes",
            brings: quoted(brings),
        }
    };
    lines.map(row).collect()
}

#[test]
fn the_page_lists_the_features_of_every_crate_with_their_defaults_and_dependencies() {
    let page = rows_of_page(include_str!("../reference/features.md"));
    let manifests = rows_of_manifests();

    let missing: Vec<_> = manifests.difference(&page).collect();
    let outdated: Vec<_> = page.difference(&manifests).collect();
    assert!(
        missing.is_empty() && outdated.is_empty(),
        "docs/reference/features.md lacks {missing:#?}\nand has {outdated:#?}"
    );
    assert!(
        manifests.len() > 15,
        "crates were not found: {manifests:#?}"
    );
}

#[test]
fn a_section_of_features_is_read_over_lines_and_comments() {
    let manifest = "[package]\nname = \"a\"\n\n[features]\ndefault = [\"b\"]\n# A comment = [\"x\"].\n\
                    b = [\n    \"dep:c\",\n    \"d/e\",\n]\nf = []\n\n[dependencies]\ng = \"1\"\n";

    let names: Vec<_> = rows_of_crate("a", manifest)
        .into_iter()
        .map(|row| (row.feature, row.is_default, row.brings.len()))
        .collect();

    assert_eq!(
        names,
        [("b".to_owned(), true, 2), ("f".to_owned(), false, 0)]
    );
}
