//! Where a model is asked.

use std::fmt::Write;

/// Returns the path of a model: `gemini-2.5-pro`, `models/gemini-2.5-pro`, `tunedModels/mine`.
pub(super) fn of_model(model: &str) -> String {
    let folder = if model.contains('/') { "" } else { "models/" };
    let mut path = format!("/v1beta/{folder}");
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' | b'@' => {
                path.push(char::from(byte));
            }
            // A name must not become another path.
            _ => {
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
    path.push_str(":streamGenerateContent?alt=sse");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_its_path() {
        for (model, expected) in [
            ("gemini-2.5-pro", "models/gemini-2.5-pro"),
            ("models/gemini-2.5-pro", "models/gemini-2.5-pro"),
            ("tunedModels/mine-1", "tunedModels/mine-1"),
            ("a?b#c d", "models/a%3Fb%23c%20d"),
            ("ü", "models/%C3%BC"),
        ] {
            let expected = format!("/v1beta/{expected}:streamGenerateContent?alt=sse");
            assert_eq!(of_model(model), expected);
        }
    }
}
