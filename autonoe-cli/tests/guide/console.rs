//! Parses the commands in a guide, and the output that the guide shows for them.

/// A block of commands.
#[derive(Debug)]
pub(crate) struct Console {
    /// The expected exit code of each command.
    pub(crate) exit: i32,
    pub(crate) commands: Vec<Command>,
}

/// A command, and lines of its output.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) text: String,
    printed: Vec<String>,
}

impl Console {
    /// Finds all blocks in the text of a guide.
    pub(crate) fn all(guide: &str) -> Vec<Self> {
        let mut blocks = Vec::new();
        let mut lines = guide.lines();
        while let Some(line) = lines.next() {
            let Some(options) = line.strip_prefix("```console") else {
                continue;
            };
            let exit = options.trim().strip_prefix("exit=").unwrap_or("0");
            let within = lines.by_ref().take_while(|line| *line != "```");
            blocks.push(Self {
                exit: exit.parse().expect("a number"),
                commands: commands(within),
            });
        }
        assert!(!blocks.is_empty(), "there are no commands in the guide");
        blocks
    }
}

fn commands<'g>(lines: impl Iterator<Item = &'g str>) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for line in lines {
        if let Some(text) = line.strip_prefix("$ ") {
            commands.push(Command {
                text: text.to_owned(),
                printed: Vec::new(),
            });
            continue;
        }
        let command = commands.last_mut().expect("a block begins with a command");
        match line.strip_prefix('>') {
            Some(rest) => {
                command.text.push('\n');
                command
                    .text
                    .push_str(rest.strip_prefix(' ').unwrap_or(rest));
            }
            None => command.printed.push(line.to_owned()),
        }
    }
    commands
}

impl Command {
    /// Returns the first line of the guide that `output` lacks, in order.
    pub(crate) fn missing_in(&self, output: &str) -> Option<&str> {
        let mut lines = output.lines();
        let printed = self.printed.iter().map(String::as_str);
        printed
            .into_iter()
            .find(|printed| !lines.any(|line| is_like(line, printed)))
    }
}

/// Returns whether `line` matches the line in the guide, in which `…` matches anything.
fn is_like(line: &str, pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('…').collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return false;
    };
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    if parts.len() == 1 {
        return rest.is_empty();
    }
    for part in &parts[1..parts.len() - 1] {
        match rest.split_once(part.trim()) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last.trim_start())
}

#[test]
fn an_ellipsis_matches_any_text() {
    for (line, pattern, expected) in [
        ("hello", "hello", true),
        ("hello there", "hello", false),
        ("hello there", "hello …", true),
        ("ok       claude       2.1.325", "ok       claude …", true),
        ("Run 12 ended: done", "Run … ended: done", true),
        ("Run 12 ended: failed", "Run … ended: done", false),
        ("a b c", "… b …", true),
        ("a c", "… b …", false),
    ] {
        assert_eq!(is_like(line, pattern), expected, "{line:?} {pattern:?}");
    }
}
