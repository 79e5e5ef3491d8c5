//! Publishing and accounts.

use super::Words;
use super::abbreviations::meanings;
use crate::Rule;
use crate::check::call::{Call, Checked};

/// Returns the subcommands of `tool` that publish or use an account.
fn refused(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" => &[
            "publish",
            "unpublish",
            "deprecate",
            "undeprecate",
            "owner",
            "author",
            "access",
            "token",
            "login",
            "logout",
            "adduser",
            "add-user",
            "hook",
            "org",
            "ogr",
            "team",
            "profile",
            "dist-tag",
            "dist-tags",
        ],
        "yarn" | "bun" | "deno" => &["publish"],
        "pnpm" => &["publish", "login", "logout", "adduser"],
        "cargo" => &["publish", "yank", "owner", "login", "logout"],
        "gem" => &["push", "yank", "owner", "signin", "signout"],
        "poetry" | "pdm" | "hatch" | "flit" | "uv" => &["publish"],
        "twine" => &["upload", "register"],
        "composer" => &["global"],
        _ => &[],
    }
}

pub(super) fn check(call: &Call<'_, '_, '_>, words: &Words<'_, '_>) -> Checked {
    let Some(word) = words.first() else {
        return Ok(());
    };
    let next = words.rest().first().and_then(|arg| arg.known());
    let publishes = |word: &str| {
        refused(call.name).contains(&word)
            || ((call.name, word) == ("yarn", "npm") && words.any_behind(|it| it == "publish"))
            || ((call.name, word) == ("bun", "pm") && next == Some("publish"))
            || ((call.name, word) == ("goreleaser", "release") && !call.has("--snapshot"))
    };
    match meanings(call.name, word).iter().all(|word| publishes(word)) {
        true => {
            let reason = format!("'{} {word}' is not allowed", call.name);
            Err(call.deny(Rule::R51, reason).instead("leave it to the user"))
        }
        false => Ok(()),
    }
}

/// Tells whether `call` publishes through the module `name` of Python, which is no command here.
pub(super) fn module_publishes(call: &Call<'_, '_, '_>, name: &str) -> bool {
    name == "twine" && refused(name).iter().any(|word| call.has(word))
}
