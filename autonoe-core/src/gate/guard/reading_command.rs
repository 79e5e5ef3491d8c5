//! Detection of shell commands that change no file.

use autonoe_security::syntax::{ArgWord, Part, Script, SimpleCommand, commands, parse};
use autonoe_security::{
    InnerCommands, is_reading_awk_program, is_reading_program, is_reading_sed_script,
};

/// Builtins and programs that only read, besides those of [`is_reading_program`]. `jq` has options
/// that the Bash policy denies, but none of them writes.
pub(super) const READERS: [&str; 6] = [":", "break", "continue", "exit", "jq", "return"];

/// Subcommands of git that change no file of the work tree, with any option.
const GIT_WRITERS_OF_HISTORY: [&str; 2] = ["add", "commit"];

/// Subcommands of git that only read, unless an option names an output or a program.
const GIT_READERS: [&str; 18] = [
    "blame",
    "cat-file",
    "check-ignore",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
    "whatchanged",
];

/// Subcommands of git whose `-m` is a message.
const GIT_WITH_MESSAGES: [&str; 4] = ["merge", "notes", "stash", "tag"];

/// Actions of `find` that delete or write.
const FIND_WRITERS: [&str; 5] = ["-delete", "-fls", "-fprint", "-fprint0", "-fprintf"];

/// Directories whose programs are recognised by name.
const SYSTEM_DIRECTORIES: [&str; 3] = ["/bin/", "/usr/bin/", "/usr/local/bin/"];

/// Maximum nesting depth of commands that start other commands.
const MAX_DEPTH: usize = 8;

/// Returns whether the command with these words, the name first, changes no file.
///
/// A command that starts others is read-only if all of them are.
pub(super) fn only_reads(words: &[&ArgWord<'_>]) -> bool {
    only_reads_within(words, Arguments::Written, MAX_DEPTH)
}

/// Whether a command receives arguments beyond its words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arguments {
    /// The words are all arguments.
    Written,
    /// `xargs`, `find -exec .. +` or `fd -x` adds arguments, which may be options.
    Added,
}

fn only_reads_within(words: &[&ArgWord<'_>], origin: Arguments, depth: usize) -> bool {
    let texts = static_texts(words);
    let Some((Some(written), arguments)) = texts.split_first() else {
        return false;
    };
    let own = SYSTEM_DIRECTORIES
        .iter()
        .find_map(|directory| written.strip_prefix(directory));
    let name = own.unwrap_or(written);
    let inner = InnerCommands::read(&texts);
    let adds = match name {
        "xargs" | "fd" | "fdfind" => true,
        "find" => arguments.iter().flatten().any(|word| word == "+"),
        _ => origin == Arguments::Added,
    };
    let inner_origin = if adds {
        Arguments::Added
    } else {
        Arguments::Written
    };
    if !inner.is_empty() && !started_only_read(&inner, words, &texts, inner_origin, depth) {
        return false;
    }
    let is_fixed = words.iter().all(|word| is_fixed(word));
    let options = || {
        let literals = arguments.iter().flatten();
        literals.filter(|word| word.starts_with('-') && word.len() > 1)
    };
    match name {
        // The builtin can set a variable; it is judged below.
        name if name != "printf" && is_reading_program(name) => true,
        _ if READERS.contains(&name) => true,
        // These commands start others, which are checked above.
        "env" | "nice" | "nohup" | "timeout" | "xargs" | "command" => true,
        "time" => !options().any(|option| option.contains('o')),
        _ if origin == Arguments::Added => false,
        "bash" | "sh" => !inner.scripts.is_empty(),
        // On BSD, `-o` names an output file.
        "base64" => is_fixed && !options().any(|option| option.contains('o')),
        "type" => true,
        "printf" => arguments
            .first()
            .is_none_or(|first| first.as_deref().is_some_and(|it| !it.starts_with("-v"))),
        // Covers `-o`, `--output` and `--compress-program`, including abbreviations.
        "sort" => is_fixed && !options().any(|option| option.contains('o')),
        // The second operand is an output file.
        "uniq" => is_fixed && reads_one_operand(arguments),
        "xxd" => is_fixed && xxd_only_prints(arguments),
        // `-C` and `--compile` write a compiled file of rules, named by `-m`.
        "file" => {
            let is_writer = |option: &str| match option.strip_prefix("--") {
                Some(long) => {
                    let is_mime = long.starts_with("mi");
                    long.starts_with('c') || (long.starts_with('m') && !is_mime)
                }
                None => option.contains(['C', 'm']),
            };
            is_fixed && !options().any(|option| is_writer(option))
        }
        "bc" => is_fixed,
        // `-o` names an output file.
        "iconv" => {
            let is_encoding = |option: &str| option.starts_with("--f") || option.starts_with("--t");
            is_fixed && !options().any(|option| option.contains('o') && !is_encoding(option))
        }
        // `-o FILE` writes a file, and `-R` writes pages.
        "tree" => {
            let is_long = |option: &str| option.starts_with("--");
            is_fixed && !options().any(|it| !is_long(it) && it.contains(['o', 'R']))
        }
        "rg" => is_fixed && !options().any(|it| it.starts_with("--pre") || it.starts_with("--ho")),
        "fd" | "fdfind" => is_fixed,
        "find" => is_fixed && !options().any(|option| FIND_WRITERS.contains(&option.as_str())),
        "sed" => is_fixed && sed_only_prints(arguments),
        "awk" | "gawk" | "mawk" => is_fixed && awk_only_prints(arguments),
        "python" | "python3" => {
            let literals: Vec<_> = arguments.iter().map(Option::as_deref).collect();
            literals == [Some("-m"), Some("json.tool")]
        }
        "git" => git_only_reads(words, &texts),
        _ => false,
    }
}

/// Returns the texts of `words`; `None` for a word that the shell expands.
pub(super) fn static_texts(words: &[&ArgWord<'_>]) -> Vec<Option<String>> {
    let texts = words.iter().map(|word| word.static_text());
    texts.map(|text| text.map(Into::into)).collect()
}

/// Parses the words of `range` as a script, for `bash -c` and similar commands.
pub(super) fn parse_script(
    texts: &[Option<String>],
    range: std::ops::Range<usize>,
) -> Option<Script<'static>> {
    let texts: Option<Vec<&str>> = texts[range].iter().map(Option::as_deref).collect();
    let text = texts?.join(" ");
    parse(&text).ok().map(Script::into_owned)
}

fn started_only_read(
    inner: &InnerCommands,
    words: &[&ArgWord<'_>],
    texts: &[Option<String>],
    origin: Arguments,
    depth: usize,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let mut commands_of_words = inner.commands.iter();
    let mut scripts = inner.scripts.iter();
    !inner.is_uncertain
        && commands_of_words.all(|range| only_reads_within(&words[range.clone()], origin, depth))
        && scripts.all(|range| {
            parse_script(texts, range.clone())
                .is_some_and(|script| commands(&script).all(|command| is_reader(command, depth)))
        })
}

fn is_reader(command: &SimpleCommand<'_>, depth: usize) -> bool {
    let words: Vec<_> = command.words.iter().collect();
    command.assignments.is_empty() && only_reads_within(&words, Arguments::Written, depth)
}

/// Returns whether the word stays a single argument with the same first character, whatever its
/// expansions yield. Such a word cannot become an option or several words.
fn is_fixed(word: &ArgWord<'_>) -> bool {
    let ArgWord::Word(word) = word else {
        return false;
    };
    let in_order = word.parts.iter().all(|part| {
        matches!(
            part,
            Part::Literal(_) | Part::Quoted(_) | Part::DoubleQuoted(_) | Part::Glob(_)
        )
    });
    let first = match word.parts.first() {
        Some(Part::DoubleQuoted(inner)) => inner.first(),
        first => first,
    };
    let begins_with_text = match first {
        Some(Part::Literal(text) | Part::Quoted(text)) => !text.is_empty(),
        _ => false,
    };
    word.static_text().is_some() || (in_order && begins_with_text && !begins_with_dash(first))
}

fn begins_with_dash(first: Option<&Part<'_>>) -> bool {
    matches!(first, Some(Part::Literal(text) | Part::Quoted(text)) if text.starts_with('-'))
}

fn reads_one_operand(arguments: &[Option<String>]) -> bool {
    let is_option = |word: &str| word.starts_with('-') && word != "-";
    let known: Option<Vec<&str>> = arguments.iter().map(Option::as_deref).collect();
    known.is_some_and(|words| {
        !words.contains(&"--") && words.iter().filter(|word| !is_option(word)).count() <= 1
    })
}

/// Returns whether `xxd` with these arguments has no second operand, which would be an output.
///
/// Options with a value are written by themselves, and their value is the next argument.
fn xxd_only_prints(arguments: &[Option<String>]) -> bool {
    let known: Option<Vec<&str>> = arguments.iter().map(Option::as_deref).collect();
    let mut words = known.unwrap_or_else(|| vec!["-"; 2]).into_iter();
    let mut operands = 0;
    while let Some(word) = words.next() {
        match word {
            "-c" | "-g" | "-l" | "-o" | "-s" | "-len" | "-seek" | "-cols" => {
                words.next();
            }
            "-a" | "-b" | "-E" | "-e" | "-i" | "-p" | "-ps" | "-plain" | "-u" => {}
            word if word.starts_with('-') && word.len() > 1 => return false,
            _ => operands += 1,
        }
    }
    operands <= 1
}

/// Returns whether `sed` with these arguments only prints, without writing files or running
/// commands.
fn sed_only_prints(arguments: &[Option<String>]) -> bool {
    let known: Option<Vec<&str>> = arguments.iter().map(Option::as_deref).collect();
    let mut words = known.unwrap_or_default().into_iter();
    let (mut scripts, mut operands) = (Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        match word {
            "-n" | "-E" | "-r" | "-s" | "-nE" | "-En" | "-nr" => {}
            // Implementations disagree about a script behind a file, and about a line that
            // continues in the next script.
            "-e" | "-ne" | "--expression" => match words.next() {
                Some(script) if operands.is_empty() && !script.ends_with('\\') => {
                    scripts.push(script);
                }
                _ => return false,
            },
            word if word.starts_with('-') => return false,
            word => operands.push(word),
        }
    }
    if scripts.is_empty() {
        scripts.extend(operands.first());
    }
    // sed joins the scripts with newlines.
    !scripts.is_empty() && is_reading_sed_script(&scripts.join("\n"))
}

/// Returns whether `awk` with these arguments only prints, without writing files or running
/// commands.
fn awk_only_prints(arguments: &[Option<String>]) -> bool {
    let mut words = arguments.iter().map(Option::as_deref);
    while let Some(Some(word)) = words.next() {
        match word {
            "-F" | "-v" => {
                words.next();
            }
            _ if word.starts_with("-F") => {}
            _ if word.starts_with('-') => return false,
            program => {
                let is_file = |word: Option<&str>| word.is_some_and(|it| !it.starts_with('-'));
                return is_reading_awk_program(program) && words.all(is_file);
            }
        }
    }
    false
}

/// Returns whether git with these words changes no file of the work tree.
fn git_only_reads(words: &[&ArgWord<'_>], texts: &[Option<String>]) -> bool {
    let Some(at) = git_subcommand(texts) else {
        return false;
    };
    let Some(name) = texts[at].as_deref() else {
        return false;
    };
    if GIT_WRITERS_OF_HISTORY.contains(&name) {
        return true;
    }
    let paths = texts.iter().position(|it| it.as_deref() == Some("--"));
    let before_paths = &words[at..paths.unwrap_or(words.len()).max(at)];
    let names_output = |option: &str| {
        option == "--o"
            || ["--ou", "--op", "--ext", "--textconv"]
                .iter()
                .any(|it| option.starts_with(it))
            || (name == "grep" && option.starts_with("-O"))
    };
    GIT_READERS.contains(&name)
        && before_paths.iter().all(|word| is_fixed(word))
        && !texts[at..].iter().flatten().any(|it| names_output(it))
}

/// Returns the index of the git subcommand; `None` after options that can run programs.
fn git_subcommand(texts: &[Option<String>]) -> Option<usize> {
    let mut at = 1;
    loop {
        match texts.get(at)?.as_deref()? {
            "--no-pager" | "-P" | "--no-optional-locks" => at += 1,
            "-C" => at += 2,
            option if option.starts_with('-') => return None,
            _ => return Some(at),
        }
    }
}

/// Returns the words of a command that can name files. Words that exclude files by name and git
/// messages are omitted.
pub(super) fn naming_words<'w, 'a>(words: &[&'w ArgWord<'a>]) -> Vec<&'w ArgWord<'a>> {
    let texts = static_texts(words);
    let name = texts.first().and_then(Option::as_deref);
    let subcommand = git_subcommand(&texts).and_then(|at| texts[at].as_deref());
    let has_messages = name == Some("git")
        && subcommand.is_some_and(|subcommand| GIT_WITH_MESSAGES.contains(&subcommand));
    let is_excluded = |at: usize| {
        let text = texts[at].as_deref().unwrap_or_default();
        let excludes = text.contains('=')
            && ["--exclude", "--ignore"]
                .iter()
                .any(|it| text.starts_with(it));
        let excludes_path = name == Some("git")
            && [":!", ":^", ":(exclude)"]
                .iter()
                .any(|it| text.starts_with(it));
        let before = at
            .checked_sub(1)
            .and_then(|before| texts[before].as_deref());
        let is_message =
            matches!(before, Some("-m" | "--message" | "-am")) || text.starts_with("--message=");
        excludes || excludes_path || (has_messages && is_message)
    };
    let naming = words.iter().enumerate().filter(|(at, _)| !is_excluded(*at));
    naming.map(|(_, word)| *word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(command: &str) -> bool {
        let script = parse(command).expect("it parses");
        let command = commands(&script).next().expect("a command");
        only_reads(&command.words.iter().collect::<Vec<_>>())
    }

    #[test]
    fn read_only_commands_are_recognised() {
        for command in [
            "cat x",
            "/bin/cat x",
            "grep \"$pattern\" x",
            "printf '%s' \"$x\"",
            "sort -u x",
            "uniq -c x",
            "tree -a -I 'x|y'",
            "rg x",
            "find . -name \"*.$e\" -not -path './x/*'",
            "find . -exec grep -l x {} +",
            "xargs -0 wc -l",
            "env A=1 cat x",
            "timeout 5 cat x",
            "bash -c 'cat x | head'",
            "sed -n '1,20p' x",
            "sed -n '/passed/p' x",
            "sed 's/a/b/' x",
            "sed -n -e 1p x",
            "sed -ne '1p' -e '$p' x",
            "file x",
            "file --mime-type x",
            "xxd -l 16 x",
            "xxd -p",
            "expr 1 + 2",
            "iconv -f latin1 -t utf-8 x",
            "awk '{print $1}' x",
            "awk -F, -v n=1 '$1 == n' x",
            "hexdump -C x",
            "python3 -m json.tool",
            "git log --oneline -- x",
            "git --no-pager -C . show HEAD:x",
            "git commit -m \"$(cat x)\"",
            "git add x",
            "git log -- \"$x\"",
            "git diff \"src/$x\"",
        ] {
            assert!(reads(command), "{command}");
        }
    }

    #[test]
    fn other_commands_are_not_read_only() {
        for command in [
            "rm x",
            "./cat x",
            "c?t x",
            "$cat x",
            "\"\" x",
            "printf -v x y",
            "printf \"$x\" y",
            "sort -o x y",
            "sort y -uo x",
            "sort --ou=x y",
            "sort $x",
            "uniq a b",
            "uniq - b",
            "uniq -- -a b",
            "uniq *",
            "tree -o x",
            "tree -aR",
            "rg --pre cmd x",
            "fd -x rm",
            "find . -delete",
            "find . $x",
            "find . \"$x\"",
            "find . -exec rm {} +",
            "find . -fprint x",
            "xargs rm",
            "env A=1 rm x",
            "env -S 'rm x'",
            "sudo cat x",
            "bash x.sh",
            "bash -c 'cat x; rm y'",
            "bash -c 'PATH=. cat x'",
            "bash -c \"$x\"",
            "sed -i s/a/b/ x",
            "sed 'w x' y",
            "sed -n -e 'w x' y",
            "sed -e p -e 'w x' y",
            "sed p -e p y",
            "sed -e 'a\\' -e 'w x' y",
            "iconv --o=code x",
            "sed -e",
            "sed -i -e p x",
            "file -C -m x",
            "file --comp x",
            "xxd x y",
            "xxd -r x y",
            "iconv -o x y",
            "iconv --output=x y",
            "awk '{print > \"x\"}' y",
            "awk '{system($0)}' y",
            "awk -f x y",
            "awk \"$x\" y",
            "sed -n '1e rm' x",
            "python3 -m json.tool a b",
            "python3 -c x",
            "git checkout x",
            "git diff --output=x",
            "git diff --ext-diff",
            "git grep -Ovi x",
            "git -c a=b log",
            "git diff \"$x\"",
            "git $x",
            "git",
        ] {
            assert!(!reads(command), "{command}");
        }
    }

    #[test]
    fn wrappers_are_followed_up_to_a_depth() {
        assert!(reads(&format!("{}cat x", "nohup ".repeat(7))));
        assert!(!reads(&format!("{}cat x", "nohup ".repeat(20_000))));
    }

    #[test]
    fn excluded_names_and_messages_name_no_files() {
        for (command, named) in [
            ("rsync --exclude=x a b", "rsync a b"),
            ("tar --exclude x", "tar --exclude x"),
            ("git add . ':!x' ':(exclude)y'", "git add ."),
            ("git tag v1 -m 'about x'", "git tag v1 -m"),
            ("git stash push --message='about x'", "git stash push"),
            ("git checkout -m x", "git checkout -m x"),
        ] {
            let script = parse(command).expect("it parses");
            let simple = commands(&script).next().expect("a command");
            let words = naming_words(&simple.words.iter().collect::<Vec<_>>());
            let texts: Option<Vec<_>> = words.iter().map(|word| word.static_text()).collect();
            assert_eq!(texts.expect("static").join(" "), named, "{command}");
        }
    }
}
