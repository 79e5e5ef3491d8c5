//! Variables that may not be set, and values that they may have.

use std::borrow::Cow;

use super::directories::Directories;
use super::path;
use super::resolve::plain_text;
use crate::policy::Policy;
use crate::syntax::{Operation, Part, Span, Subscript};
use crate::{Denial, Rule};

/// Names that change which programs run, or what they load.
const PROTECTED: &[&str] = &[
    "PATH",
    "IFS",
    "CDPATH",
    "HOME",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "GLOBIGNORE",
    "HISTFILE",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "SHELL",
    "CC",
    "CXX",
    "LD",
    "AR",
    "PERL5OPT",
    "PERL5LIB",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONBREAKPOINT",
    "PYTHONUSERBASE",
    "RUBYOPT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "RUBYLIB",
    "GEM_HOME",
    "GEM_PATH",
    "RUSTC",
    "RUSTDOC",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "GOFLAGS",
    "MAKEFLAGS",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "GLIBC_TUNABLES",
    "TMPDIR",
    "CARGO_TARGET_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    // These are not in the first list of the policy; the policy document says why they are here.
    "POSIXLY_CORRECT",
    "TEXTDOMAIN",
    "TEXTDOMAINDIR",
    "LC_ALL",
    "LC_CTYPE",
    "LANG",
    "RANDOM",
    "SRANDOM",
    "OPTIND",
    "HISTCMD",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "GNUPGHOME",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFMT",
    "RUSTUP_TOOLCHAIN",
    "GOROOT",
    "GOENV",
    "GOTOOLCHAIN",
    "GOCACHEPROG",
    "PKG_CONFIG",
    "COMPOSER_HOME",
    "SSLKEYLOGFILE",
];

const PROTECTED_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_",
    "GIT_",
    "SSH_",
    "NPM_CONFIG_",
    "npm_config_",
    "YARN_",
    "PIP_",
    "UV_",
    "XDG_",
    "RUSTC_",
    "CARGO_BUILD_",
    "CARGO_TARGET_",
    "CGO_",
];

const PROXIES: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "ftp_proxy",
];

/// Where a variable is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// In front of `read`, for it alone.
    ForRead,
    /// Anywhere else.
    Other,
}

/// Tells whether nobody may set the variable `name`, but for harmless values.
pub(crate) fn is_protected(name: &str) -> bool {
    // Most names are of neither kind: a look at the first letter saves comparing.
    PROTECTED.contains(&name)
        || PROTECTED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
        || PROXIES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy))
}

/// Checks that the variable `name` may be set to `value`; `None` if its value is not known.
pub(crate) fn check(
    policy: &Policy,
    directories: &Directories<'_>,
    name: &str,
    value: Option<&[Part<'_>]>,
    setting: Setting,
    span: Span,
) -> Result<(), Denial> {
    if !is_protected(name) || (name == "IFS" && setting == Setting::ForRead) {
        return Ok(());
    }
    let Some(exception) = Exception::of(name) else {
        let reason = format!("the variable '{name}' may not be set");
        return Err(Denial::by(Rule::R15, span, reason).instead("run the command without it"));
    };
    let holds = value.is_some_and(|value| exception.holds(policy, directories, name, value));
    match holds {
        true => Ok(()),
        false => {
            let reason = format!("the variable '{name}' may not be set to this value");
            Err(Denial::by(Rule::R16, span, reason).instead(exception.instead()))
        }
    }
}

/// Checks the name of a variable that is set to something that is not known.
pub(crate) fn check_name(name: &str, span: Span) -> Result<(), Denial> {
    if !is_protected(name) {
        return Ok(());
    }
    let reason = format!("the variable '{name}' may not be set");
    Err(Denial::by(Rule::R15, span, reason).instead("use another name"))
}

/// What a protected variable may be set to.
enum Exception {
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
    fn of(name: &str) -> Option<Self> {
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
            "RANDOM" | "OPTIND" => Self::Number,
            "RUSTUP_TOOLCHAIN" => Self::Toolchain,
            "GOFLAGS" => Self::Without(&["exec", "overlay", "vettool"]),
            _ => return None,
        })
    }

    fn instead(&self) -> &'static str {
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

    fn holds(
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
        let Some(text) = plain_text(value) else {
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
    codeset.is_none_or(|codeset| {
        codeset.starts_with("utf") || codeset.starts_with("iso") || codeset.starts_with("ascii")
    })
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

/// One of the components of a search path.
enum Component<'v> {
    Text(Cow<'v, str>),
    Variable(&'v str),
}

/// Splits a value at its colons; `None` if a component mixes text and expansions.
fn components<'v>(value: &'v [Part<'v>]) -> Option<Vec<Component<'v>>> {
    let mut all = vec![Component::Text(Cow::Borrowed(""))];
    fn add<'v>(parts: &'v [Part<'v>], all: &mut Vec<Component<'v>>) -> Option<()> {
        for part in parts {
            match part {
                Part::DoubleQuoted(inner) => add(inner, all)?,
                Part::Literal(text) | Part::Quoted(text) => {
                    for (number, piece) in text.split(':').enumerate() {
                        if number > 0 {
                            all.push(Component::Text(Cow::Borrowed("")));
                        }
                        match all.last_mut()? {
                            Component::Text(text) => text.to_mut().push_str(piece),
                            Component::Variable(_) if piece.is_empty() => {}
                            Component::Variable(_) => return None,
                        }
                    }
                }
                Part::Parameter(parameter) => {
                    let is_whole =
                        matches!(all.last(), Some(Component::Text(text)) if text.is_empty());
                    let is_plain =
                        is_plain_value(&parameter.operation, parameter.subscript.as_ref());
                    if !is_whole || !is_plain {
                        return None;
                    }
                    *all.last_mut()? = Component::Variable(&parameter.name);
                }
                _ => return None,
            }
        }
        Some(())
    }
    add(value, &mut all)?;
    Some(all)
}

fn is_plain_value(operation: &Operation<'_>, subscript: Option<&Subscript<'_>>) -> bool {
    *operation == Operation::Value && subscript.is_none()
}

fn is_search_folder(
    policy: &Policy,
    directories: &Directories<'_>,
    name: &str,
    component: &Component<'_>,
) -> bool {
    match component {
        Component::Variable(variable) => *variable == name,
        Component::Text(text) if text.is_empty() => true,
        Component::Text(text) => lies(directories, text, |place| {
            path::is_within(place, policy.project_dir())
        }),
    }
}

/// Tells whether `holds` for the place of `path` in every possible directory.
fn lies(directories: &Directories<'_>, path: &str, holds: impl Fn(&str) -> bool) -> bool {
    let places = directories.resolve(path);
    places.is_some_and(|places| places.iter().all(|place| holds(place)))
}
