//! Shell commands of plain words.

/// One pipeline of a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// As it is written.
    pub(super) text: &'a str,
    pub(super) pipeline: Vec<PlainCommand>,
}

/// A command whose words every shell reads in the same way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PlainCommand {
    /// Its words without their quotes.
    pub(super) words: Vec<String>,
    /// The files that its output goes to, apart from `/dev/null`.
    pub(super) targets: Vec<String>,
}

/// Returns the pipelines of `command`, or `None` when it has anything but plain words, quotes
/// without expansions, redirected output and `&&`, `||`, `;`, `|` and line ends between them.
pub(super) fn items(command: &str) -> Option<Vec<Item<'_>>> {
    let mut items = Vec::new();
    let mut rest = command;
    loop {
        let (pipeline, behind) = pipeline(rest)?;
        if !pipeline.is_empty() {
            let text = &rest[..rest.len() - behind.len()];
            items.push(Item { text, pipeline });
        }
        rest = match ["&&", "||", ";", "\n"]
            .iter()
            .find_map(|separator| behind.strip_prefix(separator))
        {
            Some(rest) => rest,
            None => return behind.is_empty().then_some(items),
        };
    }
}

/// Reads a pipeline and returns it with what follows.
fn pipeline(text: &str) -> Option<(Vec<PlainCommand>, &str)> {
    let mut pipeline = vec![PlainCommand::default()];
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let now = pipeline.last_mut()?;
        if let Some(behind) = redirection(rest) {
            let (target, behind) = word(behind.trim_start_matches([' ', '\t']))?;
            if target != "/dev/null" {
                now.targets.push(target);
            }
            rest = behind;
        } else if let Some(behind) = duplication(rest) {
            rest = behind;
        } else if let Some((word, behind)) = word(rest) {
            now.words.push(word);
            rest = behind;
        } else if rest.starts_with('|') && !rest.starts_with("||") {
            pipeline.push(PlainCommand::default());
            rest = &rest[1..];
        } else {
            break;
        }
    }
    let is_empty = |command: &PlainCommand| command.words.is_empty() && command.targets.is_empty();
    match pipeline.as_slice() {
        [only] if is_empty(only) => Some((Vec::new(), rest)),
        // A pipe at the end of a line goes on in the next one.
        members if members.iter().any(is_empty) => None,
        _ => Some((pipeline, rest)),
    }
}

/// Returns what stands behind `>`, `>>`, `2>` and so on.
fn redirection(text: &str) -> Option<&str> {
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = behind.strip_prefix('>')?;
    let behind = behind.strip_prefix('>').unwrap_or(behind);
    (!behind.starts_with(['&', '|', '>', '('])).then_some(behind)
}

/// Returns what stands behind `2>&1` and its like.
fn duplication(text: &str) -> Option<&str> {
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = behind.strip_prefix(">&")?;
    let rest = behind.strip_prefix(['1', '2'])?;
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '|', '&']);
    ends.then_some(rest)
}

/// Reads a word and returns it, without its quotes, with what follows.
fn word(text: &str) -> Option<(String, &str)> {
    let plain = |c: char| c.is_alphanumeric() || "_-./*?[]=:,+@%^~".contains(c);
    let mut word = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match c {
            '\'' | '"' => {
                let (quoted, behind) = rest[1..].split_once(c)?;
                let expands = c == '"' && quoted.contains(['$', '`', '\\', '!']);
                if expands || quoted.contains(|c: char| c.is_control() && !"\t\n".contains(c)) {
                    return None;
                }
                word.push_str(quoted);
                rest = behind;
            }
            _ if plain(c) => {
                word.push(c);
                rest = &rest[c.len_utf8()..];
            }
            _ => break,
        }
    }
    (rest.len() < text.len()).then_some((word, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_taken_apart() {
        let command = "ls 'a b' >x 2>/dev/null | wc -l 2>&1;\n\ncat \"c\"d && true\n";

        let items = items(command).expect("it is plain");

        let own = |words: &[&str], targets: &[&str]| PlainCommand {
            words: words.iter().map(|&word| word.to_owned()).collect(),
            targets: targets.iter().map(|&target| target.to_owned()).collect(),
        };
        let pipelines: Vec<_> = items.into_iter().map(|item| item.pipeline).collect();
        assert_eq!(
            pipelines,
            [
                vec![own(&["ls", "a b"], &["x"]), own(&["wc", "-l"], &[])],
                vec![own(&["cat", "cd"], &[])],
                vec![own(&["true"], &[])],
            ]
        );
    }

    #[test]
    fn what_is_not_plain_is_not_read() {
        for command in [
            "a &", "a & b", "a |", "| a", "a | | b", "a < b", "a <<E", "a >&b", "a &>b", "a >|b",
            "a >", "(a)", "{ a; }", "$a", "\"$a\"", "`a`", "a\\ b", "a # b", "! a", "\"!!\"", "'a",
            "\"a", "a\rb", "a >(b)", "a |& b", "a\0", "'\u{1}'",
        ] {
            assert_eq!(items(command), None, "{command:?}");
        }
    }
}
