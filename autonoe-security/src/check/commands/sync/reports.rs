//! Files that a tool writes because an option names them.

use super::tool::Tool;
use crate::check::call::Checked;
use crate::check::write_target::Root;

/// Options of a tool that name a file or folder to write.
pub(super) fn targets(tool: &str) -> &'static [&'static str] {
    match tool {
        "eslint" => &["-o", "--output-file"],
        "jest" | "vitest" => &["--outputFile"],
        "vite" => &["--outDir"],
        "tsc" | "vue-tsc" => &["--generateTrace"],
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
        "phpunit" | "pest" => &["--log-junit", "--coverage-clover"],
        "cargo" => &["--target-dir"],
        _ => &[],
    }
}

/// Folders in which projects keep what is made.
const FOLDERS: &[&str] = &[
    "bin",
    "build",
    "coverage",
    "dist",
    "out",
    "output",
    "report",
    "reports",
    "target",
    "test-results",
    "tmp",
];

/// Endings of files that are made, and that nobody writes by hand.
const ENDINGS: &[&str] = &[
    ".cov", ".exe", ".html", ".lcov", ".log", ".out", ".prof", ".sarif", ".test", ".xml",
];

/// Checks that all that options name lies where it may be written.
///
/// Tools put what they make into the project without an option too. An option may name such a
/// place, but no source.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let targets = targets(tool.name);
    if targets.is_empty() {
        return Ok(());
    }
    for target in tool.values_of(targets).into_iter().flatten() {
        match tool.name != "eslint" && target.known().is_some_and(is_made) {
            true => tool.call.product(&target)?,
            false => tool.call.write_target(&target, Root::Refused)?,
        }
    }
    Ok(())
}

/// Tells whether a path is one of something that is made.
fn is_made(path: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    let folder = path.split('/').next().unwrap_or(path);
    FOLDERS.contains(&folder) && !path.contains("..")
        || ENDINGS.iter().any(|ending| path.ends_with(ending))
}
