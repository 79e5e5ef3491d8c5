//! Rust tools in sync mode.

use crate::check::arg::Arg;
use crate::check::commands::tool_options::Tool;

pub(super) fn verifies(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let (first, second) = (tool.first(), tool.second());
    match tool.name {
        "cargo" => match first {
            Some(
                "test" | "t" | "check" | "c" | "build" | "b" | "doc" | "tree" | "metadata"
                | "bench",
            ) => true,
            Some("clippy") => !tool.has_option(&["--fix"]) && passes_lints_only(tool),
            // It passes on the arguments after `--`.
            Some("fmt") => tool.has_anywhere("--check"),
            Some("nextest") => second == Some("run"),
            Some("audit") => !tool.has_anywhere("fix"),
            Some("deny") => second == Some("check"),
            _ => false,
        },
        "cargo-clippy" | "clippy" => !tool.has_option(&["--fix"]) && passes_lints_only(tool),
        "cargo-fmt" => tool.has_anywhere("--check"),
        "rustfmt" => tool.has("--check"),
        "rustup" => first == Some("show") || (first, second) == (Some("toolchain"), Some("list")),
        _ => false,
    }
}

/// Returns whether the arguments after `--`, which the compiler gets, only set the levels of lints.
fn passes_lints_only(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let mut args = tool.args.iter().skip_while(|arg| !arg.is("--")).skip(1);
    let is_lint = |text: &str| {
        let mut bytes = text.bytes();
        bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b":_-".contains(&byte))
    };
    while let Some(arg) = args.next() {
        let Some(text) = arg.known() else {
            return false;
        };
        let is_level = match text {
            "-D" | "-W" | "-A" | "-F" | "--deny" | "--warn" | "--allow" | "--forbid" => {
                args.next().and_then(Arg::known).is_some_and(is_lint)
            }
            text => [
                "-D",
                "-W",
                "-A",
                "-F",
                "--deny=",
                "--warn=",
                "--allow=",
                "--forbid=",
            ]
            .iter()
            .any(|level| text.strip_prefix(level).is_some_and(is_lint)),
        };
        if !is_level {
            return false;
        }
    }
    true
}
