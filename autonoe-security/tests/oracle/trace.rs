//! Reads what Bash traces of the commands that it starts.

/// Returns the names of the simple commands in a trace, in order.
pub(crate) fn names(trace: &str) -> Vec<String> {
    // A trace that was cut off ends in the middle of a line.
    let whole = trace.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let commands = whole.lines().filter_map(|line| {
        let command = line.trim_start_matches('+');
        (command.len() < line.len()).then(|| command.strip_prefix(' '))?
    });
    // The handler of missing programs begins so, and is silent from then on.
    let own = commands.filter(|command| *command != "set +x");
    own.filter_map(name).collect()
}

/// Returns the name in one traced line; `None` if it is no simple command.
fn name(command: &str) -> Option<String> {
    let mut rest = command;
    loop {
        if is_assignment(rest) {
            // An array stands alone, and its elements look like words.
            if rest.contains("=(") {
                return None;
            }
            (_, rest) = word(behind_subscript(rest));
            continue;
        }
        let (word, _) = word(rest);
        return match word.as_str() {
            "" | "[[" | "((" | "for" | "case" | "select" => None,
            _ => Some(word),
        };
    }
}

/// Tells whether a line goes on with an assignment, which Bash shows like `x=1` or `a[0]=1`.
fn is_assignment(text: &str) -> bool {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    let begins = text
        .as_bytes()
        .first()
        .is_some_and(|byte| !byte.is_ascii_digit());
    let rest = &text[end..];
    begins
        && end > 0
        && (rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with('['))
        && rest.contains('=')
}

/// Returns what follows the subscript of an assignment, in which there may be blanks.
fn behind_subscript(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => return &text[at + 1..],
            ']' => depth = depth.saturating_sub(1),
            '=' if depth == 0 => break,
            _ => {}
        }
    }
    text
}

/// Splits off the first word, as Bash quotes words in a trace.
fn word(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut chars = text.char_indices();
    let mut was_quoted = false;
    while let Some((at, c)) = chars.next() {
        match c {
            ' ' => return (word, &text[at + 1..]),
            '\'' => {
                was_quoted = true;
                let dollar = word.ends_with('$') && text[..at].ends_with('$');
                if dollar {
                    word.pop();
                }
                while let Some((_, c)) = chars.next() {
                    match c {
                        '\'' => break,
                        '\\' if dollar => {
                            if let Some((_, escaped)) = chars.next() {
                                word.push(escaped);
                            }
                        }
                        c => word.push(c),
                    }
                }
            }
            '\\' => {
                if let Some((_, escaped)) = chars.next() {
                    word.push(escaped);
                }
            }
            c => word.push(c),
        }
    }
    if word.is_empty() && was_quoted {
        word.push_str("''");
    }
    (word, "")
}
