//! Front matter of imported prompts.

/// A prompt without its front matter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prompt<'a> {
    /// The text after the front matter, or the whole text if there is none.
    pub(super) text: &'a str,
    /// Whether front matter was removed.
    pub(super) had_front_matter: bool,
    /// The names in the list `customVariables` of the front matter.
    pub(super) custom_variables: Vec<&'a str>,
}

/// Splits off the front matter: a block between two lines `---` at the start of the text.
pub(super) fn split(text: &str) -> Prompt<'_> {
    let whole = Prompt {
        text,
        had_front_matter: false,
        custom_variables: Vec::new(),
    };
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return whole;
    };
    let mut length = first.len();
    let mut custom_variables = Vec::new();
    let mut is_custom = false;
    for line in lines {
        length += line.len();
        let line = line.trim_end();
        if line == "---" {
            return Prompt {
                text: text[length..].trim_start_matches(['\r', '\n']),
                had_front_matter: true,
                custom_variables,
            };
        }
        match line.trim_start().strip_prefix("- ") {
            Some(item) if is_custom => custom_variables.push(item.trim()),
            Some(_) => {}
            None => is_custom = line == "customVariables:",
        }
    }
    // The block is not closed, so the line is a horizontal rule of the text.
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_split_off_and_other_texts_keep_their_bytes() {
        for (text, rest, custom) in [
            (
                "---\nname: A\nuvVariables:\n  - issue\ncustomVariables:\n  - a\n  - b_c\nx: 1\n---\n\nGo.\n---\n",
                Some("Go.\n---\n"),
                vec!["a", "b_c"],
            ),
            ("---\r\nname: A\r\n---\r\nGo.", Some("Go."), vec![]),
            ("---\n---\n", Some(""), vec![]),
            ("---\nno end\n", None, vec![]),
            ("\n---\nname: A\n---\n", None, vec![]),
            ("---- \n---\n", None, vec![]),
            ("", None, vec![]),
        ] {
            let prompt = split(text);

            assert_eq!(prompt.text, rest.unwrap_or(text), "{text:?}");
            assert_eq!(prompt.had_front_matter, rest.is_some(), "{text:?}");
            assert_eq!(prompt.custom_variables, custom, "{text:?}");
        }
    }
}
