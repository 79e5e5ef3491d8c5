//! Output files and folders of tools in run mode: inside the project, or in `/tmp`.

use super::own_args::own_args;
use super::targets::{listings, run_targets, targets, working_folders};
use super::{Tool, emptied};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::glob_targets;
use crate::check::write_target::{Root, escapes, protected};

/// Checks that all outputs in options and operands are writable locations.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let own = Tool {
        args: own_args(tool.name, tool.args),
        ..*tool
    };
    let options = [targets(tool.name), run_targets(tool.name)].concat();
    for target in own.values_of(&options).into_iter().flatten() {
        check_output(&own, &target)?;
    }
    for listing in listings(tool.name) {
        for value in own.values_of(listing.options).into_iter().flatten() {
            for place in listing.outputs(&value) {
                check_output(&own, &place)?;
            }
        }
    }
    check_test_log(tool)?;
    emptied::check(tool)?;
    works_inside(&own)?;
    edits_inside(tool)?;
    operands_are_inside(&own)
}

/// Checks the log that tests of Rust write, after `--`.
fn check_test_log(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    if tool.name != "cargo" {
        return Ok(());
    }
    for target in tool.values_of(&["--logfile"]).into_iter().flatten() {
        check_output(tool, &target)?;
    }
    Ok(())
}

fn check_output(tool: &Tool<'_, '_, '_, '_>, target: &Arg<'_>) -> Checked {
    match target.known() {
        Some("-" | "" | "stdout" | "stderr") => Ok(()),
        // Some tools expand `~` themselves.
        Some(path) if path.starts_with('~') => Err(escapes(target, Rule::R28)),
        Some(_) => tool.call.check_write_target(target, Root::Accepted),
        None => match known_folders(tool, target) {
            Some(path) => {
                let path = Arg::plain(path, target.span);
                tool.call.check_write_target(&path, Root::Refused)
            }
            None => tool.call.check_write_target(target, Root::Accepted),
        },
    }
}

/// Returns an example of the paths that `target` may become, if only names in it are unknown:
/// `bin/app-$os` in a loop over names.
pub(super) fn known_folders(tool: &Tool<'_, '_, '_, '_>, target: &Arg<'_>) -> Option<String> {
    if target.is_static() {
        return None;
    }
    let path = tool.call.with_plain_names(target)?;
    // The option may be in the same argument as its value.
    let at = path.find(target.text.as_ref())?;
    Some(path[at..].to_owned())
}

/// Checks that the tool works inside the project or `/tmp`.
fn works_inside(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    for place in tool
        .values_of(working_folders(tool.name))
        .into_iter()
        .flatten()
    {
        let leads_out = |text: &str| !tool.call.is_in_reach(text);
        if place.is_in_home() || place.known().is_some_and(leads_out) {
            return Err(escapes(&place, Rule::R92));
        }
    }
    Ok(())
}

/// Checks that ruby works inside the project or `/tmp`, also on the files that `-i` edits.
fn edits_inside(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    if tool.name != "ruby" {
        return Ok(());
    }
    let mut edits = false;
    let mut folders = Vec::new();
    // The option whose value is the next argument.
    let mut before = None;
    let mut args = tool.args.iter();
    let mut rest = args.as_slice();
    while let Some(arg) = args.next() {
        if let Some(letter) = before.take() {
            if matches!(letter, b'C' | b'X') {
                folders.push(arg.clone());
            }
        } else if let Some(letters) = arg.text.strip_prefix('-').filter(|it| !it.is_empty()) {
            // These letters take the rest of the argument, or the next one.
            let end = letters.find(['C', 'E', 'F', 'I', 'K', 'T', 'W', 'X', 'e', 'i', 'r', 'x']);
            let end = end.filter(|_| !letters.starts_with('-'));
            let letter = end.map(|end| letters.as_bytes()[end]);
            edits |= letter == Some(b'i');
            if let Some(at) = end.filter(|_| matches!(letter, Some(b'C' | b'X' | b'x'))) {
                folders.push(arg.without_first(at + 2));
            }
            let is_last = end.is_some_and(|end| end + 1 == letters.len());
            before = letter.filter(|it| is_last && b"CEIXer".contains(it));
        } else {
            break;
        }
        rest = args.as_slice();
    }
    let files = if edits { rest } else { &[] };
    for file in folders.iter().chain(files) {
        let text = file.text.as_ref();
        let start = file.globs.first().map_or(text, |at| &text[..*at]);
        if file.is_in_home() || (!start.is_empty() && !tool.call.is_in_reach(start)) {
            return Err(escapes(file, Rule::R92));
        }
        if glob_targets::reaches_protected(text) {
            return Err(protected(file, &format!("'{text}'")));
        }
    }
    Ok(())
}

/// Returns whether a tool creates or rewrites the files that its operands name.
fn writes_operands(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let mut words = tool.args.iter().filter_map(|arg| arg.known());
    let mut has = |names: &[&str]| words.any(|word| names.contains(&word));
    match tool.name {
        "venv" | "virtualenv" | "black" | "isort" | "rustfmt" | "phpcbf" | "pint" | "rector" => {
            true
        }
        "alembic" => has(words!("init")),
        "compileall" | "py_compile" | "vite" => true,
        "go" => has(words!("edit init use")),
        "json.tool" => tool.operands().nth(1).is_some(),
        "tarfile" | "zipfile" => tool.args.iter().any(|arg| {
            let text = arg.text.as_ref();
            text.starts_with("-c") || text.starts_with("--c")
        }),
        "autopep8" | "yapf" => has(words!("-i --in-place")),
        "playwright" => has(words!("screenshot pdf")),
        "cargo" => has(words!("new init vendor")),
        "tox" => has(words!("devenv d")),
        "rubocop" | "standardrb" => tool.args.iter().any(|arg| {
            let text = arg.text.as_ref();
            let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
            letters.is_some_and(|letters| letters.contains(['a', 'A', 'x']))
                || text.starts_with("--a")
                || text.starts_with("--fix")
        }),
        "hatch" => has(words!("new build")),
        "pnpm" => has(words!("deploy")),
        "poetry" | "rails" | "hanami" | "symfony" | "laminas" => has(words!("new")),
        "uv" => has(words!("init venv")),
        "deno" => has(words!("bundle init fmt --fix")),
        "bun" => has(words!("init create")),
        "bundle" | "bundler" => has(words!("gem")),
        "composer" => has(words!("create-project")),
        "django-admin" => has(words!("startproject startapp")),
        "prettier" | "eslint" | "standard" | "biome" | "oxlint" | "stylelint" => {
            tool.has("-w") || tool.has_option_like(&["--write", "--fix", "--apply"])
        }
        "ruff" => has(words!("format --fix --fix-only --unsafe-fixes --add-noqa")),
        "gofmt" | "gofumpt" | "goimports" => has(words!("-w")),
        "php-cs-fixer" => has(words!("fix")),
        "pyright" | "basedpyright" => has(words!("--createstub")),
        _ => false,
    }
}

fn operands_are_inside(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    if !writes_operands(tool) {
        return Ok(());
    }
    let leads_out = |operand: &&Arg<'_>| {
        let text = operand.text.as_ref();
        let is_path = text.starts_with('/') || text.split('/').any(|part| part == "..");
        operand.is_in_home() || (operand.is_static() && is_path && !tool.call.is_in_reach(text))
    };
    if let Some(operand) = tool.operands().find(leads_out) {
        return Err(escapes(operand, Rule::R92));
    }
    // The tool matches quoted patterns itself.
    let is_protected = |operand: &&Arg<'_>| glob_targets::reaches_protected(&operand.text);
    if let Some(operand) = tool.operands().find(is_protected) {
        return Err(protected(operand, &format!("'{}'", operand.text)));
    }
    tool.operands()
        .filter(|operand| operand.known().is_some())
        .try_for_each(|operand| tool.call.check_write_target(operand, Root::Accepted))
}
