//! Files that a tool writes because an option names them.

use crate::check::arg::Arg;
use crate::check::build_output;
use crate::check::call::Checked;
use crate::check::commands::tool_options::Tool;
use crate::check::commands::tool_options::targets::{listings, targets};
use crate::check::write_target::Root;

/// Checks that all that options name lies where it may be written.
///
/// Tools put what they make into the project without an option too. An option may name such a
/// place, but no source.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    for option in targets(tool.name) {
        // The rules refuse this one.
        let is_refused = tool.name == "eslint" && matches!(*option, "-o" | "--output-file");
        for target in tool.values_of(&[option]).into_iter().flatten() {
            if is_refused {
                tool.call.write_target(&target, Root::Refused)?;
            } else {
                written(tool, &target)?;
            }
        }
    }
    for listing in listings(tool.name) {
        for value in tool.values_of(listing.options).into_iter().flatten() {
            for place in listing.places(&value) {
                written(tool, &place)?;
            }
        }
    }
    match prints_into_file(tool) {
        Some(file) => written(tool, file),
        None => Ok(()),
    }
}

fn written(tool: &Tool<'_, '_, '_, '_>, target: &Arg<'_>) -> Checked {
    match target.known() {
        Some("-" | "stdout" | "stderr") => Ok(()),
        Some(path) if build_output::is_report(path) => tool.call.product(target),
        _ => tool.call.write_target(target, Root::Refused),
    }
}

/// Returns the file behind `--print-config KIND` of rustfmt.
fn prints_into_file<'t, 's>(tool: &Tool<'t, '_, '_, 's>) -> Option<&'t Arg<'s>> {
    if !matches!(tool.name, "rustfmt" | "cargo-fmt" | "cargo") {
        return None;
    }
    let is_option = |arg: &Arg<'_>| arg.text.split('=').next() == Some("--print-config");
    let at = tool.args.iter().position(is_option)?;
    let is_kind = |arg: &Arg<'_>| {
        arg.known()
            .is_some_and(|kind| matches!(kind, "default" | "minimal" | "current"))
    };
    let mut operands = tool.args[at + 1..].iter();
    operands.find(|arg| !arg.text.starts_with('-') && !is_kind(arg))
}
