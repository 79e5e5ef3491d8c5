//! Composes the prompt of a session.

use crate::agent::Prompt;

/// Combines the instruction and the operator's messages into one prompt.
pub(super) fn compose(instruction: &str, messages: &[String]) -> Prompt {
    if messages.is_empty() {
        return Prompt::new(instruction);
    }
    let mut text = instruction.trim_end().to_owned();
    text.push_str("\n\n## Messages from the operator\n");
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
            "Do it.\n\n## Messages from the operator\n\n- be quick\n- one\n  two\n"
        );
        assert_eq!(compose("Do it.\n", &[]).text, "Do it.\n");
    }
}
