//! Compiles and runs the code in guides as doctests.
//!
//! These are the guides that need the heavier crates. The others are doctests of `consumer`, a
//! crate outside the workspace. `cargo xtask test` builds the program of the README and follows the
//! tutorials in new crates.

/// The guides, as doctests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../guides/bash-policy.md")]
    mod bash_policy {}

    #[doc = include_str!("../guides/what-a-policy-can-stop.md")]
    mod policy_limits {}

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

    #[doc = include_str!("../guides/telemetry.md")]
    mod telemetry {}
}

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod features;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod variants;

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

    /// The folders with pages whose code is compiled.
    const FOLDERS: [&str; 4] = ["cookbook", "guides", "reference", "tutorials"];

    /// Returns the path below `docs` and the text of each page in these folders.
    fn pages() -> Vec<(String, String)> {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut pages = Vec::new();
        for folder in FOLDERS {
            for entry in fs::read_dir(docs.join(folder)).expect("the pages can be listed") {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name").to_string_lossy();
                let text = fs::read_to_string(&path).expect("a page");
                pages.push((format!("{folder}/{name}"), text));
            }
        }
        pages
    }

    #[test]
    fn every_page_with_rust_is_compiled_in_one_crate() {
        let crates = [
            include_str!("lib.rs"),
            include_str!("../consumer/src/lib.rs"),
            include_str!("../../autonoe-temporal/src/lib.rs"),
        ];

        for (name, text) in pages() {
            // `cargo xtask test` follows the tutorials, each in a crate of its own.
            if name.starts_with("tutorials/") {
                continue;
            }
            let included = format!("/{name}\")]");
            let places = crates.iter().filter(|text| text.contains(&included));
            let has_rust = text.contains("```rust");
            assert!(places.count() == 1 || !has_rust, "{name}");
        }
    }

    #[test]
    fn no_page_uses_the_former_tag_of_claude_code() {
        for (name, text) in pages() {
            assert!(!text.contains("\"type\": \"claude-code\""), "{name}");
        }
    }
}
