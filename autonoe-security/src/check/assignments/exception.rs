//! Values that protected variables may have.

use super::search_path::{components, is_search_folder};
use crate::check::directories::Directories;
use crate::check::path;
use crate::policy::Policy;
use crate::syntax::{Part, static_text};

/// What a protected variable may be set to.
pub(super) enum Exception {
    /// No program but these.
    NoProgram,
    /// Anything.
    Anything,
    /// Anything that is known.
    AnythingKnown,
    /// Options of Node.js that load nothing.
    NodeOptions,
    /// Folders of the project, separated by colons.
    SearchPath,
    /// A folder of the project, or below `/tmp`.
    Folder,
    /// A locale in which the shell reads its own characters as they are.
    Locale,
    /// A number, because the shell evaluates it.
    Number,
    /// The name of a toolchain.
    Toolchain,
    /// Text without any of these.
    Without(&'static [&'static str]),
}

impl Exception {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "PAGER"
            | "GIT_PAGER"
            | "MANPAGER"
            | "EDITOR"
            | "VISUAL"
            | "GIT_EDITOR"
            | "GIT_SEQUENCE_EDITOR" => Self::NoProgram,
            "GIT_AUTHOR_NAME"
            | "GIT_AUTHOR_EMAIL"
            | "GIT_AUTHOR_DATE"
            | "GIT_COMMITTER_NAME"
            | "GIT_COMMITTER_EMAIL"
            | "GIT_COMMITTER_DATE" => Self::Anything,
            "GIT_TERMINAL_PROMPT"
            | "GIT_MERGE_AUTOEDIT"
            | "GIT_OPTIONAL_LOCKS"
            | "CGO_ENABLED"
            | "PIP_DISABLE_PIP_VERSION_CHECK"
            | "PIP_NO_INPUT" => Self::AnythingKnown,
            "NODE_OPTIONS" => Self::NodeOptions,
            "PYTHONPATH" | "NODE_PATH" | "RUBYLIB" => Self::SearchPath,
            "TMPDIR" | "CARGO_TARGET_DIR" => Self::Folder,
            "RUSTFLAGS" | "RUSTDOCFLAGS" => {
                Self::Without(&["linker", "wrapper", "codegen-backend", "-Z"])
            }
            "LC_ALL" | "LC_CTYPE" | "LANG" => Self::Locale,
            "RANDOM" | "OPTIND" | "SECONDS" => Self::Number,
            "RUSTUP_TOOLCHAIN" => Self::Toolchain,
            "GOFLAGS" => Self::Without(&["exec", "overlay", "vettool"]),
            _ => return None,
        })
    }

    pub(super) fn instead(&self) -> &'static str {
        match self {
            Self::NoProgram => "set it to cat or true",
            Self::SearchPath | Self::Folder => "use a literal path inside the project",
            Self::Anything | Self::AnythingKnown => "write the value literally",
            Self::Locale => "use C or a UTF-8 locale",
            Self::Number => "set it to a number",
            Self::Toolchain => "name an installed toolchain",
            Self::NodeOptions | Self::Without(_) => "leave out options that load or run something",
        }
    }

    pub(super) fn holds(
        &self,
        policy: &Policy,
        directories: &Directories<'_>,
        name: &str,
        value: &[Part<'_>],
    ) -> bool {
        match self {
            Self::Anything => return true,
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
        match self {
            Self::Anything | Self::AnythingKnown => true,
            Self::NoProgram => matches!(text.as_ref(), "cat" | "true" | ":" | ""),
            Self::NodeOptions => text.split_whitespace().all(is_harmless_node_option),
            Self::Folder => {
                let is_inside = |place: &str| {
                    path::is_within(place, policy.project_dir()) || path::is_within(place, "/tmp")
                };
                lies(directories, &text, is_inside) && !path::is_protected(&text)
            }
            Self::Without(parts) => parts.iter().all(|part| !text.contains(part)),
            Self::Locale => is_plain_locale(&text),
            Self::Number => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Toolchain => !text.contains('/'),
            Self::SearchPath => false,
        }
    }
}

/// Tells whether no byte of ASCII is part of a longer character in this locale.
///
/// In GBK or Shift-JIS a backslash can be, and then Bash reads the text in another way than we do.
fn is_plain_locale(locale: &str) -> bool {
    let codeset = locale
        .split_once('.')
        .map(|(_, codeset)| codeset.to_ascii_lowercase());
    match codeset {
        Some(codeset) => ["utf", "iso", "ascii"]
            .iter()
            .any(|it| codeset.starts_with(it)),
        // Without a name of its own, the codeset is an old one of the language.
        None => !["zh", "ja", "ko"]
            .iter()
            .any(|language| locale.starts_with(language)),
    }
}

fn is_harmless_node_option(option: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "--max-old-space-size=",
        "--max-semi-space-size=",
        "--experimental-vm-modules",
        "--no-warnings",
        "--trace-warnings",
        "--trace-deprecation",
        "--no-deprecation",
        "--enable-source-maps",
        "--unhandled-rejections=",
        "--stack-trace-limit=",
        "--experimental-strip-types",
        "--no-experimental",
    ];
    HARMLESS.iter().any(|start| option.starts_with(start))
}

/// Tells whether `holds` for the place of `path` in every possible directory.
pub(super) fn lies(
    directories: &Directories<'_>,
    path: &str,
    holds: impl Fn(&str) -> bool,
) -> bool {
    let places = directories.resolve(path);
    places.is_some_and(|places| places.iter().all(|place| holds(place)))
}
