//! Package managers in sync mode: scripts whose names indicate verification, and queries.

use crate::check::commands::tool_options::Tool;
use crate::check::commands::tools::{CommandReading, own_options};

const VERIFYING: &[&str] = words!(
    "test tests lint build typecheck types type tsc check compile coverage verify ci e2e unit",
    "integration spec validate vitest jest",
);

const CHANGING: &[&str] = words!(
    "fix write update deploy publish release dev start serve watch install clean migrate seed",
    "format",
);

/// Returns whether the name of a script indicates verification.
pub(super) fn is_verifying(name: &str) -> bool {
    let parts: Vec<&str> = name.split([':', '-', '_', '.']).collect();
    let Some(first) = parts.first() else {
        return false;
    };
    let checks_format = matches!(*first, "format" | "fmt" | "prettier") && parts.contains(&"check");
    checks_format
        || (VERIFYING.contains(first) && !parts.iter().any(|part| CHANGING.contains(part)))
}

pub(super) fn verifies(tool: &Tool<'_, '_, '_, '_>, words: &CommandReading<'_, '_>) -> bool {
    let Some(first) = words.first() else {
        return false;
    };
    let Some(next) = next_words(tool, words) else {
        return false;
    };
    let runs_script = || !next.is_empty() && next.iter().all(|name| is_verifying(name));
    let asks =
        |questions: &[&str]| !next.is_empty() && next.iter().all(|word| questions.contains(word));
    match (tool.name, first) {
        ("npm", "run" | "run-script") if next.is_empty() => true,
        ("npm", "run" | "run-script") | ("pnpm" | "yarn" | "bun", "run") => runs_script(),
        ("npm", "test" | "t" | "tst") | ("pnpm", "t") => true,
        ("npm" | "pnpm" | "yarn", "audit") => !tool.has_anywhere("fix"),
        ("npm" | "pnpm" | "yarn", "pkg") => asks(&["get"]),
        ("npm" | "pnpm" | "yarn", question) if is_question(question) => true,
        ("npm", "config") => asks(&["get", "list", "ls"]),
        ("bun", "test") => true,
        ("bun", "pm") => asks(&["ls"]),
        ("composer", "run" | "run-script") => runs_script(),
        ("composer", "validate" | "show" | "outdated" | "audit" | "check-platform-reqs") => true,
        ("pnpm" | "yarn" | "composer", script) => is_verifying(script),
        _ => false,
    }
}

fn is_question(word: &str) -> bool {
    matches!(
        word,
        "ls" | "list" | "outdated" | "why" | "explain" | "view" | "info"
    )
}

/// Returns the possible words after the subcommand, in every reading; `None` if one is unknown.
fn next_words<'t>(
    tool: &Tool<'t, '_, '_, '_>,
    words: &CommandReading<'_, '_>,
) -> Option<Vec<&'t str>> {
    let from = words.at()? + 1;
    // Arguments after `--` belong to the script.
    let end = tool.args.iter().position(|arg| arg.is("--"));
    let own = &tool.args[..end.unwrap_or(tool.args.len()).max(from)];
    let table = own_options(tool.name)?;
    let places = table.first_operands(tool.call, own, from).ok()?;
    let next = places.into_iter().flatten();
    next.map(|at| tool.args[at].known()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_script_decides() {
        for name in [
            "test",
            "test:unit",
            "lint",
            "type-check",
            "format:check",
            "ci.build",
            "e2e",
        ] {
            assert!(is_verifying(name), "{name}");
        }
        for name in [
            "deploy",
            "test:update",
            "lint-fix",
            "format",
            "start",
            "mytest",
            "build:watch",
        ] {
            assert!(!is_verifying(name), "{name}");
        }
    }
}
