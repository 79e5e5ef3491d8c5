//! Checks the archive that `.ci/archive` packs for people who install the command.

use std::path::Path;
use std::process::Command;

use super::read;
use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::metadata;

/// Files of each archive, besides manual pages.
const FILES: [&str; 8] = [
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "autonoe",
    "completions/_autonoe",
    "completions/autonoe.bash",
    "completions/autonoe.fish",
];

/// The page with a heading for each command. A test of `autonoe-cli` compares it with the commands.
const COMMANDS: &str = "docs/reference/cli.md";

/// Builds the command, packs it, and checks that the archive is complete.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    cargo.run(["build", "--locked", "--package", "autonoe-cli"])?;
    let target = metadata::target_dir(cargo)?;
    let folder = target.join("release-check/archive");
    let listed = pack(cargo.root(), &target.join("debug/autonoe"), &folder)?;
    let commands = read(&cargo.root().join(COMMANDS))?;
    Failure::unless_empty("the archive is not complete", &missing(&listed, &commands))?;
    println!("the archive has {} files", listed.lines().count());
    Ok(())
}

/// Packs `program` into an archive in `folder`, and returns the list of its files.
fn pack(root: &Path, program: &Path, folder: &Path) -> Result<String, Failure> {
    let mut pack = Command::new(root.join(".ci/archive"));
    pack.arg(program).arg("test-target").arg(folder);
    let archive = output(pack)?;
    let mut list = Command::new("tar");
    list.arg("-tzf").arg(archive.trim());
    output(list)
}

/// Runs `command` and returns its standard output.
fn output(mut command: Command) -> Result<String, Failure> {
    let output = command
        .output()
        .map_err(|source| cargo::cannot_start(&command, &source))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let failure = cargo::succeeded(&command, output.status);
        return failure
            .map_err(|failure| Failure::new(format!("{failure}\n{stderr}")))
            .map(|()| String::new());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Lists the files that are missing in `listed`, the files of an archive, according to `commands`,
/// the page with the headings of all commands.
fn missing(listed: &str, commands: &str) -> Vec<String> {
    let pages = commands
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .filter(|heading| heading.starts_with("autonoe "))
        .map(|heading| format!("man/{}.1", heading.trim().replace(' ', "-")));
    let files = FILES.iter().map(|file| (*file).to_owned());
    let expected = files.chain(["man/autonoe.1".to_owned()]).chain(pages);
    expected
        .filter(|file| {
            let mut paths = listed.lines().filter_map(|path| path.split_once('/'));
            !paths.any(|(_, path)| path == file)
        })
        .map(|file| format!("{file} is missing"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const PAGE: &str = "# The command line\n\n## autonoe run\n\n## autonoe flow run\n\n## autonoe mcp\n\
                        \n## autonoe-cluster\n";

    /// A program with commands on two levels.
    const PROGRAM: &str = r#"#!/bin/sh
case "$*" in
--version) echo 'autonoe 1.2.3' ;;
'--help') printf 'About.\n\nCommands:\n  run   Work\n        on it\n  flow  Run a flow\n  mcp   Connect\n  help  Help\n\nOptions:\n  -h, --help  Print\n' ;;
'flow --help') printf 'Commands:\n  run   Run\n  help  Help\n\nOptions:\n' ;;
*--help) printf 'Options:\n  -h, --help  Print\n' ;;
man*|completions*) echo "$*" ;;
*) exit 2 ;;
esac
"#;

    #[test]
    fn the_archive_has_the_pages_of_nested_commands() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();

        let listed = pack(root, &program, &folder.path().join("dist")).unwrap();

        assert_eq!(missing(&listed, PAGE), Vec::<String>::new());
        assert!(listed.contains("autonoe-v1.2.3-test-target/man/autonoe-flow.1\n"));
        let hash = "dist/autonoe-v1.2.3-test-target.tar.gz.sha256";
        assert!(folder.path().join(hash).is_file());
    }

    #[test]
    fn missing_files_are_listed() {
        let listed = "a/autonoe\na/README.md\na/LICENSE-MIT\na/CHANGELOG.md\na/man/autonoe.1\n\
                      a/man/autonoe-run.1\na/completions/_autonoe\na/completions/autonoe.fish\n";

        assert_eq!(
            missing(listed, PAGE),
            [
                "LICENSE-APACHE is missing",
                "completions/autonoe.bash is missing",
                "man/autonoe-flow-run.1 is missing",
                "man/autonoe-mcp.1 is missing",
            ]
        );
    }
}
