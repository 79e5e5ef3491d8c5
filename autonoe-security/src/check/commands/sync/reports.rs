//! Files that a tool writes because an option names them.

use super::tool::Tool;
use crate::check::write_target::Root;

/// Options of a tool that name a file or folder to write.
pub(super) fn targets(tool: &str) -> &'static [&'static str] {
    match tool {
        "eslint" => &["-o", "--output-file"],
        "jest" | "vitest" => &["--outputFile"],
        "vite" => &["--outDir"],
        "tsc" | "vue-tsc" => &["--outDir", "--outFile", "--generateTrace"],
        "pytest" => &["--junitxml", "--junit-xml", "--junitx", "--junit-x"],
        "mypy" => &[
            "--junit-xml",
            "--html-report",
            "--txt-report",
            "--xml-report",
        ],
        "ruff" => &["-o", "--output-file"],
        "flake8" | "pylint" => &["--output-file", "--output"],
        "go" => &[
            "-o",
            "--o",
            "-coverprofile",
            "--coverprofile",
            "-cpuprofile",
            "-memprofile",
            "-trace",
        ],
        "rubocop" | "rspec" | "cucumber" => &["-o", "--out"],
        "phpunit" | "pest" => &["--log-junit", "--coverage-clover", "--coverage-text"],
        "cargo" => &["--target-dir"],
        _ => &[],
    }
}

/// Tells whether all that options name goes where sync mode may write.
pub(super) fn go_elsewhere(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let targets = targets(tool.name);
    if targets.is_empty() {
        return true;
    }
    tool.values_of(targets).into_iter().all(|target| {
        target.is_some_and(|target| tool.call.write_target(&target, Root::Refused).is_ok())
    })
}
