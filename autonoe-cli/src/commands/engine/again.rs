//! Commands that a person is told to give next.

use std::path::Path;

use crate::args::EnginePlaceArgs;

/// Writes `autonoe engine WORDS` with what was said of where the engine is, to be pasted.
///
/// What a shell would not read as it stands is left to the person.
pub(super) fn again(words: &str, place: &EnginePlaceArgs) -> String {
    let mut text = format!("`autonoe engine {words}");
    let config = place.engine_config.as_deref().and_then(Path::to_str);
    let program = place.engine_program.as_deref().and_then(Path::to_str);
    for (option, value) in [
        ("--engine-config", config),
        ("--address", place.address.as_deref()),
        ("--namespace", place.namespace.as_deref()),
        ("--queue", place.queue.as_deref()),
        ("--engine-program", program),
    ] {
        if let Some(value) = value.filter(|value| is_plain(value)) {
            text.push_str(&format!(" {option}={value}"));
        }
    }
    text + "`"
}

/// Tells whether any shell reads a value as it stands.
fn is_plain(value: &str) -> bool {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./:@%+,".contains(character);
    !value.is_empty() && value.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_of_the_engine_is_said_again_as_far_as_a_shell_reads_it() {
        let place = EnginePlaceArgs {
            engine_config: Some("my settings.json".into()),
            address: Some("http://h:1".to_owned()),
            namespace: Some("$(n)".to_owned()),
            queue: Some("q".to_owned()),
            engine_program: Some("./worker".into()),
        };

        let plain = again("status shop-1", &EnginePlaceArgs::default());
        let placed = again("logs shop-1 --follow", &place);

        assert_eq!(plain, "`autonoe engine status shop-1`");
        let expected = "`autonoe engine logs shop-1 --follow --address=http://h:1 --queue=q \
            --engine-program=./worker`";
        assert_eq!(placed, expected);
    }
}
