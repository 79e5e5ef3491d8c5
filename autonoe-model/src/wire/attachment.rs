//! Files that go with the result of a tool.

use autonoe_core::Attachment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Returns the bytes of a file as protocols want them.
pub(crate) fn base64(attachment: &Attachment) -> String {
    STANDARD.encode(&attachment.data)
}

/// Returns a file as a text that a model can read; `None` if it is none.
pub(crate) fn as_text(attachment: &Attachment) -> Option<String> {
    let kind = attachment.media_type.as_str();
    let is_text = kind.starts_with("text/") || kind == "application/json";
    let text = std::str::from_utf8(&attachment.data).ok()?;
    is_text.then(|| format!("{}:\n{text}", label(attachment)))
}

/// Says that there is a file which the model cannot be shown, so that it does not guess.
pub(crate) fn note(attachment: &Attachment) -> String {
    let size = attachment.data.len();
    format!(
        "[{}, {size} bytes: it cannot be shown here]",
        label(attachment)
    )
}

fn label(attachment: &Attachment) -> String {
    let kind = &attachment.media_type;
    match &attachment.name {
        Some(name) => format!("attached file {name} ({kind})"),
        None => format!("attached file ({kind})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: &str, name: Option<&str>, data: &[u8]) -> Attachment {
        Attachment {
            media_type: kind.into(),
            name: name.map(str::to_owned),
            data: data.into(),
        }
    }

    #[test]
    fn a_text_is_shown_and_what_is_none_is_named() {
        let text = file("text/csv", Some("a.csv"), b"1,2");
        let broken = file("text/plain", None, b"\xff");
        let sound = file("audio/wav", Some("a.wav"), b"RIFF");

        let shown = as_text(&text).expect("it is a text");
        assert_eq!(shown, "attached file a.csv (text/csv):\n1,2");
        assert_eq!((as_text(&broken), as_text(&sound)), (None, None));
        let expected = "[attached file a.wav (audio/wav), 4 bytes: it cannot be shown here]";
        assert_eq!(note(&sound), expected);
    }
}
