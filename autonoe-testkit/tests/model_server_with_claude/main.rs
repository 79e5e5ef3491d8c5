//! The scripted model server with the real Claude Code, in both pinned builds.
//!
//! `cargo xtask clis` installs them. Everything runs offline, in temporary folders.
#![cfg(all(feature = "model-servers", target_os = "linux"))]

mod broken_streams;
mod build;
mod claude;
mod leftovers;
mod limits;
mod refusals;
mod silence;
mod turns;

/// Makes a test of each function for each build.
macro_rules! on_both_builds {
    ($($name:ident),+ $(,)?) => {
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
        }
    };
}
pub(crate) use on_both_builds;
