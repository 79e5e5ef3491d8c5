//! The lines of git commands that print hashes, and of filters behind them.

/// The lines that a command prints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HashLines {
    /// Each line is a hash.
    Only,
    /// Each line begins with a hash.
    First,
}

/// Options of `git log` and `git rev-list` that only choose commits and their order, up to `=`.
const CHOOSING: &[&str] = words!(
    "--after --all --author --before --branches --date-order --decorate --first-parent --follow --grep",
    "--max-count --merges --no-merges --remotes --reverse --since --skip --tags --topo-order",
    "--until --abbrev-commit --no-decorate --no-color -i",
);

/// Placeholders of `--format` that print no newline.
const PLACEHOLDERS: &[&str] =
    words!("h H s f an ae ad as ar at aI ai al cn ce cd cs cr ct cI ci cl d D p P t T");

/// Returns the lines that a git command with static words prints.
pub(crate) fn printed_lines(words: &[&str]) -> Option<HashLines> {
    let (["git", "--no-pager", args @ ..] | ["git", args @ ..]) = words else {
        return None;
    };
    let (subcommand, args) = args.split_first()?;
    match *subcommand {
        "log" => log_lines(args),
        "rev-list" => chooses_commits(args).then_some(HashLines::Only),
        "merge-base" => {
            let is_plain = |arg: &&str| matches!(*arg, "--all" | "-a") || !arg.starts_with('-');
            (!args.is_empty() && args.iter().all(is_plain)).then_some(HashLines::Only)
        }
        "rev-parse" => is_one_revision(args).then_some(HashLines::Only),
        _ => None,
    }
}

/// Returns whether such a command prints one line at most.
pub(crate) fn prints_one_line(words: &[&str]) -> bool {
    let (["git", "--no-pager", args @ ..] | ["git", args @ ..]) = words else {
        return false;
    };
    match args {
        ["rev-parse", ..] => true,
        ["merge-base", args @ ..] => !args.contains(&"--all") && !args.contains(&"-a"),
        ["log" | "rev-list", args @ ..] => chooses_one(args),
        _ => false,
    }
}

/// Returns whether the only number of commits in the options is 1. The last number counts.
fn chooses_one(args: &[&str]) -> bool {
    let mut options = args.iter().take_while(|arg| **arg != "--");
    let mut numbers = 0;
    while let Some(arg) = options.next() {
        let number = match *arg {
            "-n" | "--max-count" => options.next().copied(),
            arg => arg
                .strip_prefix("--max-count=")
                .or_else(|| arg.strip_prefix("-n"))
                .or_else(|| arg.strip_prefix('-'))
                .filter(|it| it.starts_with(|c: char| c.is_ascii_digit())),
        };
        match number {
            Some("1") => numbers += 1,
            Some(_) => return false,
            None => {}
        }
    }
    numbers == 1
}

fn log_lines(args: &[&str]) -> Option<HashLines> {
    let mut lines = None;
    let mut others = Vec::with_capacity(args.len());
    for (at, arg) in args.iter().enumerate() {
        let format = arg.strip_prefix("--format=");
        let format = format.map(|format| format.strip_prefix("tformat:").unwrap_or(format));
        let format = format.or_else(|| arg.strip_prefix("--pretty=format:"));
        match (format, *arg) {
            (Some(format), _) => lines = Some(format_lines(format)?),
            (None, "--oneline") => lines = Some(HashLines::First),
            (None, "--") => {
                others.extend_from_slice(&args[at..]);
                break;
            }
            (None, other) => others.push(other),
        }
    }
    lines.filter(|_| chooses_commits(&others))
}

/// Returns the lines of a format that begins with a hash.
fn format_lines(format: &str) -> Option<HashLines> {
    if matches!(format, "%h" | "%H") {
        return Some(HashLines::Only);
    }
    if !format.starts_with("%h") && !format.starts_with("%H") || format.contains('\n') {
        return None;
    }
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let behind = &rest[at + 1..];
        let mut known = PLACEHOLDERS.iter().filter(|it| behind.starts_with(**it));
        known.next()?;
        rest = &behind[1..];
    }
    Some(HashLines::First)
}

fn chooses_commits(args: &[&str]) -> bool {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if *arg == "--" {
            return true;
        }
        let Some(letters) = arg.strip_prefix('-') else {
            continue;
        };
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let name = arg.split('=').next().unwrap_or(arg);
        let is_fine = match letters.chars().next() {
            // A value that follows: `-n 5`.
            Some('n') if letters == "n" => args.next().is_some_and(|count| is_number(count)),
            Some('n') => is_number(&letters[1..]),
            // A search for changes prints no changes.
            Some('S' | 'G') => letters.len() > 1,
            _ => is_number(letters) && !letters.is_empty() || CHOOSING.contains(&name),
        };
        if !is_fine {
            return false;
        }
    }
    true
}

/// Returns whether `git rev-parse` prints one hash, or nothing but an error.
fn is_one_revision(args: &[&str]) -> bool {
    let (options, revisions): (Vec<&str>, Vec<&str>) =
        args.iter().copied().partition(|arg| arg.starts_with('-'));
    let is_plain = |option: &&str| {
        let length = option.strip_prefix("--short=");
        matches!(*option, "--verify" | "--short" | "-q" | "--quiet")
            || length.is_some_and(|length| length.bytes().all(|byte| byte.is_ascii_digit()))
    };
    // Without these, an unknown revision is printed as it is written.
    let is_verified = options.iter().any(|option| !option.starts_with("-q"));
    let is_revision = |text: &str| !text.contains("..") && !text.starts_with(['^', ':']);
    match revisions[..] {
        [revision] => {
            let is_head = revision
                .strip_prefix("HEAD")
                .is_some_and(|rest| rest.bytes().all(|it| b"~^0123456789".contains(&it)));
            options.iter().all(is_plain) && (is_head || is_verified && is_revision(revision))
        }
        _ => false,
    }
}

/// Returns the lines that a filter passes on.
pub(super) fn filtered(lines: HashLines, words: &[&str]) -> Option<HashLines> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let is_count = |text: &str| {
        let count = text.strip_prefix('-').unwrap_or_default();
        is_number(count.strip_prefix('n').unwrap_or(count))
    };
    let is_plain_match = |option: &&str| {
        let letters = option.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.bytes().all(|letter| b"viEFwx".contains(&letter))
    };
    match *words {
        ["tac" | "sort" | "uniq" | "head" | "tail"] | ["sort", "-u" | "-r"] => Some(lines),
        ["head" | "tail", count] if is_count(count) => Some(lines),
        ["head" | "tail", "-n", count] if is_number(count) => Some(lines),
        ["grep", ref options @ .., pattern]
            if options.iter().all(is_plain_match) && !pattern.starts_with('-') =>
        {
            Some(lines)
        }
        ["awk", "{print $1}" | "{ print $1 }"]
        | ["cut", "-d ", "-f1"]
        | ["cut", "-d", " ", "-f1" | "-f"] => Some(HashLines::Only),
        ["cut", "-d", " ", "-f", "1"] => Some(HashLines::Only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Option<HashLines> {
        printed_lines(&text.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn lines_that_begin_with_a_hash_are_known() {
        for text in [
            "git log --oneline",
            "git --no-pager log --oneline -5 --no-merges main..HEAD",
            "git log --format=%h|%an|%s --since=1.week -- lib",
            "git log --all --oneline -Sname -- lib/",
        ] {
            assert!(lines(text) == Some(HashLines::First), "{text}");
        }
        for text in [
            "git log --format=%H -n 3",
            "git log --pretty=format:%h -- -p",
            "git rev-list --max-count=3 HEAD",
            "git merge-base HEAD main",
            "git rev-parse --short=8 origin/main",
            "git rev-parse HEAD~2",
        ] {
            assert!(lines(text) == Some(HashLines::Only), "{text}");
        }
    }

    #[test]
    fn one_line_is_printed_for_one_commit() {
        let one = |text: &str| prints_one_line(&text.split(' ').collect::<Vec<_>>());
        for text in [
            "git log --format=%h -1",
            "git log --format=%h -n 1 -- lib",
            "git --no-pager rev-list --max-count=1 HEAD",
            "git merge-base HEAD main",
            "git rev-parse HEAD",
        ] {
            assert!(one(text), "{text}");
        }
        for text in [
            "git log --format=%h -1 -2",
            "git log --format=%h -2 -n1",
            "git log --format=%h -n1 -n 5",
            "git log --format=%h rev-parse HEAD",
            "git log --format=%h -- -1",
            "git rev-list --max-count=1 -5 HEAD",
            "git rev-list HEAD",
            "git merge-base --all HEAD main",
        ] {
            assert!(!one(text), "{text}");
        }
    }

    #[test]
    fn other_lines_are_unknown() {
        for text in [
            "git log",
            "git log --oneline -p",
            "git log --oneline --graph",
            "git log --oneline --stat",
            "git log --oneline -L1,2:a",
            "git log --format=%s",
            "git log --pretty=format:tformat:%h",
            "git log --format=%h%n%b",
            "git log --format=%h%x0a-x",
            "git log --oneline --color=always",
            "git rev-list --objects HEAD",
            "git rev-parse main",
            "git rev-parse --short a..b",
            "git rev-parse --short --sq-quote HEAD",
            "git -c x=y log --oneline",
            "git log --oneline -n -p",
            "git show --format=%h",
        ] {
            assert!(lines(text).is_none(), "{text}");
        }
    }
}
