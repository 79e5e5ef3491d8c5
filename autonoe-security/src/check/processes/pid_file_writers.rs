//! Commands of a text that may write the file of a process ID, besides the one that should.

use crate::check::path;
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{
    ArgWord, Command, CommandKind, Part, Redirect, RedirectOperator, RedirectTarget, Script,
    SimpleCommand, Text,
};

/// Commands that write a file which an operand or an option names.
const WRITERS: &[&str] =
    words!("cp dd install ln mv rsync sed shuf sort split tar tee touch tree truncate uniq xxd",);

/// Options of commands in [`WRITERS`] that write files which the text does not name.
const RECURSIVE: &[&str] = words!("-r -R -a --archive --recursive");

/// Subcommands of git that write files of the working tree.
const CHANGING: &[&str] = words!(
    "am apply checkout checkout-index cherry-pick clone merge pull read-tree rebase reset restore",
    "revert stash submodule switch worktree",
);

/// Returns whether a text may write `file` more than once, or changes the directory to which the path
/// of the file is relative, except before it writes the file and for the rest of the text.
pub(super) fn may_write_again(script: &Script<'_>, file: &str) -> bool {
    let mut finder = WriterFinder {
        name: path::file_name(file),
        is_relative: !file.starts_with('/'),
        depth: 0,
        writes: 0,
        found: false,
    };
    finder.script(script);
    finder.found || finder.writes > 1
}

struct WriterFinder<'f> {
    name: &'f str,
    is_relative: bool,
    /// The number of compound commands around the current command.
    depth: usize,
    /// The number of redirections to a file of this name.
    writes: usize,
    found: bool,
}

impl<'t, 'a: 't> Visitor<'t, 'a> for WriterFinder<'_> {
    fn command(&mut self, command: &'t Command<'a>) {
        for redirect in &command.redirects {
            self.record(redirect);
        }
        let is_compound = match &command.kind {
            CommandKind::Simple(simple) => {
                self.found |= self.may_write(simple);
                false
            }
            _ => true,
        };
        self.depth += usize::from(is_compound);
        visit::command(self, command);
        self.depth -= usize::from(is_compound);
    }
}

impl WriterFinder<'_> {
    fn record(&mut self, redirect: &Redirect<'_>) {
        let RedirectTarget::Word(word) = &redirect.target else {
            return;
        };
        if matches!(
            redirect.operator,
            RedirectOperator::Read
                | RedirectOperator::DuplicateInput
                | RedirectOperator::HereString
        ) {
            return;
        }
        match word.static_text() {
            Some(target) => self.writes += usize::from(path::file_name(&target) == self.name),
            None => self.found = true,
        }
    }

    /// Returns whether a command may write the file, or change the directory.
    fn may_write(&self, simple: &SimpleCommand<'_>) -> bool {
        let words: Vec<Option<Text<'_>>> = simple.words.iter().map(ArgWord::static_text).collect();
        let has = |names: &[&str]| {
            let mut known = words.iter().flatten();
            known.any(|word| names.contains(&path::file_name(word)))
        };
        let has_option = |is_meant: &dyn Fn(&str) -> bool| {
            let mut known = words.iter().flatten();
            known.any(|word| word.starts_with('-') && is_meant(word))
        };
        let is_named = || {
            words
                .iter()
                .flatten()
                .any(|word| path::file_name(word) == self.name)
        };
        let is_open = || words.iter().any(Option::is_none);

        let is_late = self.depth > 0 || self.writes > 0;
        let changes_directory = self.is_relative && is_late && has(&["cd", "pushd", "popd"]);
        let writes = has(WRITERS)
            && (is_open() || is_named() || has_option(&|option| RECURSIVE.contains(&option)));
        let changes_tree = has(&["git"]) && has(CHANGING);
        let has_own_script = has(&["eval"])
            || (has(&["bash", "sh", "dash", "zsh", "ksh"]) && has_option(&|it| it.contains('c')))
            || (has(&["trap"]) && words.iter().flatten().any(|word| word.contains('>')));
        let downloads = has(&["curl", "wget"])
            && (simple.words.iter().any(is_open_option)
                || (is_named() && has_option(&|it| it.contains(['o', 'O'])))
                || words.windows(2).any(has_open_output)
                || (is_open() && has_option(&names_output)));
        changes_directory || writes || changes_tree || has_own_script || downloads
    }
}

/// Returns whether an option of curl takes the name of its output from the address, or from a word
/// that may be unknown.
fn names_output(option: &str) -> bool {
    let is_cluster = !option.starts_with("--");
    (is_cluster && option.contains('O')) || option.starts_with("--remote")
}

/// Returns whether an option for the output and the word behind it are `-o` and an unknown file.
fn has_open_output(pair: &[Option<Text<'_>>]) -> bool {
    let is_output =
        |option: &str| option == "--output" || (option.starts_with('-') && option.ends_with('o'));
    pair[0].as_deref().is_some_and(is_output) && pair[1].is_none()
}

/// Returns whether a word is an option with an unknown value.
fn is_open_option(word: &ArgWord<'_>) -> bool {
    match word {
        ArgWord::Word(word) => {
            let begins_option = matches!(word.parts.first(),
                Some(Part::Literal(text)) if text.starts_with('-'));
            begins_option && word.static_text().is_none()
        }
        ArgWord::Array(_) => true,
    }
}
