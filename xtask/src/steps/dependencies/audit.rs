//! Compares the list of third-party crates in `docs/dependencies.md` with the manifests.

use std::collections::BTreeSet;

/// Lists crates of `manifests`, texts of `Cargo.toml`, without a row in `page`, and rows without a
/// crate or without a reason.
pub(super) fn violations(manifests: &[String], page: &str) -> Vec<String> {
    let used: BTreeSet<_> = manifests.iter().flat_map(|it| third_party(it)).collect();
    let mut listed = BTreeSet::new();
    let mut found = Vec::new();
    for row in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        let mut cells = row.split('|').map(|cell| cell.trim().trim_end_matches('`'));
        let name = cells.next().unwrap_or_default();
        if !listed.insert(name) {
            found.push(format!("{name}: there are two rows"));
        }
        if cells.nth(1).is_none_or(str::is_empty) {
            found.push(format!("{name}: the row has no reason"));
        }
    }
    found.extend(
        used.difference(&listed)
            .map(|name| format!("{name}: there is no row")),
    );
    found.extend(
        listed
            .difference(&used)
            .map(|name| format!("{name}: no manifest names the crate")),
    );
    found
}

/// Returns the crates of others that `manifest` names.
fn third_party(manifest: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut is_dependencies = false;
    for line in manifest.lines() {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end().trim_end_matches(']');
            is_dependencies = header.ends_with("dependencies");
            // A section of its own: `[dependencies.serde]`.
            if let Some((_, name)) = header.rsplit_once("dependencies.") {
                names.insert(name);
            }
        } else if is_dependencies && line.starts_with(|first: char| first.is_ascii_alphabetic()) {
            let end = line.find([' ', '.', '=']).unwrap_or(line.len());
            names.insert(&line[..end]);
        }
    }
    names.retain(|name| !name.starts_with("autonoe"));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"a\"\n\n[dependencies]\nautonoe-core.workspace = true\n\
                            # A comment.\nserde = { version = \"1\" }\ntokio.workspace = true\n\
                            \n[features]\nextra = [\"dep:serde\"]\n\n[target.'cfg(unix)'.dependencies]\n\
                            libc = \"0.2\"\n\n[dev-dependencies.insta]\nversion = \"1\"\n";

    #[test]
    fn every_table_of_dependencies_is_read() {
        let names = Vec::from_iter(third_party(MANIFEST));

        assert_eq!(names, ["insta", "libc", "serde", "tokio"]);
    }

    #[test]
    fn each_crate_needs_one_row_with_a_reason() {
        let page = "| crate | used in | reason | note |\n| --- | --- | --- | --- |\n\
                    | `insta` | tests | snapshots | |\n| `libc` | tests | | |\n\
                    | `old` | tests | unknown | |\n| `serde` | library | data | |\n\
                    | `serde` | library | data | |\n";

        assert_eq!(
            violations(&[MANIFEST.to_owned()], page),
            [
                "libc: the row has no reason",
                "serde: there are two rows",
                "tokio: there is no row",
                "old: no manifest names the crate",
            ]
        );
    }
}
