//! Version queries (`--version`) of programs that are on no list.

use crate::check::call::{Call, Checked};
use crate::check::extensions;
use crate::syntax::{ArgWord, SimpleCommand, commands};

/// Well-known programs that print their version without reading files of the project.
///
/// Missing are launchers that start another program or read settings of the directory, such as
/// `mvn`, which passes `.mvn/jvm.config` to Java.
pub(super) const NAMES: &[&str] = words!(
    "clang cmake docker ffmpeg g++ gcc gh ghc helm java javac julia kubectl lua mongod mongosh",
    "mysql nginx ninja nvcc perl podman postgres protoc psql redis-server wget zig",
);

/// Commands that can set variables of the environment.
const SETTERS: &[&str] = words!(
    ". declare env eval export getopts local mapfile printf read readarray readonly set source",
    "typeset",
);

/// Allows the version query, and denies everything else as for a program that is on no list.
pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    if is_query(call) {
        Ok(())
    } else {
        Err(extensions::not_in_allowlist(call))
    }
}

/// Returns whether a call of a listed program only prints the version.
///
/// Variables such as `LUA_INIT` and `PERL5OPT` make these programs run code, so a text that sets
/// any variable may not query versions.
pub(in crate::check) fn is_query(call: &Call<'_, '_, '_>) -> bool {
    let argument = match call.args {
        [only] => only.known(),
        _ => None,
    };
    let is_version = match call.name {
        "java" | "javac" | "ffmpeg" => matches!(argument, Some("-version" | "--version")),
        "helm" | "zig" => argument == Some("version"),
        "lua" | "nginx" => argument == Some("-v"),
        "perl" => matches!(argument, Some("-v" | "--version")),
        _ => argument == Some("--version"),
    };
    let keeps_environment = || commands(call.context.scope.script()).all(keeps_environment);
    NAMES.contains(&call.name) && is_version && keeps_environment()
}

fn keeps_environment(simple: &SimpleCommand<'_>) -> bool {
    let is_plain = |word: &ArgWord<'_>| {
        let text = word.static_text();
        text.is_some_and(|text| !text.contains('=') && !SETTERS.contains(&text.as_ref()))
    };
    simple.assignments.is_empty() && simple.words.iter().all(is_plain)
}
