//! Rules for the README of a package, which readers see outside of the repository.

/// Lists relative links, and Rust examples that are in none of the compiled `sources`.
///
/// The sources are [normalized](normalize).
pub(super) fn violations(package: &str, text: &str, sources: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (_, link) in text
        .match_indices("](")
        .map(|(at, _)| text.split_at(at + 2))
    {
        let link = link.split(')').next().unwrap_or_default();
        if !link.starts_with("https://") {
            found.push(format!(
                "{package}: the link {link} in README.md is relative"
            ));
        }
    }
    let examples: Vec<_> = text
        .split("```rust\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .map(normalize)
        .collect();
    if examples.is_empty() {
        found.push(format!("{package}: README.md has no example"));
    }
    for example in examples {
        if !sources.iter().any(|source| source.contains(&example)) {
            let first = example.lines().next().unwrap_or_default();
            found.push(format!(
                "{package}: the example in README.md that starts with `{first}` is not in a guide, \
                 an example or a documentation comment, so nothing compiles it"
            ));
        }
    }
    found
}

/// Removes indentation, comment markers, hidden lines of doctests and empty lines.
pub(super) fn normalize(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim();
        let line = line
            .strip_prefix("//!")
            .or_else(|| line.strip_prefix("///"))
            .unwrap_or(line)
            .trim();
        if !line.is_empty() && line != "#" && !line.starts_with("# ") {
            normal.push_str(line);
            normal.push('\n');
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "# A crate\n\n[docs](https://docs.rs/a)\n\n```rust\nlet a = open()?;\n\n\
                          assert!(a.is_open());\n```\n";

    #[test]
    fn an_example_may_have_hidden_lines_in_its_source() {
        let source = normalize(
            "//! Opens.\n//!\n//! ```\n//! let a = open()?;\n//! # drop(1);\n\
             //! assert!(a.is_open());\n//! ```\n",
        );

        assert_eq!(violations("a", README, &[source]), Vec::<String>::new());
    }

    #[test]
    fn an_example_that_nothing_compiles_is_listed() {
        let found = violations("a", README, &[normalize("let a = open()?;")]);

        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("a: the example in README.md that starts with `let a = open()?;`")
        );
    }

    #[test]
    fn relative_links_are_listed() {
        assert_eq!(
            violations(
                "a",
                "See [the guide](docs/guide.md) and [x](https://x.org).",
                &[]
            ),
            [
                "a: the link docs/guide.md in README.md is relative",
                "a: README.md has no example",
            ]
        );
    }
}
