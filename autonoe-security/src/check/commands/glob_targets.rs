//! Matching of file name patterns against one name.

/// Placeholder for unknown text.
const UNKNOWN: char = '\u{fffd}';

/// Returns whether a component of a path is `name`, or is a pattern that targets it.
///
/// A pattern that matches everything does not target one name. Git matches `*` with slashes as
/// well, so it is enough that a pattern has a prefix of the name.
pub(super) fn targets_name(component: &str, name: &str) -> bool {
    let is_wild = |c: char| matches!(c, '*' | '?' | '[' | UNKNOWN);
    let Some(at) = component.find(is_wild) else {
        return component.eq_ignore_ascii_case(name);
    };
    let start = &component[..at];
    let begins_so = name
        .get(..start.len())
        .is_some_and(|beginning| beginning.eq_ignore_ascii_case(start));
    if !start.is_empty() {
        return begins_so;
    }
    let is_general = component.chars().all(|c| matches!(c, '*' | '?' | UNKNOWN));
    let lower = component.to_ascii_lowercase();
    !is_general
        && matches(
            &Vec::from_iter(lower.chars()),
            &Vec::from_iter(name.chars()),
        )
}

/// Folders that no tool may change.
const PROTECTED: [&str; 3] = [".git", ".autonoe", ".harness"];

/// Returns whether a path or a pattern of a tool targets a protected folder, also with braces
/// (`{.git,src}/**`) and groups (`@(.git|src)`).
pub(super) fn reaches_protected(pattern: &str) -> bool {
    // A pattern that excludes files.
    if pattern.starts_with('!') && !pattern.starts_with("!(") {
        return false;
    }
    let is_protected = |component: &str| PROTECTED.iter().any(|name| targets_name(component, name));
    pattern.split(['/', '\\']).any(|component| {
        if !component.contains(['{', '(', ',', '|']) {
            return is_protected(component.trim_end_matches(['}', ')']));
        }
        // The text before the group continues with each alternative.
        let opening = component.find(['{', '(']);
        let start = opening.map_or("", |at| &component[..at]);
        let is_group = opening.is_some_and(|at| component[at..].starts_with('('));
        let start = if is_group {
            start.trim_end_matches(['?', '*', '+', '@', '!'])
        } else {
            start
        };
        let alternatives = component[opening.map_or(0, |at| at + 1)..].split(['{', '(', ',', '|']);
        alternatives.into_iter().any(|alternative| {
            let (alternative, end) = match alternative.split_once(['}', ')']) {
                Some((alternative, "")) => (alternative, ""),
                Some((alternative, _)) => (alternative, "*"),
                None if component.ends_with(['}', ')']) || opening.is_none() => (alternative, ""),
                None => (alternative, "*"),
            };
            is_protected(&format!("{start}{alternative}{end}")) || is_protected(alternative)
        })
    })
}

/// Returns whether a pattern of find matches `name` and does not match every file.
pub(super) fn selects_name(pattern: &str, name: &str) -> bool {
    let is_general = pattern.chars().all(|c| matches!(c, '*' | '?' | '.'));
    let lower = pattern.to_ascii_lowercase();
    !is_general
        && matches(
            &Vec::from_iter(lower.chars()),
            &Vec::from_iter(name.chars()),
        )
}

/// Returns whether a pattern of git matches the whole `path`; `*` matches slashes as well.
pub(super) fn matches_path(pattern: &str, path: &str) -> bool {
    let lower = pattern.trim_start_matches("./").to_ascii_lowercase();
    matches(
        &Vec::from_iter(lower.chars()),
        &Vec::from_iter(path.chars()),
    )
}

/// Returns whether `pattern` matches the whole `name`.
fn matches(pattern: &[char], name: &[char]) -> bool {
    // The prefixes of the name that the pattern matches so far.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    let mut at = 0;
    while let Some(first) = pattern.get(at) {
        let (test, after): (Box<dyn Fn(char) -> bool + '_>, usize) = match first {
            '*' | &UNKNOWN => {
                let start = reached.iter().position(|it| *it).unwrap_or(reached.len());
                reached.iter_mut().skip(start).for_each(|it| *it = true);
                at += 1;
                continue;
            }
            '?' => (Box::new(|_| true), at + 1),
            '[' => match closing(pattern, at) {
                Some(end) => {
                    let set = &pattern[at + 1..end];
                    (Box::new(move |c| is_in(set, c)), end + 1)
                }
                None => (Box::new(|c| c == '['), at + 1),
            },
            other => (Box::new(move |c| c == *other), at + 1),
        };
        for place in (0..name.len()).rev() {
            reached[place + 1] = reached[place] && test(name[place]);
        }
        reached[0] = false;
        at = after;
    }
    reached.last().copied().unwrap_or(false)
}

/// Returns the position of the bracket that closes the one at `at`; the first character may be a
/// bracket.
fn closing(pattern: &[char], at: usize) -> Option<usize> {
    let first = match pattern.get(at + 1) {
        Some('!' | '^') => at + 3,
        _ => at + 2,
    };
    (first..pattern.len()).find(|end| pattern[*end] == ']')
}

fn is_in(set: &[char], c: char) -> bool {
    let (is_negated, set) = match set {
        ['!' | '^', rest @ ..] => (true, rest),
        set => (false, set),
    };
    let mut is_there = set.contains(&c);
    for range in set.windows(3) {
        if let [first, '-', last] = range {
            is_there |= (*first..=*last).contains(&c);
        }
    }
    // `[[:punct:]]` and similar classes may contain anything.
    is_there != is_negated || set.contains(&':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_tools_that_reach_protected_folders_are_found() {
        for pattern in [
            ".git",
            "./.git/hooks",
            ".*/**",
            ".auto*/**",
            "[.]git/x",
            ".?it/**",
            "{.git,src}/**",
            ".{git,github}/**",
            "{,.}git/**",
            "@(.autonoe|src)/**",
            "?(.)harness/**",
            "src/../.GIT/x",
        ] {
            assert!(reaches_protected(pattern), "{pattern}");
        }
        for pattern in [
            ".",
            "src/**/*.{ts,tsx}",
            "**/*.md",
            ".github/**",
            ".eslintrc.json",
            "{src,test}/**",
            "!.git/**",
            "a,b",
            "@scope/name",
        ] {
            assert!(!reaches_protected(pattern), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_begin_like_the_name_or_match_it_aim_at_it() {
        for pattern in [
            ".autonoe",
            ".AUTONOE",
            ".auto*",
            ".a*s.json",
            ".*",
            "[.]autonoe",
            "?autonoe",
            "*noe",
            "[!a]autono[a-f]",
            ".auto\u{fffd}",
        ] {
            assert!(targets_name(pattern, ".autonoe"), "{pattern}");
        }
    }

    #[test]
    fn other_names_and_patterns_for_everything_do_not() {
        for pattern in [
            "*",
            "**",
            "*.json",
            "?*",
            "autonoe",
            ".autonoe-note.md",
            ".github",
            ".env*",
            "[a-z]*",
            "src",
            "",
            "\u{fffd}",
            "x.auto*",
        ] {
            assert!(!targets_name(pattern, ".autonoe"), "{pattern}");
        }
    }

    #[test]
    fn find_looks_for_names_that_match_but_not_by_a_pattern_for_every_file() {
        for pattern in [".git", ".GIT", ".gi[t]", ".g*", "*git", "*.git", "[.]git"] {
            assert!(selects_name(pattern, ".git"), "{pattern}");
        }
        for pattern in ["*", "*.*", ".*", ".gitignore", "*.ts", ".g*e", "src"] {
            assert!(!selects_name(pattern, ".git"), "{pattern}");
        }
    }
}
