//! Python tools in sync mode.

use super::{options_are_harmless, rewrites};
use crate::check::arg::Arg;
use crate::check::commands::tool_options::Tool;

pub(super) fn verifies(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let (first, second) = (tool.first(), tool.second());
    match tool.name {
        "pytest" | "tox" | "nox" | "mypy" | "pyright" | "flake8" | "pylint" => true,
        "ruff" => ruff(tool, first),
        "black" => black(tool),
        "pycodestyle" | "pydocstyle" | "pyflakes" | "vulture" => true,
        "bandit" => !tool.has_option_like(&["-o", "--output"]),
        "basedpyright" => !tool.has_option_like(&["--write", "--create"]),
        "isort" => tool.has("--check") || tool.has("--check-only") || tool.has("-c"),
        "coverage" => tool.args.first().is_some_and(|first| first.is("report")),
        "alembic" => {
            let first = tool.args.first().and_then(|first| first.known());
            matches!(first, Some("check" | "current" | "heads" | "history"))
        }
        "python" | "python3" => interpreter(tool),
        "pip" | "pip3" => matches!(first, Some("list" | "show" | "check" | "freeze")),
        "uv" => {
            first == Some("pip") && matches!(second, Some("list" | "show" | "check" | "freeze"))
        }
        "poetry" => matches!(first, Some("check" | "show")),
        "pipenv" => matches!(first, Some("graph" | "verify")),
        _ => false,
    }
}

fn ruff(tool: &Tool<'_, '_, '_, '_>, first: Option<&str>) -> bool {
    match first {
        Some("check") => !tool.has_option(&["--fix", "--fix-only"]),
        Some("format") => tool.has("--check") || tool.has("--diff"),
        _ => false,
    }
}

fn black(tool: &Tool<'_, '_, '_, '_>) -> bool {
    tool.has("--check") || tool.has("--diff")
}

fn interpreter(tool: &Tool<'_, '_, '_, '_>) -> bool {
    match tool.args {
        [flag, module, rest @ ..] if flag.is("-m") => module
            .known()
            .is_some_and(|name| is_module(tool, name, rest)),
        [script, action, ..] if script.is("manage.py") => {
            matches!(action.known(), Some("test" | "check"))
        }
        _ => false,
    }
}

fn is_module<'s>(tool: &Tool<'_, '_, '_, 's>, name: &str, args: &[Arg<'s>]) -> bool {
    let inner = Tool {
        call: tool.call,
        name,
        args,
        // Options before the subcommand would have to be parsed.
        at: Some(0),
    };
    let verifies = match name {
        "unittest" | "pytest" | "mypy" | "pyright" | "flake8" | "pylint" | "tox" | "nox" => true,
        "ruff" => ruff(&inner, inner.first()),
        "black" => black(&inner),
        _ => false,
    };
    verifies
        && rewrites::check(tool.call, name, args).is_ok()
        && options_are_harmless(&inner).is_ok()
}
