//! Arguments of search programs: patterns, directories and commands to run.

use std::ops::Range;

use super::arg::Arg;
use super::call::Call;
use super::commands;
use crate::option_table::{OptionArity, OptionTable};

/// Options of `grep`, GNU and BSD.
const GREP: OptionTable = options!(
    "EFGHILPRTUVZabchilnoqrsuvwxyz0123456789e:f:m:A:B:C:d:D:",
    "after-context= basic-regexp before-context= binary binary-files= byte-offset color? colour?",
    "context= count dereference-recursive devices= directories= exclude= exclude-dir= exclude-from=",
    "extended-regexp file= files-with-matches files-without-match fixed-strings help ignore-case",
    "include= include-dir= initial-tab invert-match label= line-buffered line-number line-regexp",
    "max-count= no-filename no-ignore-case no-messages null null-data only-matching perl-regexp",
    "quiet recursive regexp= silent text unix-byte-offsets version with-filename word-regexp",
);

const GIT_GREP: OptionTable = options!(
    "EFGHILPWachilnopqrvwz0123456789e:f:m:A:B:C:O?",
    "after-context= all-match and basic-regexp before-context= break cached color? column context=",
    "count exclude-standard extended-regexp file= files-with-matches files-without-match",
    "fixed-strings full-name function-context heading ignore-case invert-match line-number",
    "max-count= max-depth= name-only no-color no-exclude-standard no-index no-textconv not null",
    "only-matching open-files-in-pager? or perl-regexp quiet recurse-submodules recursive",
    "show-function text textconv threads= untracked word-regexp",
);

/// Options of `jq`. It accepts no abbreviations.
const JQ: OptionTable = options!(
    "CMRSVacehjnrsf:L:",
    "arg= argfile= argjson= args ascii-output binary build-configuration color-output",
    "compact-output debug-dump-disasm debug-trace exit-status from-file= help indent=",
    "join-output jsonargs library-path= monochrome-output null-input raw-input raw-output",
    "raw-output0 rawfile= seq slurp slurpfile= sort-keys stream stream-errors tab unbuffered",
    "version",
);

/// The options of a command whose first operand is a pattern or a program.
struct Grammar {
    options: &'static OptionTable,
    /// Options that replace this operand: with them, each operand is a file.
    replacing: &'static [&'static str],
    /// Options with two values.
    pairs: &'static [&'static str],
    /// Options after which another command begins.
    starters: &'static [&'static str],
}

impl Grammar {
    fn for_command(name: &str) -> Option<Self> {
        let (options, replacing) = match name {
            "grep" | "egrep" | "fgrep" => (&GREP, words!("-e -f --regexp --file")),
            "git grep" => (&GIT_GREP, words!("-e -f --file")),
            "jq" => (&JQ, words!("-f --from-file")),
            "rg" => (
                commands::options_of(name)?,
                words!("-e -f --regexp --file --files --type-list --generate"),
            ),
            "sed" => (
                commands::options_of(name)?,
                words!("-e -f --expression --file"),
            ),
            "awk" | "gawk" | "mawk" | "nawk" => (
                commands::options_of(name)?,
                words!("-e -f -i -E --source --file --include --exec"),
            ),
            "fd" | "fdfind" => (commands::options_of(name)?, words!("")),
            _ => return None,
        };
        Some(Self {
            options,
            replacing,
            pairs: match name {
                "jq" => words!("--arg --argfile --argjson --rawfile --slurpfile"),
                _ => &[],
            },
            starters: match name {
                "fd" | "fdfind" => words!("-x -X --exec --exec-batch"),
                _ => &[],
            },
        })
    }

    /// Returns the number of arguments behind the option `text` that are its values. `None` for an
    /// option that replaces the pattern, and for one that is unknown or ambiguous.
    fn values_behind(&self, text: &str) -> Option<usize> {
        if let Some(long) = text.strip_prefix("--") {
            let (name, has_value) = match long.split_once('=') {
                Some((name, _)) => (name, true),
                None => (long, false),
            };
            let exact = self.options.find(&format!("--{name}"));
            let matched = self.options.long.iter().filter(|(long, _)| match exact {
                Some(_) => *long == name,
                None => long.starts_with(name),
            });
            let mut values = None;
            for (long, takes) in matched {
                let long = format!("--{long}");
                let count = match takes {
                    _ if self.replacing.contains(&long.as_str()) => return None,
                    OptionArity::Value if self.pairs.contains(&long.as_str()) => 2,
                    OptionArity::Value if !has_value => 1,
                    _ => 0,
                };
                if values.is_some_and(|values| values != count) {
                    return None;
                }
                values = Some(count);
            }
            return values;
        }
        for (at, letter) in text.char_indices().skip(1) {
            if self.replacing.contains(&format!("-{letter}").as_str()) {
                return None;
            }
            let is_last = at + letter.len_utf8() == text.len();
            match self.options.letter(letter)? {
                OptionArity::Value if is_last => return Some(1),
                OptionArity::Value | OptionArity::Attached => return Some(0),
                OptionArity::Nothing | OptionArity::Unknown => {}
            }
        }
        Some(0)
    }
}

/// Returns the index of the pattern or program in the arguments of `call`, if there is one and its
/// position is certain.
pub(crate) fn pattern(call: &Call<'_, '_, '_>) -> Option<usize> {
    find_pattern(call, Until::End)
}

/// Returns the index of the first operand, whatever follows it.
pub(crate) fn first_operand(call: &Call<'_, '_, '_>) -> Option<usize> {
    find_pattern(call, Until::Found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Found,
    End,
}

fn find_pattern(call: &Call<'_, '_, '_>, until: Until) -> Option<usize> {
    let (mut at, grammar) = match call.name {
        "git" if call.args.first().is_some_and(|arg| arg.is("grep")) => (1, "git grep"),
        name => (0, name),
    };
    let grammar = Grammar::for_command(grammar)?;
    let (mut found, mut is_ended) = (None, false);
    while let Some(arg) = call.args.get(at) {
        let text = arg.text.as_ref();
        if is_ended || !text.starts_with('-') || arg.is("-") {
            if !is_ended && !call.is_option_safe(arg) {
                return None;
            }
            found.get_or_insert(at);
            if until == Until::Found {
                break;
            }
        } else if arg.is("--") {
            is_ended = true;
        } else if grammar.starters.iter().any(|option| arg.is(option)) {
            break;
        } else {
            let values = grammar.values_behind(text)?;
            // The name of the option, or the place of its value, is not known.
            let mut behind = call.args[at + 1..].iter().take(values);
            if (!arg.is_static() && !text.contains('=')) || behind.any(|it| call.may_shift(it)) {
                return None;
            }
            at += values;
        }
        at += 1;
    }
    found
}

/// Returns whether grep reads everything below the directories in its arguments.
pub(crate) fn is_recursive_grep(call: &Call<'_, '_, '_>) -> bool {
    matches!(call.name, "egrep" | "fgrep" | "grep")
        && call.args.iter().any(|arg| {
            let text = arg.text.as_ref();
            match text.strip_prefix("--") {
                Some(long) => ["r", "dereference-r", "directories"]
                    .iter()
                    .any(|option| long.starts_with(option)),
                None => text.starts_with('-') && text.contains(['r', 'R', 'd']),
            }
        })
}

/// Returns the arguments of `find` that are directories to search.
pub(crate) fn find_starts(call: &Call<'_, '_, '_>) -> Range<usize> {
    let is_leading = |arg: &Arg<'_>| {
        matches!(arg.text.as_ref(), "-H" | "-L" | "-P") || arg.text.starts_with("-O")
    };
    let is_condition = |arg: &Arg<'_>| arg.text.starts_with(['-', '(', '!']);
    let start = call.args.iter().position(|arg| !is_leading(arg));
    let start = start.unwrap_or(0);
    let end = call.args[start..].iter().position(is_condition);
    start..end.map_or(call.args.len(), |end| start + end)
}

/// Returns the names of the commands that `find` or `fd` runs on its results.
pub(crate) fn started_commands<'c>(call: &'c Call<'_, '_, '_>) -> impl Iterator<Item = &'c str> {
    let is_exec = |arg: &Arg<'_>| {
        matches!(
            arg.text.as_ref(),
            "-exec" | "-execdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        )
    };
    let pairs = call.args.windows(2).filter(move |pair| is_exec(&pair[0]));
    pairs.map(|pair| pair[1].text.as_ref())
}
