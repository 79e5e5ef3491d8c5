//! `cargo xtask lines`: counts the lines of code of each package and source file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

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

/// Counts of a file. Blank lines and comments do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Source {
    /// Lines outside of tests.
    code: usize,
    /// Lines of items below `#[cfg(test)]`.
    tests: usize,
    /// Names of modules in other files that are declared below `#[cfg(test)]`.
    test_modules: Vec<String>,
}

impl Source {
    /// Counts the lines of `text`.
    fn read(text: &str) -> Self {
        let code = without_comments(text);
        let mut source = Self::default();
        let mut lines = code.lines().filter(|line| !line.trim().is_empty());

        while let Some(line) = lines.next() {
            if !is_test_attribute(line) {
                source.code += 1;
                continue;
            }
            source.tests += 1;
            let mut depth = 0_usize;
            for line in lines.by_ref() {
                source.tests += 1;
                if let Some(name) = declared_module(line) {
                    source.test_modules.push(name.to_owned());
                }
                for byte in line.bytes() {
                    match byte {
                        b'{' | b'(' | b'[' => depth += 1,
                        b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                }
                let line = line.trim_end();
                if depth == 0 && (line.ends_with(['}', ';', ','])) {
                    break;
                }
            }
        }
        source
    }
}

fn is_test_attribute(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("#[cfg(test") || line.starts_with("#[cfg(all(test")
}

/// Returns `name` of a line `mod name;`.
fn declared_module(line: &str) -> Option<&str> {
    let (_, name) = line.trim().strip_suffix(';')?.split_once("mod ")?;
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        .then_some(name)
}

/// Replaces comments by blanks and the characters of texts by `x`, and keeps the line breaks.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, mask) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), ' ')
        } else if rest.starts_with("/*") {
            (block_comment(rest), ' ')
        } else if let Some(length) = literal(rest, code.chars().next_back()) {
            (length, 'x')
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let (masked, after) = rest.split_at(length);
        code.extend(masked.chars().map(|c| if c == '\n' { c } else { mask }));
        rest = after;
    }
    code
}

/// Returns the length of the block comment at the start of `text`, which may have others inside.
fn block_comment(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the length of the text or character literal at the start of `text`, if there is one.
fn literal(text: &str, before: Option<char>) -> Option<usize> {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if let Some(raw) = text
        .strip_prefix('r')
        .filter(|_| !in_word || before == Some('b'))
    {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = 1 + hashes + 1;
            let length = text[start..].find(&end).map(|at| start + at + end.len());
            return Some(length.unwrap_or(text.len()));
        }
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    if quote == '\'' {
        // A lifetime has no second quote behind its first character.
        let mut chars = text[1..].chars();
        let first = chars.next()?;
        if first != '\\' && chars.next() != Some('\'') {
            return None;
        }
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    Some(text.len())
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

    fn counts(text: &str) -> (usize, usize) {
        let source = Source::read(text);
        (source.code, source.tests)
    }

    #[test]
    fn comments_and_blank_lines_do_not_count() {
        for (text, code) in [
            ("//! About.\n\n/// A.\nfn a() {} // here\n", 1),
            ("/* one\n two /* three */\n four */ fn a() {}\n", 1),
            ("let a = \"// no comment\";\n", 1),
            ("let a = \"one\n// two\nthree\";\n", 3),
            ("let a = r#\"a \" // b\"#; // c\nlet b = br\"/*\";\n", 2),
            ("let quote = '\"';\n// a\nlet end = '\\'';\n", 2),
            ("fn a<'a>(b: &'a str) {}\n/* ' */\n", 1),
            ("let for_ = 1; let xr = xr;\n", 1),
            ("", 0),
        ] {
            assert_eq!(counts(text), (code, 0), "{text:?}");
        }
    }

    #[test]
    fn items_below_cfg_test_are_tests() {
        let module = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    // A comment.\n    fn b() {\n    }\n}\nfn c() {}\n";
        assert_eq!(counts(module), (2, 5));

        let braces_in_texts =
            "#[cfg(test)]\nmod tests {\n    const A: &str = \"}\";\n}\nfn c() {}\n";
        assert_eq!(counts(braces_in_texts), (1, 4));

        let attributes =
            "#[cfg(all(test, unix))]\n#[allow(dead_code)]\nfn b(\n    c: u8,\n) {\n}\nfn d() {}\n";
        assert_eq!(counts(attributes), (1, 6));

        let field = "struct A {\n    #[cfg(test)]\n    b: u8,\n    c: u8,\n}\n";
        assert_eq!(counts(field), (3, 2));
    }

    #[test]
    fn test_modules_in_other_files_are_named() {
        let source = Source::read("#[cfg(test)]\npub(crate) mod support;\nmod product;\n");

        assert_eq!(source.test_modules, ["support"]);
        assert_eq!((source.code, source.tests), (1, 2));
    }
}
