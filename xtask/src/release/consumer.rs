//! A program that depends on the packages like a program of a user, with `cargo add`.
//!
//! A folder replaces the registry. It holds the unpacked packages and every third-party crate of
//! `Cargo.lock`.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::manifest::Manifest;
use super::read;
use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::metadata;
use crate::stream;

/// The program, which is also that of the README.
const PROGRAM: &str = "examples/embed.rs";

/// The last line that the program prints.
const OUTPUT: &str = "all achievable deliverables passed";

/// Builds and runs the program against `packages`, which cargo has already packaged.
pub(super) fn check(cargo: &Cargo, packages: &[Manifest]) -> Result<(), Failure> {
    let target = metadata::target_dir(cargo)?;
    let folder = target.join("release-check");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|source| failed("remove", &folder, &source))?;
    }
    let registry = folder.join("registry");
    create(&registry)?;
    fill_registry(cargo, &target, &registry, packages)?;

    let program = folder.join("program");
    write_program(cargo, &registry, &program)?;
    let add = ["add", "--offline", "autonoe-core", "autonoe-scripted"];
    cargo::run(in_program(cargo, &program, &add))?;
    let add = ["add", "--offline", "tokio", "--features", "macros,rt"];
    cargo::run(in_program(cargo, &program, &add))?;
    let mut run = in_program(cargo, &program, &["run", "--offline", "--quiet"]);
    let output = stream::run(&mut run)?;
    cargo::succeeded(&run, output.status)?;
    if output.stdout.lines().last() == Some(OUTPUT) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the program of {PROGRAM} did not print `{OUTPUT}`"
    )))
}

/// Puts third-party crates and the packages into the folder `registry`.
fn fill_registry(
    cargo: &Cargo,
    target: &Path,
    registry: &Path,
    packages: &[Manifest],
) -> Result<(), Failure> {
    let mut vendor = cargo.command(["vendor", "--quiet", "--locked", "--versioned-dirs"]);
    vendor.arg(registry);
    cargo::run(vendor)?;
    for Manifest { name, version, .. } in packages {
        let package = format!("{name}-{version}");
        let mut tar = Command::new("tar");
        tar.arg("-xzf")
            .arg(target.join(format!("package/{package}.crate")));
        tar.arg("-C").arg(registry);
        cargo::run(tar)?;
        // Cargo requires the file. Without hashes, it does not compare the content.
        let checksums = registry.join(&package).join(".cargo-checksum.json");
        write(&checksums, "{\"files\":{}}")?;
    }
    Ok(())
}

/// Writes a new crate whose registry is the folder `registry`.
fn write_program(cargo: &Cargo, registry: &Path, program: &Path) -> Result<(), Failure> {
    create(&program.join("src"))?;
    create(&program.join(".cargo"))?;
    write(
        &program.join("Cargo.toml"),
        "[workspace]\n\n[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
    )?;
    write(&program.join(".cargo/config.toml"), &config(registry))?;
    let main = read(&cargo.root().join(PROGRAM))?;
    write(&program.join("src/main.rs"), &main)
}

/// Returns the configuration of cargo that replaces the registry by a folder.
fn config(registry: &Path) -> String {
    // The text of a JSON string is also valid in TOML.
    let registry = serde_json::Value::from(registry.to_string_lossy());
    format!(
        "[source.crates-io]\nreplace-with = \"packages\"\n\n\
         [source.packages]\ndirectory = {registry}\n"
    )
}

/// Prepares `cargo ARGS` in the folder of the program, with its own target directory.
fn in_program(cargo: &Cargo, program: &Path, args: &[&str]) -> Command {
    let mut command = cargo.command(args);
    command.current_dir(program);
    command.env("CARGO_TARGET_DIR", program.join("target"));
    command
}

fn create(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|source| failed("create", folder, &source))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|source| failed("write", path, &source))
}

fn failed(action: &str, path: &Path, source: &std::io::Error) -> Failure {
    Failure::new(format!("cannot {action} {}: {source}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_replaces_the_registry() {
        assert_eq!(
            config(Path::new("/a \"b\"")),
            "[source.crates-io]\nreplace-with = \"packages\"\n\n\
             [source.packages]\ndirectory = \"/a \\\"b\\\"\"\n"
        );
    }
}
