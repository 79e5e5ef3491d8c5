//! The options of each tool that may stand in front of its subcommand.

mod node;
mod others;
mod python;

use super::option_table::OptionTable;

/// Returns the options of `tool`; `None` if its first operand is no subcommand.
pub(in crate::check::commands) fn own_options(tool: &str) -> Option<&'static OptionTable> {
    Some(match tool {
        "npm" | "npx" => &node::NPM,
        "pnpm" => &node::PNPM,
        "yarn" => &node::YARN,
        "bun" | "bunx" => &node::BUN,
        "pip" | "pip3" => &python::PIP,
        "uv" | "uvx" => &python::UV,
        "poetry" => &python::POETRY,
        "pdm" => &python::PDM,
        "hatch" => &python::HATCH,
        "pipx" => &python::PIPX,
        "conda" => &python::CONDA,
        "flit" => &python::FLIT,
        "gem" | "bundle" | "bundler" | "rails" => &others::RUBY,
        "go" => &others::GO,
        "cargo" | "rustup" => &others::CARGO,
        "composer" | "php-cs-fixer" | "codeception" | "artisan" => &others::PHP,
        "goreleaser" | "golangci-lint" => &others::GO_TOOLS,
        "ruff" => &python::RUFF,
        "biome" | "vite" | "next" | "nuxt" | "astro" | "playwright" | "cypress" | "deno" => {
            &node::NODE_TOOLS
        }
        _ => return None,
    })
}
