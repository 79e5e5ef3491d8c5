//! Programs that are on no list, but may print their version.

use crate::check::call::{Call, Checked};
use crate::check::extensions;

/// Well-known programs that print their version for the first of these arguments.
pub(super) const NAMES: &[&str] = &[
    "aws",
    "brew",
    "clang",
    "cmake",
    "docker",
    "dotnet",
    "elixir",
    "ffmpeg",
    "g++",
    "gcc",
    "gh",
    "ghc",
    "gradle",
    "helm",
    "java",
    "javac",
    "julia",
    "kotlinc",
    "kubectl",
    "lua",
    "mongod",
    "mongosh",
    "mvn",
    "mysql",
    "nginx",
    "ninja",
    "nvcc",
    "perl",
    "podman",
    "postgres",
    "protoc",
    "psql",
    "redis-server",
    "scala",
    "swift",
    "terraform",
    "wget",
    "zig",
];

/// Allows the version, and denies everything else as for a program that is on no list.
pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let argument = match call.args {
        [only] => only.known(),
        _ => None,
    };
    let is_version = match call.name {
        "java" | "javac" | "kotlinc" | "scala" | "ffmpeg" => {
            matches!(argument, Some("-version" | "--version"))
        }
        "helm" | "zig" => argument == Some("version"),
        "lua" | "nginx" => argument == Some("-v"),
        "perl" => matches!(argument, Some("-v" | "--version")),
        _ => argument == Some("--version"),
    };
    if is_version {
        Ok(())
    } else {
        Err(extensions::not_in_allowlist(call))
    }
}
