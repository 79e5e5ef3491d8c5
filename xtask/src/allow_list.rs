//! The licences that `deny.toml` allows.

use std::collections::BTreeSet;

use crate::failure::Failure;

/// Reads `allow = [...]` in the section `[licenses]`.
///
/// This is not a reader of TOML: it knows plain strings in double quotes and
/// comments, which is all the list needs.
pub(crate) fn read(deny_toml: &str) -> Result<BTreeSet<String>, Failure> {
    let list = list(deny_toml)
        .ok_or_else(|| Failure::new("deny.toml has no list `allow` in `[licenses]`"))?;
    let mut licences = BTreeSet::new();
    for item in list.split(',').map(str::trim) {
        // A trailing comma leaves an empty item.
        if item.is_empty() {
            continue;
        }
        let licence = item
            .strip_prefix('"')
            .and_then(|item| item.strip_suffix('"'))
            .filter(|licence| !licence.contains(['"', '\\']))
            .ok_or_else(|| {
                Failure::new(format!("cannot read this licence in deny.toml: {item}"))
            })?;
        licences.insert(licence.to_owned());
    }
    Ok(licences)
}

/// Returns what stands between the brackets, or `None` without such a list.
fn list(deny_toml: &str) -> Option<String> {
    let mut lines = deny_toml
        .lines()
        // No licence has a `#` in its name.
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .skip_while(|line| *line != "[licenses]")
        .skip(1)
        .take_while(|line| !is_section(line))
        .skip_while(|line| !is_allow(line));

    let mut list = String::new();
    let mut next = lines.next()?.split_once('[')?.1;
    loop {
        if let Some((last, _)) = next.split_once(']') {
            list.push_str(last);
            return Some(list);
        }
        list.push_str(next);
        next = lines.next()?;
    }
}

fn is_section(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
}

fn is_allow(line: &str) -> bool {
    line.split_once('=')
        .is_some_and(|(key, _)| key.trim() == "allow")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_licences_section_is_read() {
        let deny_toml = r#"
[bans]
allow = ["serde"]

[licenses]
allow-osi-fsf-free = "neither"
allow = [
    "MIT", # short
    # "GPL-3.0-only",
    "Apache-2.0 WITH LLVM-exception",
]
unused-allowed-license = "allow"

[sources]
allow = ["somewhere"]
"#;

        let licences = ["MIT", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        assert_eq!(read(deny_toml), Ok(licences.into()));
    }

    #[test]
    fn the_list_may_stand_on_one_line() {
        let licences = ["MIT", "ISC"].map(str::to_owned);

        assert_eq!(
            read("[licenses]\nallow=[\"MIT\", \"ISC\"]"),
            Ok(licences.into())
        );
    }

    #[test]
    fn a_missing_or_unreadable_list_is_refused() {
        for deny_toml in [
            "",
            "[bans]\nallow = []",
            "[licenses]\nallow = [\"MIT\"",
            "[licenses]\nallow = \"MIT\"",
            "[licenses]\nallow = [MIT]",
            "[licenses]\nallow = [\"MIT\" \"ISC\"]",
        ] {
            assert!(read(deny_toml).is_err(), "{deny_toml}");
        }
    }

    #[test]
    fn our_own_list_is_read() {
        let licences = read(include_str!("../../deny.toml")).unwrap();

        assert!(licences.contains("MIT") && licences.contains("Apache-2.0"));
    }
}
