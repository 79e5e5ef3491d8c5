//! Commands that are printed for the operator to run next.

use std::path::Path;

use super::CommandContext;
use crate::args::ServerArgs;

impl CommandContext<'_> {
    /// Formats `autonoe-cluster WORDS` with the server options, ready to paste.
    pub(super) fn hint(&self, words: &str) -> String {
        command_hint(words, self.server)
    }
}

/// Formats a command. Values that a shell would interpret are omitted.
fn command_hint(words: &str, server: &ServerArgs) -> String {
    let mut text = format!("`autonoe-cluster {words}");
    for (option, value) in [
        ("--config", server.config.as_deref().and_then(Path::to_str)),
        ("--address", server.address.as_deref()),
        ("--namespace", server.namespace.as_deref()),
        ("--queue", server.queue.as_deref()),
    ] {
        if let Some(value) = value.filter(|value| is_plain(value)) {
            text.push_str(&format!(" {option}={value}"));
        }
    }
    text + "`"
}

/// Returns whether every shell reads the value literally.
fn is_plain(value: &str) -> bool {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./:@%+,".contains(character);
    !value.is_empty() && value.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_server_are_repeated_as_far_as_a_shell_reads_them() {
        let server = ServerArgs {
            config: Some("my settings.json".into()),
            address: Some("http://h:1".to_owned()),
            namespace: Some("$(n)".to_owned()),
            queue: Some("q".to_owned()),
        };

        let plain = command_hint("status shop-1", &ServerArgs::default());
        let placed = command_hint("logs shop-1 --follow", &server);

        assert_eq!(plain, "`autonoe-cluster status shop-1`");
        let expected = "`autonoe-cluster logs shop-1 --follow --address=http://h:1 --queue=q`";
        assert_eq!(placed, expected);
    }
}
