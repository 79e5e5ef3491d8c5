//! Compiles and runs the code in the README and the guides, as doctests.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

/// The guides, as doctests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../guides/embedding.md")]
    mod embedding {}

    #[doc = include_str!("../guides/backends.md")]
    mod backends {}

    #[doc = include_str!("../guides/writing-a-backend.md")]
    mod writing_a_backend {}

    #[doc = include_str!("../guides/hooks.md")]
    mod hooks {}

    #[doc = include_str!("../guides/permission-rules.md")]
    mod permission_rules {}

    #[doc = include_str!("../guides/bash-security.md")]
    mod bash_security {}

    #[doc = include_str!("../guides/bash-policy.md")]
    mod bash_policy {}

    #[doc = include_str!("../guides/what-a-policy-can-stop.md")]
    mod what_a_policy_can_stop {}

    #[doc = include_str!("../guides/repositories.md")]
    mod repositories {}

    #[doc = include_str!("../guides/instructions.md")]
    mod instructions {}

    #[doc = include_str!("../guides/tools.md")]
    mod tools {}

    #[doc = include_str!("../guides/tool-server.md")]
    mod tool_server {}

    #[doc = include_str!("../guides/observers.md")]
    mod observers {}

    #[doc = include_str!("../guides/time-and-ids.md")]
    mod time_and_ids {}

    #[doc = include_str!("../guides/specs.md")]
    mod specs {}

    #[doc = include_str!("../guides/testing.md")]
    mod testing {}

    #[doc = include_str!("../guides/cassettes-and-chaos.md")]
    mod cassettes_and_chaos {}

    #[doc = include_str!("../guides/fleets.md")]
    mod fleets {}

    #[doc = include_str!("../guides/configuration.md")]
    mod configuration {}

    #[cfg(target_os = "linux")]
    #[doc = include_str!("../guides/processes.md")]
    mod processes {}

    #[doc = include_str!("../guides/project.md")]
    mod project {}

    #[doc = include_str!("../guides/claude-code.md")]
    mod claude_code {}

    #[doc = include_str!("../guides/codex.md")]
    mod codex {}

    #[doc = include_str!("../guides/acp.md")]
    mod acp {}

    #[doc = include_str!("../guides/models.md")]
    mod models {}

    #[doc = include_str!("../guides/model-servers.md")]
    mod model_servers {}

    #[doc = include_str!("../guides/report.md")]
    mod report {}

    #[doc = include_str!("../guides/browser.md")]
    mod browser {}

    #[cfg(target_os = "linux")]
    #[doc = include_str!("../guides/fake-claude.md")]
    mod fake_claude {}

    #[doc = include_str!("../guides/flows.md")]
    mod flows {}

    #[cfg(target_os = "linux")]
    #[doc = include_str!("../guides/executors.md")]
    mod executors {}

    #[doc = include_str!("../guides/dashboard.md")]
    mod dashboard {}

    #[doc = include_str!("../guides/run-machine.md")]
    mod run_machine {}
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
    fn every_guide_with_rust_is_compiled() {
        let ours = include_str!("lib.rs");
        let of_temporal = include_str!("../../autonoe-temporal/src/lib.rs");

        for (name, text) in guides() {
            let included = format!("guides/{name}\")]");
            let is_compiled = ours.contains(&included) || of_temporal.contains(&included);
            assert!(is_compiled || !text.contains("```rust"), "{name}");
        }
    }

    #[test]
    fn no_guide_uses_the_former_tag_of_claude_code() {
        for (name, text) in guides() {
            assert!(!text.contains("\"type\": \"claude-code\""), "{name}");
        }
    }
}
