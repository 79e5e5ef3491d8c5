//! The section "Embed it" of the README as a shell script and a program.

use std::path::Path;

use crate::failure::Failure;

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
        let shown = self.output.join("\n  ");
        Err(Failure::new(format!(
            "the program of README.md does not print what README.md shows:\n  {shown}"
        )))
    }
}

/// Returns `command` with the crates of the checkout in place of ours.
///
/// README and tutorials name our crates by path, `--path ../autonoe/NAME`, or by name alone, as
/// users of the registry do. A version that is about to be released is not in the registry yet.
pub(super) fn use_checkout(command: &str, checkout: &Path) -> String {
    let checkout = format!("'{}'/", checkout.display());
    let (ours, others): (Vec<_>, Vec<_>) = command
        .split(' ')
        .partition(|word| word.starts_with(OUR_CRATES));
    if ours.is_empty() || !command.starts_with("cargo add ") {
        return command.replace(CHECKOUT, &checkout);
    }
    // One command adds only one crate by path.
    let add = others.join(" ");
    let adds: Vec<_> = ours
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
