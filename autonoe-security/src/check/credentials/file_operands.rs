//! Arguments that name files that a command reads.

use std::ops::Range;

use super::name_passing::passes_names;
use super::possible_paths;
use super::program_text::may_name_credentials;
use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::check::file_use::FileUse;
use crate::check::path_pattern::EXPANSION;
use crate::check::search_args;

/// Names of files with credentials, which a search must not select.
const FILE_NAMES: &[&str] = words!(
    "authorized_keys config config.json credentials environ hosts.yml id_dsa id_ecdsa id_ed25519",
    "id_rsa known_hosts netrc npmrc shadow token",
);

/// Returns whether a static argument is certainly not a path to credentials, in a directory that
/// contains none. This is a fast pre-check.
pub(super) fn is_certainly_unrelated(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> bool {
    let text = arg.text.as_ref();
    if !arg.is_static() || arg.tilde {
        return false;
    }
    // Any file may be a symlink.
    if call.context.links.is_some() && !text.starts_with('-') && reads_files(call) {
        return false;
    }
    if call.name == "printf" && text.contains('%') {
        return false;
    }
    // The top of the repository, which Git does not leave.
    if call.name == "git" && text == ":/" {
        return true;
    }
    if !text.bytes().any(|byte| byte == b'/') {
        let is_quote = |byte: u8| matches!(byte, b'\'' | b'"' | b'`');
        let is_program = text.bytes().any(is_quote) && may_name_credentials(text);
        return !text.starts_with('~') && text != ".." && !is_program;
    }
    let is_plain =
        !text.contains("..") && !text.contains([' ', '=', '@', ':', ',', ';', '<', '(', '"', '\'']);
    let is_in_project = |path: &str| {
        let below = path.strip_prefix(call.policy().project_dir());
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    };
    is_plain && (!text.starts_with(['/', '~', '-']) || is_in_project(text))
}

/// Distinguishes the files among the arguments of a command from patterns and texts.
pub(crate) struct Files {
    /// The index of a search pattern or of a program.
    pattern: Option<usize>,
    /// The arguments of find that are directories to search.
    starts: Range<usize>,
}

impl Files {
    pub(crate) fn new(call: &Call<'_, '_, '_>) -> Self {
        let starts = match call.name {
            // With this option, it reads file names from a file.
            "find" if !call.has("-files0-from") => search_args::find_starts(call),
            _ => 0..call.args.len(),
        };
        Self {
            pattern: search_args::pattern(call),
            starts,
        }
    }

    /// Returns whether the argument `at` can name files.
    pub(crate) fn may_be_file(&self, call: &Call<'_, '_, '_>, at: usize, arg: &Arg<'_>) -> bool {
        self.pattern != Some(at) && self.starts.contains(&at) && !is_text_of_git(call, at, arg)
    }
}

/// Returns the possible texts of the argument `at`.
pub(super) fn texts(call: &Call<'_, '_, '_>, at: usize, arg: &Arg<'_>) -> Vec<String> {
    match call.name {
        "printf" => vec![printed(call, at, arg)],
        _ => possible_paths::from_arg(call.context.scope, arg),
    }
}

/// Returns the possible paths in a text: the whole text, or each word of a printed sentence. The
/// words may become arguments of another command.
pub(super) fn words<'t>(call: &Call<'_, '_, '_>, text: &'t str) -> impl Iterator<Item = &'t str> {
    let is_sentence = text.contains([' ', '\n', '\t']);
    let is_printed = is_sentence && matches!(call.name, "echo" | "printf");
    let is_path = !is_sentence || text.starts_with(['/', '~']);
    let printed = if is_printed { text } else { "" };
    let whole = (is_path && !is_printed).then_some(text);
    printed.split_whitespace().chain(whole)
}

/// Returns the output of `printf` for the argument `at`: with `%s` substituted, if it is a format.
fn printed(call: &Call<'_, '_, '_>, at: usize, arg: &Arg<'_>) -> String {
    let text_of = |arg: &Arg<'_>| {
        let texts = possible_paths::from_arg(call.context.scope, arg);
        texts.into_iter().next().unwrap_or_default()
    };
    let format = text_of(arg);
    let mut values = call.args[at + 1..].iter();
    let mut pieces = format.split("%s");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match values.next() {
            Some(value) => text.push_str(&text_of(value)),
            None => text.push(EXPANSION),
        }
        text.push_str(piece);
    }
    text.replace("\\n", " ").replace("\\0", " ")
}

/// Returns whether the argument `at` of git is text by an option of its subcommand.
fn is_text_of_git(call: &Call<'_, '_, '_>, at: usize, arg: &Arg<'_>) -> bool {
    if call.name != "git" {
        return false;
    }
    let mut words = call.args.iter().filter_map(|arg| arg.known());
    let options = match words.find(|word| git_text_options(word).is_some()) {
        Some(subcommand) => git_text_options(subcommand).unwrap_or_default(),
        None => return false,
    };
    let before = at
        .checked_sub(1)
        .map_or("", |at| call.args[at].text.as_ref());
    let text = arg.text.as_ref();
    let attaches = |option: &str| {
        if option.starts_with("--") {
            text.strip_prefix(option)
                .is_some_and(|rest| rest.starts_with('='))
        } else {
            text.starts_with(option)
        }
    };
    options.contains(&before) || options.iter().any(|option| attaches(option))
}

/// Returns the options of a subcommand of git that take text. In other subcommands, the same
/// letters may be flags, so that a file follows: `git grep -G FILE`.
fn git_text_options(subcommand: &str) -> Option<&'static [&'static str]> {
    let options = match subcommand {
        "commit" | "tag" => words!("-m --message --author --format --trailer"),
        "commit-tree" | "merge" | "notes" | "stash" => words!("-m --message"),
        "log" | "rev-list" | "shortlog" | "show" | "whatchanged" | "reflog" => {
            words!("-S -G --grep --author --committer --format --pretty")
        }
        "diff" | "diff-files" | "diff-index" | "diff-tree" | "format-patch" => words!("-S -G"),
        "branch" | "for-each-ref" | "ls-files" | "ls-tree" => words!("--format"),
        _ => return None,
    };
    Some(options)
}

/// Returns the paths that an argument may contain: the whole argument, and the text after an option
/// or a separator.
pub(super) fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let is_option = text.starts_with('-') && !text.starts_with("--");
    let starts = text.char_indices().filter(move |(at, c)| {
        let is_start = match *c {
            '/' | '~' | '\u{4}' | '\u{5}' | EXPANSION => true,
            '.' => text[*at..].starts_with("../"),
            _ => false,
        };
        if !is_start {
            return false;
        }
        let before = text[..*at].chars().next_back();
        match before {
            Some(':') if text[*at..].starts_with("//") => {
                text[..*at].to_ascii_lowercase().ends_with("file:")
            }
            Some('=' | '@' | ':' | ',' | ';' | '<' | '(' | '"' | '\'') => true,
            Some(letter) => is_option && *at > 1 && letter.is_alphanumeric(),
            None => false,
        }
    });
    let ends = |path: &str| path.find([';', ',', '"', '\'', ')']);
    let whole = move |(at, _): (usize, char)| {
        let path = &text[at..];
        let first = ends(path).map_or(path, |end| &path[..end]);
        [path, first]
    };
    std::iter::once(text).chain(starts.flat_map(whole))
}

/// Returns whether a command reads the files in its arguments.
pub(super) fn reads_files(call: &Call<'_, '_, '_>) -> bool {
    match call.name {
        "cd" | "type" | "which" => passes_names_on(call),
        "find" | "fd" | "fdfind" if runs_reader(call) => true,
        name => reads(name) || reads_names_from_file(call) || passes_names_on(call),
    }
}

/// Returns whether the command `name` may read the files in its arguments.
fn reads(name: &str) -> bool {
    let file_use = FileUse::from_command(name);
    !matches!(file_use, FileUse::PrintsNames | FileUse::Inspects)
}

/// Returns whether a command reads everything below the directories in its arguments.
pub(super) fn reads_directories(call: &Call<'_, '_, '_>) -> bool {
    let has = |letters: &[char], names: &[&str]| {
        call.args.iter().any(|arg| {
            let text = arg.text.as_ref();
            match text.strip_prefix("--") {
                Some(long) => names.iter().any(|name| long.starts_with(name)),
                None => text.starts_with('-') && text.contains(letters),
            }
        })
    };
    match call.name {
        "rg" | "tar" | "zip" | "rsync" | "scp" | "7z" | "ag" | "ack" | "ugrep" => true,
        "grep" | "egrep" | "fgrep" => search_args::is_recursive_grep(call),
        "cp" => has(&['r', 'R', 'a'], &["r", "a"]),
        "diff" => has(&['r'], &["r"]),
        "git" => {
            let subcommands = ["grep", "diff", "add", "hash-object"];
            call.has("--no-index") || subcommands.iter().any(|name| call.has(name))
        }
        "find" | "fd" | "fdfind" => {
            runs_reader(call) || (passes_names_on(call) && may_find_credentials(call))
        }
        _ => false,
    }
}

/// Returns whether find runs a command that reads the files.
fn runs_reader(call: &Call<'_, '_, '_>) -> bool {
    let mut names = search_args::started_commands(call);
    names.any(|name| reads(name) && !matches!(name, "test" | "["))
}

/// Options whose value is a file with names.
const NAME_LISTS: &[&str] =
    words!("--files0-from --files-from --filesfrom --fromfile -files0-from");

/// Returns whether a command prints names that it reads from a file.
fn reads_names_from_file(call: &Call<'_, '_, '_>) -> bool {
    call.args.iter().any(|arg| {
        let text = arg.text.as_ref();
        let name = text.split('=').next().unwrap_or(text);
        // Long options may be abbreviated.
        let is_list = |option: &&&str| name.len() > 2 && option.starts_with(name);
        NAME_LISTS.iter().any(|option| is_list(&option)) || text.ends_with("file")
    })
}

fn passes_names_on(call: &Call<'_, '_, '_>) -> bool {
    passes_names(call.context.scope)
}

/// Returns whether a search may find a file with credentials: it does not select a single other
/// name.
fn may_find_credentials(call: &Call<'_, '_, '_>) -> bool {
    let wanted = call
        .args
        .windows(2)
        .filter(|pair| pair[0].is("-name") || pair[0].is("-iname"));
    let mut names = wanted.map(|pair| pair[1].text.trim_start_matches('.'));
    !names.any(|name| !name.contains(['*', '?', '[']) && !FILE_NAMES.contains(&name))
}
