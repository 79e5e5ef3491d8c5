//! [`Build`]s of Claude Code that the tests use.

use std::path::{Path, PathBuf};

/// A pinned build of Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Build {
    pub(crate) version: &'static str,
}

impl Build {
    pub(crate) const OLDER: Self = Self { version: "2.1.197" };
    pub(crate) const NEWER: Self = Self { version: "2.1.325" };

    /// Returns the program, or fails the test if it is not installed.
    pub(crate) fn program(self) -> PathBuf {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let clis = workspace.expect("it is a member").join("target/clis");
        let program = clis.join(format!("claude-code-{}/claude", self.version));
        assert!(
            program.is_file(),
            "{} is missing: run `cargo xtask clis` to install it",
            program.display()
        );
        program
    }
}

/// Creates a test of each function for each build. Functions after `newer_only:` get a test for the
/// newer build only.
///
/// The older build needs the tests of the contract, of the protocol, of the protection that it
/// provides itself, and of its different behaviour. Everything else is ours and the same on both.
macro_rules! on_both_builds {
    ($($name:ident),+ $(,)? $(; newer_only: $($newer:ident),+ $(,)?)?) => {
        mod on_2_1_197 {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::build::Build::OLDER).await;
            })+
        }
        mod on_2_1_325 {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::build::Build::NEWER).await;
            })+
            $($(#[tokio::test]
            async fn $newer() {
                super::$newer(crate::build::Build::NEWER).await;
            })+)?
        }
    };
}
pub(crate) use on_both_builds;

/// Creates a test of each function for the newer build.
macro_rules! on_newer_build {
    ($($name:ident),+ $(,)?) => {
        mod on_2_1_325 {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::build::Build::NEWER).await;
            })+
        }
    };
}
pub(crate) use on_newer_build;
