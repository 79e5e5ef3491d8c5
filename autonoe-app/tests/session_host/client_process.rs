//! Client process that a test starts.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use autonoe_core::event::InstructionName;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Fixture, attach, on_model};

/// Environment variable that makes this program a client of a session, with its folder.
const CLIENT_FOLDER: &str = "AUTONOE_TEST_ASKER";

/// Starts another process that requests the first session. It is killed when the handle is dropped.
pub(crate) struct ClientProcess(Child);

impl ClientProcess {
    pub(crate) fn start(fixture: &Fixture) -> Self {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args([
                "client_process::child_process_attaches_a_session",
                "--exact",
                "--nocapture",
            ])
            .env(CLIENT_FOLDER, fixture.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        Self(child.expect("it starts"))
    }
}

impl Drop for ClientProcess {
    fn drop(&mut self) {
        self.0.kill().expect("it is ours");
        self.0.wait().expect("it is ours");
    }
}

#[tokio::test]
async fn child_process_attaches_a_session() {
    let Some(folder) = std::env::var_os(CLIENT_FOLDER) else {
        // Not started as a client: there is no host for sessions.
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
