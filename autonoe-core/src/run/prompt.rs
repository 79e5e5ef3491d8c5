//! What a session is told.

use crate::port::Prompt;

/// Puts the instruction and what persons have told the run into one prompt.
pub(super) fn compose(instruction: &str, messages: &[String]) -> Prompt {
    if messages.is_empty() {
        return Prompt::new(instruction);
    }
    let mut text = instruction.trim_end().to_owned();
    text.push_str("\n\n## Messages from the person in charge\n");
    for message in messages {
        text.push_str("\n- ");
        text.push_str(&message.trim().replace('\n', "\n  "));
    }
    text.push('\n');
    Prompt::new(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_follow_the_instruction() {
        let prompt = compose("Do it.\n", &["be quick".into(), "one\ntwo".into()]);

        assert_eq!(
            prompt.text,
            "Do it.\n\n## Messages from the person in charge\n\n- be quick\n- one\n  two\n"
        );
        assert_eq!(compose("Do it.\n", &[]).text, "Do it.\n");
    }
}
