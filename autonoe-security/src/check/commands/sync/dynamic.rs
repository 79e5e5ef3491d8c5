//! Arguments that are not known before a tool runs.

use super::tool::Tool;
use crate::check::call::Checked;
use crate::check::commands::tools::is_one_word;

/// Options that take what follows, whatever it is: names of tests and packages.
fn filters(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" => &["-w", "--workspace"],
        "pnpm" => &["-F", "--filter"],
        "pytest" => &["-k", "-m", "-n"],
        "python" | "python3" | "nox" => &["-k"],
        "tox" => &["-e"],
        "vitest" => &["-t", "--testNamePattern", "--project"],
        "jest" => &["-t", "--testNamePattern", "--testPathPattern"],
        "mocha" => &["-g", "--grep", "-f", "--fgrep"],
        "playwright" => &["-g", "--grep", "--project"],
        "cypress" => &["--spec"],
        "node" => &["--test-name-pattern"],
        "go" => &["-run", "-bench", "-skip", "-timeout", "-tags", "-count"],
        "cargo" => &["-p", "--package", "--test", "--example", "--features"],
        "rspec" => &["-e", "--example", "-t", "--tag"],
        "cucumber" => &["-n", "--name", "-t", "--tags"],
        "rails" => &["-n", "--name"],
        "phpunit" | "pest" => &["--filter", "--group", "--testsuite"],
        "php" | "artisan" => &["--filter"],
        _ => &[],
    }
}

/// Refuses arguments that may turn into options.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let filters = filters(tool.name);
    let mut is_value = false;
    for arg in tool.args.iter().take_while(|arg| !arg.is("--")) {
        if std::mem::take(&mut is_value) && is_one_word(arg) {
            continue;
        }
        is_value = arg.known().is_some_and(|text| filters.contains(&text));
        let has_name = arg.text.starts_with("--") && arg.text.contains('=');
        if !arg.is_static() && !has_name && !tool.call.is_option_safe(arg) {
            return Err(tool.call.deny_dynamic(arg));
        }
    }
    Ok(())
}
