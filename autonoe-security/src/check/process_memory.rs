//! Paths below `/proc` that expose the environment or memory of processes.

use super::arg::Arg;
use super::call::{Call, Checked};
use super::file_use::FileUse;
use super::path_pattern::{self, ANY, BOUNDARIES, EXPANSION, STAR, may_match};
use super::search_args;
use crate::check::text::is_digits;
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

/// Files of a process that hold its credentials.
const FILES: [&str; 2] = ["environ", "mem"];

/// The target of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The environment or the memory of a process.
    Memory,
    /// `/proc`, or the directory of a process.
    Processes,
    /// `/`, with `/proc` below it.
    Root,
}

/// Checks that no argument of `call` names the memory of a process or a directory that leads to it.
pub(crate) fn check_arguments(call: &Call<'_, '_, '_>) -> Checked {
    for (at, arg) in call.args.iter().enumerate() {
        if is_unrelated_path(arg) {
            continue;
        }
        let is_read = match target_of(call, arg) {
            None => false,
            Some(Target::Memory) => true,
            Some(_) if is_pattern_of_grep(call, at) => false,
            Some(Target::Processes) => {
                let file_use = FileUse::from_command(call.name);
                matches!(file_use, FileUse::Reads | FileUse::Inspects)
            }
            Some(Target::Root) => reads_below_root(call),
        };
        if is_read {
            return Err(deny(&arg.text, arg.span));
        }
    }
    Ok(())
}

/// Rejects most arguments quickly: they have no directory, or are plain paths that neither name
/// `proc` nor go up, and are not the root.
fn is_unrelated_path(arg: &Arg<'_>) -> bool {
    let text = arg.text.as_ref();
    let has_directory = text.bytes().any(|byte| byte == b'/') || text == "..";
    let is_plain = || arg.globs.is_empty() && !text.contains("..") && !may_name_process(text);
    let is_root = || text.bytes().all(|byte| matches!(byte, b'/' | b'.'));
    arg.is_static() && (!has_directory || (is_plain() && !is_root()))
}

/// Returns whether text may contain `proc` or `environ`.
fn may_name_process(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair == b"ro")
}

/// Returns the possible target of an argument, relative to the command's directory.
fn target_of(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Option<Target> {
    let places = arg.known().filter(|text| text.starts_with(".."));
    let places = places.and_then(|text| call.directories.resolve(text));
    if places.is_some_and(|places| places.iter().any(|place| place == "/")) {
        Some(Target::Root)
    } else {
        target_of_path(&pattern_of(arg), Wildcards::InEveryComponent)
    }
}

/// Checks that a word does not name the memory of a process, however it is used.
pub(crate) fn check_word(parts: &[Part<'_>], span: Span) -> Checked {
    if is_mentioned_in(parts) {
        Err(deny("/proc", span))
    } else {
        Ok(())
    }
}

/// Checks that a file opened for reading is not the memory of a process.
pub(crate) fn check_input(file: &Arg<'_>) -> Checked {
    match target_of_path(&pattern_of(file), Wildcards::InEveryComponent) {
        Some(Target::Memory | Target::Processes) => Err(deny(&file.text, file.span)),
        Some(Target::Root) | None => Ok(()),
    }
}

/// Returns whether text, which may be a program in some language, names the memory of a process.
pub(crate) fn is_mentioned_in(parts: &[Part<'_>]) -> bool {
    // Most words are plain text that names no memory.
    let is_unrelated = |text: &str| {
        !may_name_process(text) || (!text.contains("proc") && !text.contains(FILES[0]))
    };
    if let [Part::Literal(text) | Part::Quoted(text)] = parts
        && is_unrelated(text)
    {
        return false;
    }
    let mut text = String::new();
    write_pattern(parts, &mut text);
    let names_memory = |path| {
        let target = target_of_path(path, Wildcards::BelowProc);
        target == Some(Target::Memory)
    };
    !is_unrelated(&text) && paths_in(&with_placeholders(&text)).any(names_memory)
}

pub(crate) fn deny(construct: &str, span: Span) -> Denial {
    let reason = format!("'{construct}' leads to the environment or the memory of processes");
    Denial::by(Rule::R24, span, reason)
        .instead("read single variables by name, such as \"$HOME\", and processes with ps")
}

/// Returns whether `call` reads the files below `/`.
fn reads_below_root(call: &Call<'_, '_, '_>) -> bool {
    match call.name {
        "find" | "fd" | "fdfind" => search_args::started_commands(call).next().is_some(),
        "rg" => true,
        _ => search_args::is_recursive_grep(call),
    }
}

/// Returns whether the argument `at` is the pattern of grep: the first of several operands.
fn is_pattern_of_grep(call: &Call<'_, '_, '_>, at: usize) -> bool {
    let mut behind = call.args[at + 1..].iter();
    call.name == "grep"
        && search_args::pattern(call) == Some(at)
        && behind.any(|arg| !arg.text.starts_with('-'))
}

/// Returns the text of an argument with control characters for its unknown parts.
fn pattern_of(arg: &Arg<'_>) -> String {
    if !arg.is_static() && !arg.parts.is_empty() {
        let mut pattern = String::new();
        write_pattern(&arg.parts, &mut pattern);
        return pattern;
    }
    path_pattern::from_arg(arg)
}

fn write_pattern(parts: &[Part<'_>], pattern: &mut String) {
    let mut in_set = false;
    for part in parts {
        match part {
            Part::Literal(text) | Part::Quoted(text) if in_set => {
                if let Some((_, rest)) = text.split_once(']') {
                    in_set = false;
                    pattern.push_str(rest);
                }
            }
            Part::Literal(text) | Part::Quoted(text) => pattern.push_str(text),
            Part::DoubleQuoted(inner) => write_pattern(inner, pattern),
            Part::Glob('*') => pattern.push(STAR),
            Part::Glob(glob) => {
                in_set |= *glob == '[';
                pattern.push(ANY);
            }
            Part::Tilde(_) => pattern.push('~'),
            _ => pattern.push(EXPANSION),
        }
    }
}

/// Replaces placeholders of programs, formats and `xargs`, such as `{pid}`, `%s` and `$x`.
fn with_placeholders(text: &str) -> String {
    let components = text.split('/').map(|component| {
        let (open, close) = (component.find('{'), component.rfind('}'));
        if let (Some(open), Some(close)) = (open, close)
            && open < close
        {
            let before = component[..open].trim_end_matches('$');
            return format!("{before}{EXPANSION}{}", &component[close + 1..]);
        }
        if component.contains(['$', '%']) && !component.contains(BOUNDARIES) {
            EXPANSION.to_string()
        } else {
            component.replace('*', "\u{1}").replace('?', "\u{2}")
        }
    });
    components.collect::<Vec<_>>().join("/")
}

fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(BOUNDARIES).filter(|path| path.contains('/'))
}

/// The components of a path that wildcards may match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wildcards {
    /// `/p*/self/environ` leads to `/proc`. For words that the shell expands.
    InEveryComponent,
    /// `/proc` must be literal. For the text of programs and regular expressions.
    BelowProc,
}

/// Returns the possible target of a path.
fn target_of_path(path: &str, wildcards: Wildcards) -> Option<Target> {
    let (components, base) = normalize(path);
    let Some((first, below)) = components.split_first() else {
        let is_root = base == Base::Root && path.starts_with('/');
        return is_root.then_some(Target::Root);
    };
    if base == Base::Expansion {
        let is_environment = below.last() == Some(&FILES[0]);
        return is_environment.then_some(Target::Memory);
    }
    let is_written_out = *first == "proc";
    let may_be_proc = wildcards == Wildcards::InEveryComponent
        && path.starts_with('/')
        && may_match(first, "proc");
    match base {
        Base::Root if is_written_out || may_be_proc => in_proc(below),
        _ => None,
    }
}

/// Returns the possible target of the components below `/proc`.
fn in_proc(below: &[&str]) -> Option<Target> {
    let Some((process, inside)) = below.split_first() else {
        return Some(Target::Processes);
    };
    let is_process = is_digits(process)
        || process.contains([STAR, ANY, EXPANSION])
        || matches!(*process, "self" | "thread-self");
    if !is_process {
        return None;
    }
    let is_file = |component: &&str| FILES.iter().any(|file| may_match(component, file));
    match inside {
        inside if inside.iter().any(is_file) => Some(Target::Memory),
        [] | ["task" | "root"] | ["task", _] => Some(Target::Processes),
        ["root", rest @ ..] | ["task", _, "root", rest @ ..] => match rest {
            [first, below @ ..] if may_match(first, "proc") => in_proc(below),
            _ => None,
        },
        _ => None,
    }
}

/// The start of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// `/`, or a directory above the current one.
    Root,
    /// An unknown value.
    Expansion,
    /// The current directory.
    Here,
}

/// Returns the components of a path without `.` and `..`, and its start.
fn normalize(path: &str) -> (Vec<&str>, Base) {
    let mut base = if path.starts_with('/') {
        Base::Root
    } else if path.starts_with(EXPANSION) {
        Base::Expansion
    } else {
        Base::Here
    };
    let mut components = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                if components.pop().is_none() {
                    base = Base::Root;
                }
            }
            name => components.push(name),
        }
    }
    (components, base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_classified_by_their_components() {
        use Target::{Memory, Processes, Root};
        for (path, expected) in [
            ("/proc/self/environ", Some(Memory)),
            ("/proc/12/task/13/environ", Some(Memory)),
            ("//proc/./1/../1/environ", Some(Memory)),
            ("../../proc/self/environ", Some(Memory)),
            ("/proc/\u{1}/environ", Some(Memory)),
            ("/proc/self/e\u{2}v\u{1}", Some(Memory)),
            ("/proc/self/\u{3}", Some(Memory)),
            ("/proc/\u{3}/mem", Some(Memory)),
            ("/p\u{1}c/self/environ", Some(Memory)),
            ("/proc/1/root/proc/1/environ", Some(Memory)),
            ("\u{3}/environ", Some(Memory)),
            ("/proc", Some(Processes)),
            ("/proc/\u{3}", Some(Processes)),
            ("/proc/self/task", Some(Processes)),
            ("/proc/1/root/proc", Some(Processes)),
            ("/", Some(Root)),
            ("/..", Some(Root)),
            ("/proc/cpuinfo", None),
            ("/proc/sys/kernel/pid_max", None),
            ("/proc/\u{1}/status", None),
            ("/proc/self/fd", None),
            ("/procfs/self/environ", None),
            ("src/proc/self/environ", None),
            ("\u{3}/environment", None),
            ("..", None),
            ("", None),
        ] {
            let target = target_of_path(path, Wildcards::InEveryComponent);
            assert_eq!(target, expected, "{path:?}");
        }
    }

    #[test]
    fn the_text_of_a_program_is_searched_for_whole_paths() {
        for (text, is_mentioned) in [
            ("open('/proc/self/environ')", true),
            ("open(f'/proc/{pid}/environ').read()", true),
            ("`/proc/${process.pid}/environ`", true),
            ("printf '/proc/%s/environ' self", true),
            ("url=file:///proc/self/environ", true),
            ("s/proc/environ/", false),
            ("/^.*$/d", false),
            ("/* a comment */", false),
            ("os.environ['HOME']", false),
            ("GET /proc/items/environ", false),
        ] {
            let parts = [Part::Quoted(text.into())];
            assert_eq!(is_mentioned_in(&parts), is_mentioned, "{text}");
        }
    }
}
