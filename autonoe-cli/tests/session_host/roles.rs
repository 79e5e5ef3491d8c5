//! What this program does when a test starts it again.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use autonoe_core::InstructionName;
use tokio_util::sync::CancellationToken;

use crate::session_host::setting::{Setting, attach, on_model};

/// Says to this program that it asks for a session, and in which folder.
const ASKER: &str = "AUTONOE_TEST_ASKER";

/// Starts somebody else who asks for the first session. It is killed when this is dropped.
pub(crate) struct Asker(Child);

impl Asker {
    pub(crate) fn start(setting: &Setting) -> Self {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["session_host::roles::asker", "--exact", "--nocapture"])
            .env(ASKER, setting.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        Self(child.expect("it starts"))
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.kill().expect("it is ours");
        self.0.wait().expect("it is ours");
    }
}

#[tokio::test]
async fn asker() {
    let Some(folder) = std::env::var_os(ASKER) else {
        // Not started as one: there is nothing to carry out sessions with.
        let nowhere = on_model(&PathBuf::from("/nowhere"));
        let never = CancellationToken::new();
        let attached = attach(&nowhere, 1, InstructionName::Coding, never).await;
        assert!(attached.is_err());
        return;
    };
    let host = on_model(&PathBuf::from(folder));
    let attached = attach(&host, 1, InstructionName::Coding, CancellationToken::new()).await;
    panic!("it was to be killed before that: {attached:?}");
}
