//! Compiles and runs the code in guides as doctests.
//!
//! These are the guides that need the heavier crates. The others are doctests of `consumer`, a
//! crate outside the workspace. `cargo xtask test` builds the program of the README in a new crate.

/// The guides, as doctests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../guides/bash-policy.md")]
    mod bash_policy {}

    #[doc = include_str!("../guides/what-a-policy-can-stop.md")]
    mod what_a_policy_can_stop {}

    #[doc = include_str!("../guides/tool-server.md")]
    mod tool_server {}

    #[doc = include_str!("../guides/fleets.md")]
    mod fleets {}

    #[cfg(target_os = "linux")]
    #[doc = include_str!("../guides/processes.md")]
    mod processes {}

    #[doc = include_str!("../guides/codex.md")]
    mod codex {}

    #[doc = include_str!("../guides/acp.md")]
    mod acp {}

    #[doc = include_str!("../guides/models.md")]
    mod models {}

    #[doc = include_str!("../guides/browser.md")]
    mod browser {}

    #[cfg(target_os = "linux")]
    #[doc = include_str!("../guides/fake-claude.md")]
    mod fake_claude {}

    #[cfg(target_os = "linux")]
    #[doc = include_str!("../guides/executors.md")]
    mod executors {}

    #[doc = include_str!("../guides/dashboard.md")]
    mod dashboard {}
}

#[cfg(test)]
mod examples;
#[cfg(test)]
mod features;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_readme_shows_the_whole_of_the_example_that_it_names() {
        let readme = include_str!("../../README.md");
        let example = include_str!("../../examples/embed.rs");
        let block = readme
            .split("```rust\n")
            .nth(1)
            .and_then(|rest| rest.split("```").next())
            .expect("the README has a block of Rust");

        assert!(
            example.ends_with(block),
            "README.md and examples/embed.rs differ"
        );
        assert!(block.lines().count() <= 30, "the promise is thirty lines");
    }

    /// Returns the file name and the text of each guide.
    fn guides() -> Vec<(String, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guides");
        let entries = fs::read_dir(folder).expect("the guides can be listed");
        entries
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name").to_string_lossy();
                let text = fs::read_to_string(&path).expect("a guide");
                (name.into_owned(), text)
            })
            .collect()
    }

    #[test]
    fn every_guide_with_rust_is_compiled_in_one_crate() {
        let crates = [
            include_str!("lib.rs"),
            include_str!("../consumer/src/lib.rs"),
            include_str!("../../autonoe-temporal/src/lib.rs"),
        ];

        for (name, text) in guides() {
            let included = format!("guides/{name}\")]");
            let places = crates.iter().filter(|text| text.contains(&included));
            let has_rust = text.contains("```rust");
            assert!(places.count() == 1 || !has_rust, "{name}");
        }
    }

    #[test]
    fn no_guide_uses_the_former_tag_of_claude_code() {
        for (name, text) in guides() {
            assert!(!text.contains("\"type\": \"claude-code\""), "{name}");
        }
    }
}
