//! Accepted values of the variables in the tables.

use super::search_path::{components, is_search_folder};
use crate::check::directories::Directories;
use crate::check::text::is_number;
use crate::check::{build_output, path};
use crate::policy::{Mode, Policy};
use crate::syntax::{Operation, Part, Substitute, static_text};

/// The accepted values of a variable in the tables. Values must be static unless noted otherwise.
#[derive(Clone, Copy)]
pub(super) enum AcceptedValues {
    /// No program except `cat`, `true`, `:` or an empty value.
    NoProgram,
    /// Any text, including dynamic text.
    Anything,
    /// Any text.
    AnythingKnown,
    /// Letters, digits and `_-+,:=*@%`. No dots: nothing that could be imported.
    Word,
    /// A word that may contain dots: a version, a module, a host. Never `..`.
    Name,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Options, separated by blanks, each described by one of these: `-x` is itself, `-x*` a
    /// prefix, `-x~y*` an option and its value, which is neither an option nor `@file`.
    Options(&'static [&'static str]),
    /// Folders of the project, separated by colons, or the same variable.
    SearchPath,
    /// A path inside the project.
    ProjectPath,
    /// A folder of the system, in which agents cannot write.
    SystemFolder,
    /// An output location: inside the project, or in `/tmp`. In sync mode like
    /// [`Self::BuildFolder`].
    Output,
    /// A location that a tool may empty: below `/tmp`, or a folder that only build tools write.
    BuildFolder,
    /// A locale in which the shell reads its own characters unchanged.
    Locale,
    /// A time zone by name, not by file.
    TimeZone,
    /// Pairs `NAME=VALUE` of these names and plain words, separated by colons.
    Settings(&'static [&'static str]),
    /// A number, because the shell evaluates it.
    Number,
    /// The name of a toolchain.
    Toolchain,
    /// The id of the last background job: `$!`.
    Job,
}

impl AcceptedValues {
    /// Returns the advice for a denied value.
    pub(super) fn instead(&self) -> &'static str {
        match self {
            Self::NoProgram => "set it to cat or true",
            Self::SearchPath | Self::ProjectPath => "use a literal path inside the project",
            Self::Output => "use a literal path inside the project or /tmp",
            Self::SystemFolder => "use a literal path below /usr or /opt",
            Self::BuildFolder => "use a literal path below target, build or /tmp",
            Self::Anything | Self::AnythingKnown => "write the value literally",
            Self::OneOf(_) => "use a value that switches it off, or leave it out",
            Self::Word | Self::Name => "set it to a plain literal word",
            Self::Locale => "use C or a UTF-8 locale",
            Self::TimeZone => "use a literal name such as UTC or Europe/Berlin",
            Self::Number => "set it to a number",
            Self::Settings(_) => "use settings that name no file and no program",
            Self::Toolchain => "name an installed toolchain",
            Self::Job => "set it to $!, or use another name",
            Self::Options(_) => "leave out options that load, run or write something",
        }
    }

    /// Returns whether the variable `name` may be set to `value`.
    pub(super) fn holds(
        &self,
        policy: &Policy,
        directories: &Directories<'_>,
        name: &str,
        value: &[Part<'_>],
    ) -> bool {
        match self {
            Self::Anything => return true,
            Self::Job => return is_job(value),
            Self::SystemFolder if keeps_value(name, value) => return true,
            Self::SearchPath => {
                return components(value).is_some_and(|all| {
                    all.iter()
                        .all(|component| is_search_folder(policy, directories, name, component))
                });
            }
            _ => {}
        }
        let Some(text) = static_text(value) else {
            return false;
        };
        let is_in_project = |place: &str| path::is_within(place, policy.project_dir());
        let is_made = |place: &str| build_output::may_be_emptied(policy, place);
        let is_protected = path::is_protected(path::below(&text, policy.project_dir()));
        match self {
            Self::Anything | Self::AnythingKnown => true,
            Self::NoProgram => matches!(text.as_ref(), "cat" | "true" | ":" | ""),
            Self::Word => text.bytes().all(is_word_byte),
            Self::Name => {
                text.bytes().all(|byte| is_word_byte(byte) || byte == b'.') && !text.contains("..")
            }
            Self::OneOf(words) => words.contains(&text.as_ref()),
            Self::Options(harmless) => are_options(harmless, &text),
            Self::ProjectPath => {
                directories.all_locations(&text, is_in_project) && !text.contains(path::NOTE)
            }
            Self::SystemFolder => {
                let folders = ["/usr", "/opt", "/Library"];
                let is_within = folders.iter().any(|folder| path::is_within(&text, folder));
                is_within && !text.contains("..")
            }
            Self::Output if policy.mode() == Mode::Sync => {
                let is_fine = |place: &str| is_made(place) || place == "/tmp";
                directories.all_locations(&text, is_fine) && !is_protected
            }
            Self::Output => {
                let is_inside = |place: &str| {
                    is_in_project(place)
                        || (path::is_within(place, "/tmp") && !path::is_protected(place))
                };
                directories.all_locations(&text, is_inside) && !is_protected
            }
            Self::BuildFolder => directories.all_locations(&text, is_made) && !is_protected,
            Self::Locale => is_plain_locale(&text),
            Self::TimeZone => {
                !text.starts_with([':', '/']) && !text.split('/').any(|part| part == "..")
            }
            Self::Number => is_number(&text),
            Self::Toolchain => !text.contains('/'),
            Self::Settings(names) => text.split(':').all(|setting| {
                let (name, value) = setting.split_once('=').unwrap_or((setting, "-"));
                names.contains(&name) && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }),
            Self::SearchPath | Self::Job => false,
        }
    }
}

/// Returns whether a value is that of the variable `name` itself, or nothing: `"${NAME:-}"`.
fn keeps_value(name: &str, value: &[Part<'_>]) -> bool {
    match value {
        [Part::DoubleQuoted(inner)] => keeps_value(name, inner),
        [Part::Parameter(parameter)] => {
            let is_empty = matches!(&parameter.operation,
                Operation::Substitute { when: Substitute::Default, word, .. } if word.parts.is_empty());
            parameter.name == name
                && parameter.subscript.is_none()
                && (is_empty || parameter.operation == Operation::Value)
        }
        _ => false,
    }
}

fn is_job(value: &[Part<'_>]) -> bool {
    match value {
        [Part::DoubleQuoted(inner)] => is_job(inner),
        [Part::Parameter(parameter)] => {
            parameter.name == "!" && parameter.operation == Operation::Value
        }
        _ => false,
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+,:=*@%".contains(&byte)
}

/// Returns whether every option in `text` is one of `harmless`.
pub(super) fn are_options(harmless: &[&str], text: &str) -> bool {
    let fits = |pattern: &str, word: &str| match pattern.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word == pattern,
    };
    let is_value = |pattern: &str, word: &str| fits(pattern, word) && !word.starts_with(['-', '@']);
    // Programs that interpret quotes split the text differently.
    if text.contains(['"', '\'', '\\']) {
        return false;
    }
    let mut words = text.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        let next = words.peek().copied();
        let mut takes_next = false;
        let is_harmless = harmless
            .iter()
            .any(|pattern| match pattern.split_once('~') {
                None => fits(pattern, word),
                Some((first, second)) => {
                    takes_next =
                        fits(first, word) && next.is_some_and(|next| is_value(second, next));
                    takes_next
                }
            });
        if !is_harmless {
            return false;
        }
        if takes_next {
            words.next();
        }
    }
    true
}

/// Returns whether no ASCII byte is part of a longer character in this locale.
///
/// In GBK or Shift-JIS a backslash can be, and then Bash reads the text differently from this
/// parser.
fn is_plain_locale(locale: &str) -> bool {
    if locale.contains('/') {
        return false;
    }
    let codeset = locale
        .split_once('.')
        .map(|(_, codeset)| codeset.to_ascii_lowercase());
    match codeset {
        Some(codeset) => ["utf", "iso", "ascii"]
            .iter()
            .any(|it| codeset.starts_with(it)),
        // Without an explicit codeset, the locale uses a legacy one of the language.
        None => !["zh", "ja", "ko"]
            .iter()
            .any(|language| locale.starts_with(language)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_judged_one_by_one() {
        let harmless = words!("-q -Dw* -D~* -C~opt-level=* -p~no:* --tb=*");
        for text in [
            "",
            "-q",
            "-Dwarnings -q",
            "-C opt-level=3",
            "-q  -p no:x --tb=short",
        ] {
            assert!(are_options(harmless, text), "{text}");
        }
        for text in [
            "-x",
            "-q -x",
            "-C",
            "-C linker=x",
            "-D @f",
            "-p -x",
            "-p x",
            "@f",
            "-q '-x'",
            "--tb=\"a -x\"",
        ] {
            assert!(!are_options(harmless, text), "{text}");
        }
    }
}
