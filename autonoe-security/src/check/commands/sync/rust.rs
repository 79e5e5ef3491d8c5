//! Rust tools in sync mode.

use crate::check::commands::tool_options::Tool;

pub(super) fn verifies(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let (first, second) = (tool.first(), tool.second());
    match tool.name {
        "cargo" => match first {
            Some(
                "test" | "t" | "check" | "c" | "build" | "b" | "doc" | "tree" | "metadata"
                | "bench",
            ) => true,
            Some("clippy") => !tool.has_option(&["--fix"]),
            // It passes on the arguments after `--`.
            Some("fmt") => tool.has_anywhere("--check"),
            Some("nextest") => second == Some("run"),
            Some("audit") => !tool.has_anywhere("fix"),
            Some("deny") => second == Some("check"),
            _ => false,
        },
        "cargo-clippy" | "clippy" => !tool.has_option(&["--fix"]),
        "cargo-fmt" => tool.has_anywhere("--check"),
        "rustfmt" => tool.has("--check"),
        "rustup" => first == Some("show") || (first, second) == (Some("toolchain"), Some("list")),
        _ => false,
    }
}
