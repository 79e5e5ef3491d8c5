//! Subcommands that publish packages or manage accounts.

use super::CommandReading;
use super::abbreviations::possible_subcommands;
use crate::Rule;
use crate::check::call::{Call, Checked};

/// Returns the subcommands of `tool` that publish or use an account.
fn refused(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" | "pnpm" => words!(
            "publish unpublish deprecate undeprecate owner author access token login logout",
            "adduser add-user hook org ogr team profile dist-tag dist-tags stage star unstar trust",
        ),
        "yarn" => words!("publish login logout owner team access tag unpublish"),
        "bun" => words!("publish"),
        "deno" => words!("publish deploy login logout"),
        "cargo" => words!("publish yank owner login logout release smart-release"),
        "gem" => words!("push yank owner signin signout cert release"),
        "poetry" | "pdm" | "hatch" | "flit" => words!("publish"),
        "uv" => words!("publish auth"),
        "conda" => words!("login logout upload token"),
        "goreleaser" => words!("publish announce continue"),
        "composer" => words!("global"),
        _ => &[],
    }
}

pub(super) fn check(call: &Call<'_, '_, '_>, words: &CommandReading<'_, '_>) -> Checked {
    let Some(word) = words.first() else {
        return Ok(());
    };
    let next = words.rest().first().and_then(|arg| arg.known());
    let publishes = |word: &str| {
        refused(call.name).contains(&word)
            || ((call.name, word) == ("yarn", "npm")
                && words
                    .any_operand_after(|it| matches!(it, "publish" | "login" | "logout" | "tag")))
            || ((call.name, word) == ("bun", "pm") && matches!(next, Some("publish" | "login")))
            || ((call.name, word) == ("goreleaser", "release") && !call.has("--snapshot"))
    };
    if possible_subcommands(call.name, word)
        .iter()
        .all(|word| publishes(word))
    {
        let reason = format!("'{} {word}' is not allowed", call.name);
        Err(call.deny(Rule::R51, reason).instead("leave it to the user"))
    } else {
        Ok(())
    }
}
