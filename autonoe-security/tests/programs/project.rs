//! A project with protected files in which allowed commands run with the real programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use autonoe_security::{BashValidator, Policy, PolicyConfig};
use tempfile::TempDir;

/// The text that no request may contain.
pub(super) const SECRET: &str = "SECRET";

/// Returns the tokens of a list, separated by two blanks or a line break.
pub(super) fn tokens(list: &'static str) -> Vec<&'static str> {
    let lines = list.lines().flat_map(|line| line.split("  "));
    lines.filter(|token| !token.is_empty()).collect()
}

/// A project and the home of its user, outside of `/tmp`, where agents may write.
pub(super) struct Project {
    root: TempDir,
}

impl Project {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let root = TempDir::new_in("/var/tmp").expect("a directory");
        let project = Self { root };
        for (path, text) in [
            ("home/.ssh/id_rsa", SECRET),
            (
                "home/.netrc",
                "machine localhost login SECRET password SECRET",
            ),
            ("project/.git/config", "[core]"),
            ("project/.autonoe/status.json", "{}"),
        ] {
            project.write(path, text);
        }
        for (path, text) in files {
            project.write(&format!("project/{path}"), text);
        }
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    pub(super) fn validator(&self) -> BashValidator {
        let root = self.root.path().join("project");
        let policy = Policy::new(root.to_str().expect("a text"), PolicyConfig::default());
        BashValidator::new(policy.expect("a good policy"))
    }

    /// Runs `command` with Bash. A waiting command is killed, and its effects are still checked.
    pub(super) fn run(&self, command: &str) {
        let status = Command::new("timeout")
            .args(["-s", "KILL", "5", "bash", "--noprofile", "--norc", "-c"])
            .arg(command)
            .current_dir(self.root.path().join("project"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path().join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.expect("timeout and bash are there");
    }

    /// Returns the protected files and the files outside the project.
    pub(super) fn protected(&self) -> Vec<(String, Vec<u8>)> {
        let is_free = |path: &str| {
            let inside = path.strip_prefix("project/");
            inside.is_some_and(|path| {
                let is_git = path.starts_with(".git") && !path.starts_with(".git.");
                !is_git && !path.starts_with(".autonoe")
            })
        };
        let mut files: Vec<_> = self.files().into_iter().collect();
        files.retain(|(path, _)| !is_free(path));
        files
    }

    /// Returns every file with its content.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.root.path(), self.root.path(), &mut files);
        files
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.strip_prefix(root).expect("below").to_string_lossy();
        if path.is_dir() && !path.is_symlink() {
            files.insert(format!("{name}/"), Vec::new());
            collect(root, &path, files);
        } else {
            files.insert(name.into_owned(), fs::read(&path).unwrap_or_default());
        }
    }
}
