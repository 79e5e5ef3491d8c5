//! `cargo xtask lines`: counts the lines of code of each package.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use self::source::Source;
use crate::cargo::Cargo;
use crate::failure::Failure;
use crate::git;

/// Prints the table of all packages of the repository.
pub(crate) fn run(cargo: &Cargo) -> Result<(), Failure> {
    let root = cargo.root();
    let mut sources = BTreeMap::new();
    for file in git::tracked_files(root, "*.rs")? {
        if package(&file).is_none() {
            continue;
        }
        let text = fs::read_to_string(root.join(&file))
            .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?;
        sources.insert(file, Source::read(&text));
    }
    println!("{}", Table::count(&sources));
    Ok(())
}

/// Returns the folder of the package whose `src` has this file.
fn package(file: &Path) -> Option<&Path> {
    file.ancestors()
        .find(|dir| dir.ends_with("src"))
        .and_then(Path::parent)
}

/// Lines of one package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    files: usize,
    code: usize,
    tests: usize,
}

/// Lines of each package, with their sum.
///
/// Displays as a table.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    packages: BTreeMap<PathBuf, Lines>,
}

impl Table {
    fn count(sources: &BTreeMap<PathBuf, Source>) -> Self {
        let test_modules: BTreeSet<PathBuf> = sources
            .iter()
            .flat_map(|(file, source)| {
                let parent = module_dir(file);
                source
                    .test_modules
                    .iter()
                    .map(move |name| parent.join(name))
            })
            .collect();

        let mut table = Self::default();
        for (file, source) in sources {
            let Some(package) = package(file) else {
                continue;
            };
            let lines = table.packages.entry(package.to_owned()).or_default();
            lines.files += 1;
            if module_dir(file)
                .ancestors()
                .any(|dir| test_modules.contains(dir))
            {
                lines.tests += source.code + source.tests;
            } else {
                lines.code += source.code;
                lines.tests += source.tests;
            }
        }
        table
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>8}  {:>12}  {:>6}  package",
            "code", "inline tests", "files"
        )?;
        let mut sum = Lines::default();
        for (package, lines) in &self.packages {
            sum.files += lines.files;
            sum.code += lines.code;
            sum.tests += lines.tests;
            write_row(f, lines, &package.display().to_string())?;
            writeln!(f)?;
        }
        write_row(f, &sum, "all")
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, lines: &Lines, name: &str) -> fmt::Result {
    write!(
        f,
        "{:>8}  {:>12}  {:>6}  {name}",
        lines.code, lines.tests, lines.files
    )
}

/// Returns the folder that holds the files of the modules declared in `file`.
fn module_dir(file: &Path) -> PathBuf {
    match file.file_name().and_then(|name| name.to_str()) {
        Some("mod.rs" | "lib.rs" | "main.rs") => file.parent().unwrap_or(file).to_owned(),
        _ => file.with_extension(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(files: &[(&str, &str)]) -> Table {
        let sources = files
            .iter()
            .map(|(file, text)| (PathBuf::from(file), Source::read(text)))
            .collect();
        Table::count(&sources)
    }

    #[test]
    fn files_count_for_the_package_whose_src_has_them() {
        let table = table(&[
            ("a/src/lib.rs", "fn a() {}\n"),
            ("a/src/deep/src.rs", "fn b() {}\nfn c() {}\n"),
            ("a/worker/src/main.rs", "fn main() {}\n"),
        ]);

        assert_eq!(
            table.packages,
            BTreeMap::from([
                (
                    PathBuf::from("a"),
                    Lines {
                        files: 2,
                        code: 3,
                        tests: 0
                    }
                ),
                (
                    PathBuf::from("a/worker"),
                    Lines {
                        files: 1,
                        code: 1,
                        tests: 0
                    }
                ),
            ])
        );
    }

    #[test]
    fn files_of_a_test_module_are_tests_at_any_depth() {
        let table = table(&[
            ("a/src/lib.rs", "mod one;\n"),
            ("a/src/one.rs", "#[cfg(test)]\nmod tests;\nfn a() {}\n"),
            ("a/src/one/tests.rs", "mod deep;\nfn b() {}\n"),
            ("a/src/one/tests/deep.rs", "fn c() {}\n"),
            ("a/src/tests.rs", "fn product() {}\n"),
        ]);

        assert_eq!(
            table.packages[Path::new("a")],
            Lines {
                files: 5,
                code: 3,
                tests: 5
            }
        );
    }

    #[test]
    fn the_last_row_is_the_sum() {
        let table = table(&[
            ("a/src/lib.rs", "fn a() {}\n"),
            ("b/src/lib.rs", "fn b() {}\n"),
        ]);

        assert_eq!(
            table.to_string(),
            "    code  inline tests   files  package\n       1             0       1  a\n       1             0       1  b\n       2             0       2  all"
        );
    }
}
