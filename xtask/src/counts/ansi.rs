//! Terminal colours.

/// Returns `line` without its colour sequences (`ESC [ … letter`).
pub(crate) fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = match after.find(|c: char| ('@'..='~').contains(&c)) {
            Some(end) => &after[end + 1..],
            None => "",
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_text_stays() {
        for (coloured, plain) in [
            ("nothing to do [1]", "nothing to do [1]"),
            ("\u{1b}[32;1m12\u{1b}[0m passed", "12 passed"),
            ("cut off \u{1b}[3", "cut off "),
        ] {
            assert_eq!(without_colours(coloured), plain);
        }
    }
}
