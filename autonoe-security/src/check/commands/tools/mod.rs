//! Tools of the language profiles.
//!
//! In run mode these tools accept any arguments, except those that publish, change the machine or
//! start another program. The code that they then run is not checked: containing it is the job of
//! the sandbox.
//!
//! If it is unknown whether an option takes a value, the command line has several readings, and each
//! of them must be allowed.

mod abbreviations;
mod another_program;
mod delegates;
mod denied_programs;
mod first_operand;
mod machine_wide;
mod one_word;
mod own_options;
mod package_manager;
mod packages;
mod publishing;
mod runners;
mod subcommand;

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked, Validator};

pub(in crate::check::commands) use abbreviations::possible_subcommands;
pub(in crate::check::commands) use another_program::check as starts_no_other_program;
pub(in crate::check::commands) use denied_programs::contains as is_on_hard_list;
pub(in crate::check::commands) use one_word::is_one_word;
pub(in crate::check::commands) use own_options::own_options;
pub(in crate::check::commands) use package_manager::check as stays_in_project;
pub(in crate::check::commands) use runners::{StartedCommand, started_commands};
pub(in crate::check::commands) use subcommand::CommandReading;

/// Finds the validator of the tool `name` in run mode.
pub(super) fn find(name: &str) -> Validator {
    match name {
        "npm" | "npx" | "yarn" | "pnpm" | "bun" | "bunx" | "deno" | "pip" | "pip3" | "pipx"
        | "uv" | "uvx" | "conda" | "poetry" | "pdm" | "pipenv" | "hatch" | "flit" | "gem"
        | "bundle" | "bundler" | "go" | "goreleaser" | "rustc" | "rustup" | "rustfmt"
        | "rust-analyzer" | "cargo" | "cargo-clippy" | "cargo-fmt" | "cargo-watch" | "clippy"
        | "composer" => check,
        "python" | "python3" => delegates::python,
        "coverage" => delegates::coverage,
        "ruby" => delegates::ruby,
        "dlv" | "node" => delegates::debugger,
        "symfony" => delegates::package,
        "diesel" | "gotestsum" | "jupyter" | "maturin" | "mdbook" | "mkdocs" | "mockgen"
        | "pip-audit" | "pip-compile" | "pip-sync" | "sphinx-build" | "sqlc" | "sqlx"
        | "streamlit" | "stringer" | "swag" | "templ" | "twine" | "wasm-pack" | "wire" => {
            delegates::installed_package
        }
        "pre-commit" => pre_commit,
        _ => super::free,
    }
}

/// Subcommands of `pre-commit` that run hooks of the project's configuration or print it. Others
/// install hooks into `.git`.
const PRE_COMMIT: &[&str] = words!(
    "--help --version -V -h autoupdate help run sample-config validate-config validate-manifest"
);

fn pre_commit(call: &Call<'_, '_, '_>) -> Checked {
    let first = call.args.first().and_then(|arg| arg.known());
    if !first.is_some_and(|word| PRE_COMMIT.contains(&word)) {
        return Err(call
            .deny(
                Rule::R92,
                "pre-commit would change the hooks of the repository",
            )
            .instead("use pre-commit run --all-files"));
    }
    // `--config` may be abbreviated, and `-c` may follow other letters.
    let names_config = |arg: &&Arg<'_>| {
        let text = arg.text.as_ref();
        let is_cluster = text.starts_with('-') && !text.starts_with("--");
        let is_short =
            is_cluster && text.contains('c') || !call.is_option_safe(arg) && text.is_empty();
        is_short || text.starts_with("--con")
    };
    match call.args.iter().find(names_config) {
        Some(arg) => Err(call.deny_flag(Rule::R92, &arg.text, arg.span)),
        None => Ok(()),
    }
}

fn check(call: &Call<'_, '_, '_>) -> Checked {
    stays_in_project(call)?;
    for words in CommandReading::readings(call)? {
        publishing::check(call, &words)?;
        machine_wide::check(call, &words)?;
        starts_no_other_program(call, &words)?;
        delegates::check(call, &words)?;
        delegates::started(call, &words)?;
        if let Some(word) = words.first()
            && !abbreviations::is_own_subcommand(call.name, word)
        {
            return Err(delegates::unknown_plugin(call, word)
                .instead("use bundle exec PROGRAM for the programs of the project's gems"));
        }
        if (call.name, words.first()) == ("bun", Some("exec")) {
            let reason = "'bun exec' runs a command line that the policy does not check";
            return Err(call
                .deny(Rule::R53, reason)
                .instead("run the commands directly"));
        }
        for inner in started_commands(call, &words)?.into_iter().flatten() {
            runners::check(call, &words, &inner)?;
        }
    }
    Ok(())
}
