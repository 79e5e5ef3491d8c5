//! Node.js tools in sync mode.

use crate::check::arg::Arg;
use crate::check::commands::tool_options::Tool;

pub(super) fn verifies(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let first = tool.first();
    match tool.name {
        "vitest" => first != Some("init"),
        "jest" | "mocha" => true,
        "tsc" => emits_nothing(tool),
        "eslint" => !tool.has_option(&["--fix", "--init"]),
        "prettier" => !tool.has_option(&["--write"]) && !has_letter(tool, 'w'),
        "biome" => {
            matches!(first, Some("check" | "lint" | "ci" | "format"))
                && !tool.has_option(&["--write", "--fix", "--apply", "--apply-unsafe"])
        }
        "vite" => first == Some("build"),
        "next" => matches!(first, Some("build" | "lint")),
        "nuxt" => matches!(first, Some("build" | "typecheck")),
        "astro" => matches!(first, Some("build" | "check")),
        "node" => match tool.args {
            [flag, rest @ ..] if flag.is("--test") => rest.iter().all(is_test_argument),
            [flag, file] => (flag.is("--check") || flag.is("-c")) && !file.text.starts_with('-'),
            _ => false,
        },
        "deno" => match first {
            Some("test" | "lint" | "check") => true,
            Some("fmt") => tool.has("--check"),
            _ => false,
        },
        _ => verifies_started(tool),
    }
}

/// Returns whether `arg` is not an option of Node.js, or is one for running tests.
///
/// Others could negate `--test` and run code of the command line: `--no-test -e`.
fn is_test_argument(arg: &Arg<'_>) -> bool {
    const HARMLESS: &[&str] = words!(
        "--allow-fs-read --allow-worker --enable-source-maps --env-file --env-file-if-exists",
        "--import --loader --no-experimental-strip-types --no-warnings --permission --require",
        "--stack-trace-limit --trace-deprecation --trace-uncaught --trace-warnings",
        "--unhandled-rejections --watch --watch-path --watch-preserve-output -C -r",
    );
    const PREFIXES: &[&str] = words!(
        "--conditions --cpu-prof --disable-warning --experimental- --expose-gc --heap-prof --max-",
        "--max_ --redirect-warnings --report- --test --tls-keylog --diagnostic-dir",
        "--trace-event-file-pattern",
    );
    let text = arg.text.as_ref();
    if !text.starts_with('-') {
        return true;
    }
    let name = text.split('=').next().unwrap_or(text).replace('_', "-");
    // It would write an executable.
    let is_build = name == "--experimental-sea-config";
    let is_listed =
        HARMLESS.contains(&name.as_str()) || PREFIXES.iter().any(|start| name.starts_with(start));
    is_listed && !is_build
}

/// Judges tools that are mostly started by `npx` and similar runners.
pub(super) fn verifies_started(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let first = tool.first();
    match tool.name {
        "vue-tsc" => emits_nothing(tool),
        "ava" | "tap" | "svelte-check" => true,
        "oxlint" => !tool.has_option_like(&["--fix"]),
        "prisma" => first == Some("validate"),
        "stylelint" => !tool.has_option(&["--fix"]),
        "playwright" => first == Some("test"),
        "cypress" => first == Some("run"),
        _ => false,
    }
}

/// Returns whether the compiler only checks types.
fn emits_nothing(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let mut checks = false;
    let mut args = tool.args.iter().peekable();
    while let Some(arg) = args.next() {
        // A file with more arguments.
        if arg.text.starts_with('@') {
            return false;
        }
        // The compiler ignores letter case and the number of dashes.
        let option = arg.text.strip_prefix('-').unwrap_or_default();
        let option = option.strip_prefix('-').unwrap_or(option);
        let is = |name: &str| option.eq_ignore_ascii_case(name);
        if is("init") || is("clean") {
            return false;
        }
        if is("noEmit") {
            let next = args.peek().map(|next| next.text.as_ref());
            checks = !next.is_some_and(|next| {
                next.eq_ignore_ascii_case("false") || next.eq_ignore_ascii_case("null")
            });
            if !checks {
                return false;
            }
        }
    }
    checks
}

fn has_letter(tool: &Tool<'_, '_, '_, '_>, letter: char) -> bool {
    let mut options = tool.args.iter().map(|arg| arg.text.as_ref());
    options.any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains(letter))
}
