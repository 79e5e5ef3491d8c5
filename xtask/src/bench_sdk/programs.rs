//! The fake program and our client, built as users build programs.

use std::path::PathBuf;

use serde_json::Value;

use crate::cargo::{self, Cargo};
use crate::failure::Failure;

/// Paths of the two programs.
#[derive(Debug)]
pub(super) struct Programs {
    pub(super) fake: PathBuf,
    pub(super) client: PathBuf,
}

impl Programs {
    /// Builds them.
    pub(super) fn build(cargo: &Cargo) -> Result<Self, Failure> {
        let args = ["build", "--release", "-p", "autonoe-bench-sdk"];
        cargo::announce(&cargo.command(args));
        let json = "--message-format=json-render-diagnostics";
        let messages = cargo.read(args.into_iter().chain([json]))?;
        Ok(Self {
            fake: executable(&messages, "sdk-bench-fake")?,
            client: executable(&messages, "sdk-bench-client")?,
        })
    }
}

/// Finds where cargo has put a program, in what it says while it builds.
fn executable(messages: &str, name: &str) -> Result<PathBuf, Failure> {
    let messages = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        (message["target"]["name"] == name).then_some(message)
    });
    let mut places = messages.filter_map(|message| message["executable"].as_str().map(Into::into));
    places
        .next()
        .ok_or_else(|| Failure::new(format!("cargo did not report the path of {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executable_path_is_read_from_cargo() {
        let messages = r#"{"target":{"name":"lib"},"executable":null}
{"target":{"name":"sdk-bench-fake"},"executable":"/target/release/sdk-bench-fake"}
{"reason":"build-finished","success":true}"#;

        let fake = executable(messages, "sdk-bench-fake");

        assert_eq!(fake, Ok("/target/release/sdk-bench-fake".into()));
        let other = executable(messages, "other");
        let sentence = "cargo did not report the path of other";
        assert_eq!(other, Err(Failure::new(sentence)));
    }
}
