//! Ruby tools in sync mode.

use super::scripts::is_verifying;
use crate::check::commands::tool_options::Tool;

pub(super) fn verifies(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let first = tool.first();
    match tool.name {
        "rspec" | "minitest" | "cucumber" => true,
        // Its options may be abbreviated.
        "rubocop" => {
            !tool.has_option_like(&["--a", "--fix", "--reg"])
                && !tool.has_option(&["-a", "-A", "-x"])
                && !has_correcting_letter(tool)
        }
        "standard" => !tool.has_option_like(&["--fix"]),
        "bundle" | "bundler" => {
            matches!(first, Some("check" | "list" | "show" | "info" | "outdated"))
        }
        "rake" => rake(tool),
        "rails" => first.is_some_and(|task| {
            matches!(task, "test" | "routes" | "zeitwerk:check") || task.starts_with("test:")
        }),
        "ruby" => interpreter(tool),
        "gem" => first == Some("list"),
        _ => false,
    }
}

/// Returns whether `-a`, `-A` or `-x` of rubocop is in a cluster.
fn has_correcting_letter(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let mut options = tool.args.iter().map(|arg| arg.text.as_ref());
    options.any(|text| {
        let is_cluster = text.starts_with('-') && !text.starts_with("--");
        // `-c FILE`, `-f FORMAT`, `-o FILE` and `-r FILE` take the rest of the argument.
        let letters = text.split(['c', 'f', 'o', 'r']).next().unwrap_or(text);
        is_cluster && letters.contains(['a', 'A', 'x'])
    })
}

fn rake(tool: &Tool<'_, '_, '_, '_>) -> bool {
    if let [flag] = tool.args {
        return flag.is("-T") || flag.known().is_some_and(is_verifying);
    }
    let mut tasks = tool.operands().peekable();
    tasks.peek().is_some()
        && tasks.all(|task| {
            let is_variable = |text: &str| text.contains('=');
            task.known()
                .is_some_and(|text| is_variable(text) || is_verifying(text))
        })
        && !tool.has_option_like(&["--di", "--e", "--l", "--r", "--sy"])
        && !tool.args.iter().any(|arg| is_foreign_code(&arg.text))
}

/// Short options of rake that run code from the command line, or from another location.
fn is_foreign_code(text: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
    letters.is_some_and(|letters| letters.contains(['e', 'E', 'p', 'f', 'r', 'I', 'R', 'C', 'g']))
}

fn interpreter(tool: &Tool<'_, '_, '_, '_>) -> bool {
    if let [flag, file] = tool.args
        && (flag.is("-c") || flag.is("-wc"))
    {
        return !file.text.starts_with('-');
    }
    let mut args = tool.args;
    while let [first, rest @ ..] = args {
        let text = first.text.as_ref();
        if first.is("-I") {
            args = rest.get(1..).unwrap_or_default();
        } else if text.starts_with("-I") {
            args = rest;
        } else {
            let is_test = |file: &str| file.ends_with("_test.rb") || file.ends_with("_spec.rb");
            return first
                .known()
                .is_some_and(|file| !file.starts_with('-') && is_test(file));
        }
    }
    false
}
