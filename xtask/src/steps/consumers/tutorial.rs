//! The section "Embed it" of the README and the tutorials, each as a shell script and files.

use std::path::{Path, PathBuf};
use std::{fs, io};

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

/// The heading of the section.
const HEADING: &str = "\n## Embed it\n";

/// Path at which the README expects the checkout, seen from the new crate.
const CHECKOUT: &str = "../autonoe/";

/// Start of the names of our crates.
const OUR_CRATES: &str = "autonoe-";

/// The commands, the program and the output of the section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Recipe {
    /// Commands that make the crate and enter it.
    setup: Vec<String>,
    /// The text of `src/main.rs`.
    pub(super) program: String,
    /// Commands that run the program.
    start: Vec<String>,
    /// Lines that the program prints.
    output: Vec<String>,
}

impl Recipe {
    /// Reads the section: a block of commands, the program, and a block of commands with output.
    pub(super) fn parse(readme: &str) -> Result<Self, Failure> {
        let (_, rest) = readme
            .split_once(HEADING)
            .ok_or_else(|| Failure::new("README.md has no section \"Embed it\""))?;
        let section = rest.split("\n## ").next().unwrap_or_default();
        // Every second part is the inside of a block.
        let blocks: Vec<_> = section.split("```").skip(1).step_by(2).collect();
        let blocks: Option<Vec<_>> = blocks.iter().map(|it| it.split_once('\n')).collect();
        let unknown = || {
            Failure::new(
                "\"Embed it\" in README.md is not a block of commands, a program and a block of \
                 commands with their output",
            )
        };
        let Some([("console", setup), ("rust", program), ("console", start)]) = blocks.as_deref()
        else {
            return Err(unknown());
        };
        let (setup, _) = read_console(setup);
        let (start, output) = read_console(start);
        if setup.is_empty() || start.is_empty() || output.is_empty() {
            return Err(unknown());
        }
        Ok(Self {
            setup,
            program: (*program).to_owned(),
            start,
            output,
        })
    }

    /// Returns the commands, which copy the program at `program` into the crate.
    ///
    /// The lock file of the checkout is copied too, so that versions agree and need no network.
    pub(super) fn script(&self, checkout: &Path, program: &Path) -> String {
        let local = |command: &String| use_checkout(command, checkout);
        let mut lines: Vec<_> = self.setup.iter().map(local).collect();
        lines.push(format!("cp '{}'/Cargo.lock Cargo.lock", checkout.display()));
        lines.push(format!("cp '{}' src/main.rs", program.display()));
        lines.extend(self.start.iter().map(local));
        lines.join("\n")
    }

    /// Refuses output that does not end with the lines of the README.
    pub(super) fn check_output(&self, printed: &str) -> Result<(), Failure> {
        let printed: Vec<_> = printed.lines().map(str::to_owned).collect();
        if printed.ends_with(&self.output) {
            return Ok(());
        }
        let lines = self.output.join("\n  ");
        Err(Failure::new(format!(
            "the program of README.md does not print what README.md shows:\n  {lines}"
        )))
    }
}

/// Returns `command` with the crates of the checkout in place of ours.
///
/// README and tutorials name our crates by path, `--path ../autonoe/NAME`, or by name alone, as
/// users of the registry do. A version that is about to be released is not in the registry yet.
pub(super) fn use_checkout(command: &str, checkout: &Path) -> String {
    let checkout = format!("'{}'/", checkout.display());
    let (our_crates, others): (Vec<_>, Vec<_>) = command
        .split(' ')
        .partition(|word| word.starts_with(OUR_CRATES));
    if our_crates.is_empty() || !command.starts_with("cargo add ") {
        return command.replace(CHECKOUT, &checkout);
    }
    // One command adds only one crate by path.
    let add = others.join(" ");
    let adds: Vec<_> = our_crates
        .iter()
        .map(|name| format!("{add} --path {checkout}{name}"))
        .collect();
    adds.join(" && ")
}

/// Separates the commands of a block from their output.
pub(super) fn read_console(block: &str) -> (Vec<String>, Vec<String>) {
    let (commands, output): (Vec<_>, Vec<_>) =
        block.lines().partition(|line| line.starts_with("$ "));
    let command = |line: &str| line.trim_start_matches("$ ").to_owned();
    (
        commands.into_iter().map(command).collect(),
        output.into_iter().map(str::to_owned).collect(),
    )
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

    const README: &str = "\
# Autonoe

```console
$ cargo run
```

## Embed it

```console
$ cargo new shop && cd shop # beside the checkout
$ cargo add --path ../autonoe/autonoe-core
```

In `src/main.rs`:

```rust
fn main() { println!(\"done\"); }
```

```console
$ cargo run
done
```

## Extend it

```rust
fn other() {}
```
";

    #[test]
    fn the_commands_and_the_program_are_those_of_the_section() {
        let recipe = Recipe::parse(README).expect("it is one");

        assert_eq!(recipe.program, "fn main() { println!(\"done\"); }\n");
        assert_eq!(
            recipe.script(Path::new("/src/a b"), Path::new("/tmp/main.rs")),
            "cargo new shop && cd shop # beside the checkout\n\
         cargo add --path '/src/a b'/autonoe-core\n\
         cp '/src/a b'/Cargo.lock Cargo.lock\n\
         cp '/tmp/main.rs' src/main.rs\n\
         cargo run"
        );
    }

    #[test]
    fn crates_of_the_registry_are_added_from_the_checkout() {
        for (command, local) in [
            (
                "cargo add autonoe-core autonoe-scripted",
                "cargo add --path '/src/a b'/autonoe-core && cargo add --path '/src/a b'/autonoe-scripted",
            ),
            (
                "cargo add --dev autonoe-testkit --features model-servers",
                "cargo add --dev --features model-servers --path '/src/a b'/autonoe-testkit",
            ),
            (
                "cargo add --dev --path ../autonoe/autonoe-core",
                "cargo add --dev --path '/src/a b'/autonoe-core",
            ),
            (
                "cargo add tokio --features rt",
                "cargo add tokio --features rt",
            ),
            ("cargo new autonoe-shop", "cargo new autonoe-shop"),
        ] {
            assert_eq!(use_checkout(command, Path::new("/src/a b")), local);
        }
    }

    #[test]
    fn a_section_without_commands_or_program_is_refused() {
        for removed in [
            "\n## Embed it\n",
            "```rust\nfn main",
            "$ cargo run\ndone\n```",
        ] {
            assert!(
                Recipe::parse(&README.replacen(removed, "", 1)).is_err(),
                "{removed}"
            );
        }
    }

    #[test]
    fn the_program_must_print_what_the_section_shows() {
        let recipe = Recipe::parse(README).expect("it is one");

        assert_eq!(recipe.check_output("done\n"), Ok(()));
        assert_eq!(recipe.check_output("warning\ndone\n"), Ok(()));
        for printed in ["", "done and more\n", "done\nmore\n"] {
            assert!(recipe.check_output(printed).is_err(), "{printed:?}");
        }
    }
}
