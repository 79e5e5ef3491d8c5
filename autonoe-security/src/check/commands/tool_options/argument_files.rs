//! `@file` arguments, whose contents the command line does not show.

use super::Tool;
use crate::Rule;
use crate::check::call::Checked;

/// Returns whether `tool` replaces an argument `@file` by the arguments in that file.
fn expands(tool: &Tool<'_, '_, '_, '_>) -> bool {
    match tool.name {
        "rustc" | "rustdoc" | "clippy" | "cargo-clippy" | "tsc" | "vue-tsc" | "mypy" | "dmypy"
        | "pytest" | "ruff" | "ty" | "pyrefly" => true,
        // They pass the arguments after `--` to rustc or rustdoc.
        "cargo" => tool.args.iter().any(|arg| {
            matches!(
                arg.text.as_ref(),
                "rustc" | "rustdoc" | "clippy" | "fix" | "miri"
            )
        }),
        _ => false,
    }
}

/// Denies argument files.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    if !expands(tool) {
        return Ok(());
    }
    let mut before = "";
    for arg in tool.args {
        let is_pattern = matches!(before, "-k" | "-m" | "--package" | "-p");
        if arg.text.starts_with('@') && !is_pattern {
            let reason = format!("the file '{}' holds more arguments", arg.text);
            return Err(crate::Denial::by(Rule::R92, arg.span, reason)
                .instead("write the arguments on the command line"));
        }
        before = arg.text.as_ref();
    }
    Ok(())
}
