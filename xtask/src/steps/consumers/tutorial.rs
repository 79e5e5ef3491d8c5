//! A tutorial about a crate as a shell script and the files of that crate.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::recipe::{read_console, use_checkout};
use crate::counts::without_colours;
use crate::failure::Failure;

/// The result line of a test file with one test, up to its first unneeded number.
const ONE_PASSED: &str = "test result: ok. 1 passed; 0 failed; 0 ignored;";

/// The commands and files of a tutorial.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tutorial {
    /// Commands that create the crate and enter it.
    setup: Vec<String>,
    /// Files of the crate: the path and the text.
    files: Vec<(String, String)>,
}

impl Tutorial {
    /// Reads a page. `None` if it has no Rust code.
    ///
    /// The first block has the commands that create the crate. Each block of Rust is the text of the
    /// last file that the paragraphs before it name.
    pub(super) fn parse(page: &str) -> Result<Option<Self>, Failure> {
        let parts: Vec<_> = page.split("```").collect();
        let mut setup = Vec::new();
        let mut files: Vec<(String, String)> = Vec::new();
        for pair in parts.chunks_exact(2) {
            let [prose, block] = pair else { continue };
            let (language, text) = block.split_once('\n').unwrap_or((block, ""));
            match language {
                "console" if setup.is_empty() => setup = read_console(text).0,
                "rust" => {
                    let path = last_file(prose).ok_or_else(|| no_file(text))?;
                    if files.iter().any(|(other, _)| other == path) {
                        return Err(Failure::new(format!("a tutorial has {path} twice")));
                    }
                    files.push((path.to_owned(), text.to_owned()));
                }
                _ => {}
            }
        }
        if files.is_empty() {
            return Ok(None);
        }
        let tutorial = Self { setup, files };
        if tutorial.setup.is_empty() || tutorial.tests().next().is_none() {
            return Err(Failure::new(
                "a tutorial with Rust code begins with commands and has tests in `tests/`",
            ));
        }
        Ok(Some(tutorial))
    }

    /// Writes the files of the crate below `folder`.
    pub(super) fn write_files(&self, folder: &Path) -> io::Result<()> {
        for (path, text) in &self.files {
            let path: PathBuf = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// Returns the commands, with the files copied from `files`, and a run of each test file.
    ///
    /// The lock file of the checkout is copied too, so that versions agree and need no network.
    pub(super) fn script(&self, checkout: &Path, files: &Path) -> String {
        let mut lines: Vec<_> = self
            .setup
            .iter()
            .map(|command| use_checkout(command, checkout))
            .collect();
        lines.push(format!("cp '{}'/Cargo.lock Cargo.lock", checkout.display()));
        lines.push(format!("cp -R '{}'/. .", files.display()));
        lines.extend(self.tests().map(|name| format!("cargo test --test {name}")));
        lines.join("\n")
    }

    /// Refuses the output unless each test file has run one test, which passed.
    pub(super) fn check_output(&self, printed: &str) -> Result<(), Failure> {
        let mut results = printed
            .lines()
            .map(without_colours)
            .filter(|line| line.starts_with("test result: "));
        for name in self.tests() {
            let result = results.next().unwrap_or_else(|| "no result".into());
            if !result.starts_with(ONE_PASSED) {
                return Err(Failure::new(format!(
                    "tests/{name}.rs of a tutorial must run one test, which passes: {result}"
                )));
            }
        }
        Ok(())
    }

    /// Returns the names of the test files.
    fn tests(&self) -> impl Iterator<Item = &str> {
        self.files
            .iter()
            .filter_map(|(path, _)| path.strip_prefix("tests/")?.strip_suffix(".rs"))
    }
}

/// Returns the last file of the crate that `prose` names.
fn last_file(prose: &str) -> Option<&str> {
    let quoted = prose.split('`').skip(1).step_by(2);
    quoted
        .filter(|word| word.starts_with("src/") || word.starts_with("tests/"))
        .filter(|word| word.ends_with(".rs"))
        .last()
}

fn no_file(text: &str) -> Failure {
    Failure::new(format!(
        "the text before this code of a tutorial names no file in `src` or `tests`:\n{text}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# Embed

```console
$ cd ..
$ cargo new shop && cd shop
$ cargo add --path ../autonoe/autonoe-core
```

Put this into `src/lib.rs`:

```rust
pub fn build() {}
```

Put this into `tests/run.rs`, next to `src/lib.rs` and not into `notes.md`. The tests are in `tests/run.rs`:

```rust
#[test]
fn it_builds() {}
```

```console
$ cargo test
```
";

    fn tutorial() -> Tutorial {
        Tutorial::parse(PAGE).expect("a tutorial").expect("code")
    }

    #[test]
    fn files_are_named_before_their_code() {
        let tutorial = tutorial();

        let files: Vec<_> = tutorial.files.iter().map(|(path, _)| &path[..]).collect();
        assert_eq!(files, ["src/lib.rs", "tests/run.rs"]);
        assert_eq!(tutorial.files[0].1, "pub fn build() {}\n");
    }

    #[test]
    fn the_script_creates_the_crate_and_runs_each_test_file() {
        assert_eq!(
            tutorial().script(Path::new("/src/a b"), Path::new("/tmp/files")),
            "cd ..\n\
             cargo new shop && cd shop\n\
             cargo add --path '/src/a b'/autonoe-core\n\
             cp '/src/a b'/Cargo.lock Cargo.lock\n\
             cp -R '/tmp/files'/. .\n\
             cargo test --test run"
        );
    }

    #[test]
    fn each_test_file_runs_one_test() {
        let tutorial = tutorial();
        let numbers = "0 measured; 0 filtered out; finished in 0.01s\n";

        let passed = format!("running 1 test\n{ONE_PASSED} {numbers}");
        assert_eq!(tutorial.check_output(&passed), Ok(()));
        for result in [
            String::new(),
            format!("test result: ok. 0 passed; 0 failed; 0 ignored; {numbers}"),
            format!("test result: ok. 0 passed; 0 failed; 1 ignored; {numbers}"),
            format!("test result: FAILED. 0 passed; 1 failed; 0 ignored; {numbers}"),
        ] {
            assert!(tutorial.check_output(&result).is_err(), "{result}");
        }
    }

    #[test]
    fn a_page_without_code_is_no_tutorial_about_a_crate() {
        assert_eq!(
            Tutorial::parse("# First\n\n```console\n$ ls\n```\n"),
            Ok(None)
        );
    }

    #[test]
    fn incomplete_tutorials_are_refused() {
        for (part, replacement) in [
            ("Put this into `src/lib.rs`:", "The library:"),
            ("in `tests/run.rs`:", "in `src/lib.rs`:"),
            ("in `tests/run.rs`:", "in `src/main.rs`:"),
            ("```console\n$ cd ..", "```text\n$ cd .."),
        ] {
            let page = PAGE.replacen(part, replacement, 1);
            let page = page.replacen("```console\n$ cargo test\n```\n", "", 1);
            assert!(Tutorial::parse(&page).is_err(), "{replacement}");
        }
    }
}
