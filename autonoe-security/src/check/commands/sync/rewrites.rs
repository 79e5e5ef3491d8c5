//! Options that let a tool rewrite files, also after `--`.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::tool_options::option_name;
use crate::check::commands::tool_options::spelling::flags;

/// Options that rewrite files, for all tools.
const COMMON: &[&str] =
    words!("--fix --write --update --updateSnapshot --update-snapshot --update-snapshots");

/// Parts of the names of options that write a file of their choice, or rewrite expected results. The
/// tool behind a script, and its plugins, are unknown.
const WRITING: &[&str] = words!(
    "accept bless coverage-dir coveragedirectory golden init output outfile record regen rewrite",
    "snapshot-dir update",
);

/// Options with such a part that only read, or print.
const PRINTING: &[&str] =
    words!("--no-output --no-update-notifier --output-on-failure --show-output --test-output");

/// Options of one tool that rewrite sources, settings or baselines.
fn rewriting_options(name: &str) -> &'static [&'static str] {
    match name {
        "biome" => words!("--suppress"),
        "ruff" => words!("--add-noqa"),
        "tap" => words!("--snapshot -S"),
        "mypy" => words!("--install-types"),
        "pyright" => words!("--createstub"),
        "phpstan" => words!("--generate-baseline -b"),
        "psalm" => words!("--alter --set-baseline --update-baseline --init"),
        "rubocop" | "jest" | "rspec" | "cucumber" | "pest" => words!("--init"),
        "phpunit" => words!("--generate-configuration --migrate-configuration"),
        "pytest" => words!("--snapshot-update --inline-snapshot --force-regen --regen-all"),
        "eslint" => words!("--suppress-all --suppress-rule --prune-suppressions"),
        "node" => words!("--test-update-snapshots"),
        "go" => words!("-update -fix"),
        _ => &[],
    }
}

/// Returns whether the value in an option is a path in `/tmp`.
fn is_value_temporary(arg: &Arg<'_>) -> bool {
    let path = arg.known().and_then(|text| text.split_once('='));
    path.is_some_and(|(_, path)| path.starts_with("/tmp/") && !path.contains(".."))
}

/// Returns whether the name of an option says that it writes.
fn writes_by_name(option: &str) -> bool {
    let name = option.to_ascii_lowercase();
    let is_long = name.starts_with("--") && !PRINTING.contains(&option);
    is_long && WRITING.iter().any(|part| name.contains(part))
}

pub(super) fn check(call: &Call<'_, '_, '_>, name: &str, args: &[Arg<'_>]) -> Checked {
    let of_node = matches!(
        name,
        "vitest" | "jest" | "bun" | "npm" | "pnpm" | "yarn" | "npx" | "bunx"
    );
    let may_pass_on = matches!(
        name,
        "npm" | "pnpm" | "yarn" | "bun" | "composer" | "pytest"
    );
    // Some accept abbreviated options.
    let shortens = matches!(name, "mypy" | "phpstan" | "psalm" | "rubocop");
    let means = |text: &str, option: &str| {
        text == option || (shortens && text.len() > 5 && option.starts_with(text))
    };
    for arg in args {
        let text = arg.text.as_ref();
        // Ruff accepts settings as separate arguments.
        if !text.starts_with('-') && name != "ruff" {
            continue;
        }
        let option = option_name(text);
        let mut refused = COMMON.iter().chain(rewriting_options(name));
        let is_refused = refused.any(|it| means(option, it))
            || (of_node && is_cluster_with_u(option))
            || (may_pass_on && writes_by_name(option) && !is_value_temporary(arg))
            || (name == "go" && arg.is("-u") && args.iter().any(|it| it.text.ends_with("-args")));
        let is_setting = name == "ruff" && sets_fix(text.strip_prefix("--config=").unwrap_or(text));
        if is_refused || is_setting {
            return Err(call.deny_flag(Rule::R65, option, arg.span));
        }
    }
    Ok(())
}

/// Returns whether `-u`, which updates snapshots, is in a cluster of letters.
fn is_cluster_with_u(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| {
        let is_short = letters.contains('u')
            && letters.len() <= 3
            && letters.bytes().all(|letter| letter.is_ascii_alphabetic());
        let behind_flags = letters.trim_start_matches(|letter| flags("jest").contains(letter));
        is_short || behind_flags.starts_with('u')
    })
}

/// Returns whether ruff `settings` in TOML enable fixing files.
fn sets_fix(settings: &str) -> bool {
    settings.lines().any(|line| {
        let Some((key, _)) = line.split_once('=') else {
            return false;
        };
        let key = key.trim().trim_matches(['"', '\'']);
        // An escape may represent any letter.
        matches!(key, "fix" | "fix-only" | "extend") || key.contains('\\')
    })
}
