//! The arguments that a tool reads itself, before those that it passes on.

use super::targets::{run_targets, targets};
use crate::check::arg::Arg;

/// Options of `tool` that take the next argument and write nothing.
fn values(tool: &str) -> &'static [&'static str] {
    match tool {
        "coverage" => words!("--rcfile --source --include --omit --context"),
        "node" | "ts-node" | "tsx" => words!(
            "-r --require --import --loader --experimental-loader -C --conditions --env-file",
            "--input-type --title",
        ),
        "deno" => words!("-c --config --import-map --cert --cwd --location --env-file"),
        "bun" => words!("-r --preload --env-file --cwd -c --config -F --filter --registry"),
        "npx" | "bunx" => words!("-p --package --registry -w --workspace"),
        "python" | "python3" => words!("-X -W"),
        "ruby" => words!("-I -r -C -E -e"),
        "php" => words!("-c -d -z -S -t --define --php-ini --zend-extension"),
        "go" => words!("-C -tags -ldflags -gcflags -p -mod -modfile"),
        "uv" | "uvx" => words!(
            "--project --directory --python -p --config-file -i --index --default-index --index-url",
            "--extra-index-url -f --find-links --from --with --with-editable --with-requirements",
        ),
        "poetry" => words!("-C --directory -P --project"),
        "pdm" => words!("-p --project -c --config"),
        "pipenv" => words!("--python --pypi-mirror"),
        "npm" | "pnpm" => words!("-w --workspace -C --prefix --dir -F --filter --registry"),
        "yarn" => words!("--cwd --registry"),
        "composer" => words!("-d --working-dir"),
        "cProfile" | "profile" => words!("-s --sort"),
        "pdb" => words!("-c --command -p --pid"),
        "trace" => words!("--ignore-dir --ignore-module"),
        "bundle" | "bundler" => words!("--gemfile"),
        "conda" => words!("-n --name -p --prefix"),
        _ => &[],
    }
}

/// Subcommands that pass on the arguments after their first operand.
fn forwards_rest(tool: &str, word: &str) -> bool {
    match tool {
        "deno" => matches!(word, "run" | "serve" | "eval" | "task" | "x" | "repl"),
        "bun" => matches!(word, "run" | "x" | "exec" | "repl" | "create"),
        "coverage" | "go" => word == "run",
        "uv" => matches!(word, "run" | "tool"),
        "npm" | "pnpm" | "yarn" => words!(
            "exec x dlx run run-script test t start create init explore node workspace workspaces"
        )
        .contains(&word),
        "poetry" | "pdm" | "pipenv" | "hatch" | "conda" | "pipx" => matches!(word, "run" | "env"),
        "bundle" | "bundler" => word == "exec",
        "composer" => matches!(word, "exec" | "run" | "run-script"),
        "rustup" => word == "run",
        _ => false,
    }
}

/// Returns the arguments that `tool` reads itself.
pub(crate) fn own_args<'a, 's>(tool: &str, args: &'a [Arg<'s>]) -> &'a [Arg<'s>] {
    let is_end = |arg: &Arg<'_>| arg.is("--") || (tool == "go" && arg.is("-args"));
    let end = args.iter().position(is_end).unwrap_or(args.len());
    let args = &args[..end];
    let is_value_behind = |before: &Arg<'_>| {
        let text = before.text.as_ref();
        let mut written = targets(tool).iter().chain(run_targets(tool));
        values(tool).contains(&text) || written.any(|option| *option == text)
    };
    let is_operand = |at: &usize| {
        let is_value = at
            .checked_sub(1)
            .is_some_and(|before| is_value_behind(&args[before]));
        !args[*at].text.starts_with('-') && !is_value
    };
    let mut operands = (0..args.len()).filter(is_operand);
    let Some(first) = operands.next() else {
        return args;
    };
    let word = args[first].text.as_ref();
    let end = match tool {
        "cProfile" | "pdb" | "profile" | "trace" => first,
        "npx" | "bunx" | "uvx" | "node" | "ts-node" | "tsx" | "ruby" | "irb" | "php" => first,
        "python" | "python3" => {
            let is_code = |arg: &Arg<'_>| matches!(arg.text.get(..2), Some("-c" | "-m"));
            args.iter().position(is_code).unwrap_or(first).min(first)
        }
        "deno" | "bun" if word.contains(['.', '/']) => first,
        _ if forwards_rest(tool, word) => operands.next().unwrap_or(args.len()),
        _ => args.len(),
    };
    &args[..end]
}
