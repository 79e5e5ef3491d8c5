//! The programs of a comparison: the fake program, our client, and the SDKs of the vendor.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::read;
use crate::cargo::{self, Cargo};
use crate::failure::Failure;

/// Paths of the two programs.
#[derive(Debug)]
pub(super) struct Programs {
    pub(super) fake: PathBuf,
    pub(super) client: PathBuf,
}

impl Programs {
    /// Builds them.
    pub(super) fn build(cargo: &Cargo) -> Result<Self, Failure> {
        let args = ["build", "--release", "-p", "autonoe-bench-sdk"];
        cargo::announce(&cargo.command(args));
        let json = "--message-format=json-render-diagnostics";
        let messages = cargo.read(args.into_iter().chain([json]))?;
        Ok(Self {
            fake: executable(&messages, "sdk-bench-fake")?,
            client: executable(&messages, "sdk-bench-client")?,
        })
    }
}

/// Finds where cargo has put a program, in what it says while it builds.
fn executable(messages: &str, name: &str) -> Result<PathBuf, Failure> {
    let messages = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        (message["target"]["name"] == name).then_some(message)
    });
    let mut places = messages.filter_map(|message| message["executable"].as_str().map(Into::into));
    places
        .next()
        .ok_or_else(|| Failure::new(format!("cargo did not report the path of {name}")))
}

/// Folders of the SDKs, and commands that start their clients.
#[derive(Debug)]
pub(super) struct Sdks {
    pub(super) python: PathBuf,
    pub(super) python_client: PathBuf,
    pub(super) node_client: PathBuf,
}

/// File in a complete folder that contains the pins from which it was made.
const STAMP: &str = "installed-from";

impl Sdks {
    /// Installs what is missing. `clients` holds the clients and the pins.
    pub(super) fn install(clients: &Path, folder: &Path) -> Result<Self, Failure> {
        for (program, remedy) in [
            ("python3", "Python 3 with venv"),
            ("node", "Node.js 20 or newer"),
            ("npm", "npm, which comes with Node.js"),
        ] {
            check(program, remedy)?;
        }
        let (python, node) = (folder.join("python"), folder.join("node"));
        install_python(&clients.join("requirements.txt"), &python)?;
        install_node(clients, &node)?;
        // Node looks for packages beside the file that wants them.
        let node_client = node.join("bench_ts.mjs");
        copy(&clients.join("bench_ts.mjs"), &node_client)?;
        Ok(Self {
            python: python.join("bin/python"),
            python_client: clients.join("bench_py.py"),
            node_client,
        })
    }
}

fn install_python(pins: &Path, folder: &Path) -> Result<(), Failure> {
    let wanted = read(pins)?;
    if is_installed(folder, &wanted) {
        return Ok(());
    }
    remove(folder)?;
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(folder);
    cargo::run(venv)?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps"]);
    pip.args(["--disable-pip-version-check", "-r"]).arg(pins);
    cargo::run(pip)?;
    write(&folder.join(STAMP), &wanted)
}

fn install_node(clients: &Path, folder: &Path) -> Result<(), Failure> {
    let wanted = read(&clients.join("package-lock.json"))?;
    if is_installed(folder, &wanted) {
        return Ok(());
    }
    remove(folder)?;
    fs::create_dir_all(folder)
        .map_err(|source| Failure::new(format!("cannot create {}: {source}", folder.display())))?;
    for name in ["package.json", "package-lock.json"] {
        copy(&clients.join(name), &folder.join(name))?;
    }
    // What is optional is the real program, which nobody asks here.
    let mut npm = Command::new("npm");
    npm.args(["ci", "--omit=optional", "--ignore-scripts"]);
    npm.args(["--no-audit", "--no-fund"]).current_dir(folder);
    cargo::run(npm)?;
    write(&folder.join(STAMP), &wanted)
}

/// Says what to install where a program is missing.
fn check(program: &str, remedy: &str) -> Result<(), Failure> {
    let mut command = Command::new(program);
    let output = command.arg("--version").stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(Failure::new(format!(
            "`{program} --version`: {}",
            output.status
        ))),
        Err(source) if source.kind() == ErrorKind::NotFound => Err(Failure::new(format!(
            "{program} is not installed, and a compared SDK needs it: install {remedy}"
        ))),
        Err(source) => Err(cargo::cannot_start(&command, &source)),
    }
}

fn is_installed(folder: &Path, wanted: &str) -> bool {
    fs::read_to_string(folder.join(STAMP)).is_ok_and(|stamp| stamp == wanted)
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(Failure::new(format!(
            "cannot remove {}: {source}",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    write(to, &read(from)?)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|source| Failure::new(format!("cannot write {}: {source}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executable_path_is_read_from_cargo() {
        let messages = r#"{"target":{"name":"lib"},"executable":null}
{"target":{"name":"sdk-bench-fake"},"executable":"/target/release/sdk-bench-fake"}
{"reason":"build-finished","success":true}"#;

        let fake = executable(messages, "sdk-bench-fake");

        assert_eq!(fake, Ok("/target/release/sdk-bench-fake".into()));
        let other = executable(messages, "other");
        let sentence = "cargo did not report the path of other";
        assert_eq!(other, Err(Failure::new(sentence)));
    }

    #[test]
    fn a_missing_program_is_reported_with_the_remedy() {
        let message = check("there-is-no-such-node", "Node.js").unwrap_err();

        let sentence =
            "there-is-no-such-node is not installed, and a compared SDK needs it: install Node.js";
        assert_eq!(message, Failure::new(sentence));
    }

    #[test]
    fn a_folder_counts_only_with_the_pins_that_it_was_made_from() {
        let dir = tempfile::tempdir().expect("a directory can be made");

        assert!(!is_installed(dir.path(), "sdk==1"));
        write(&dir.path().join(STAMP), "sdk==1").expect("it can be written");
        assert!(is_installed(dir.path(), "sdk==1"));
        assert!(!is_installed(dir.path(), "sdk==2"));
    }
}
