//! Performs an operation in another process: as an ordinary user, with limited disk space or
//! memory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bad_input::attempt::Attempt;

/// The environment variables that make this test program perform an operation.
const DIR: &str = "AUTONOE_TEST_TRY_DIR";
const ATTEMPT: &str = "AUTONOE_TEST_TRY";

/// The prefix of the message in the output of the process.
const MESSAGE_PREFIX: &str = "message: ";

/// The limits of the process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limits {
    Nothing,
    /// No file can grow beyond this many blocks of 1024 bytes, as if the disk were full.
    DiskBlocks(u32),
    /// The address space in kilobytes, so that a huge file does not fit into memory.
    Memory(u32),
}

/// An ordinary user, to whom permissions apply.
pub(crate) struct OrdinaryUser {
    // The folder of this program may be inaccessible to other users.
    program: PathBuf,
    _folder: tempfile::TempDir,
}

impl OrdinaryUser {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        let own = std::env::current_exe().expect("this program");
        let program = folder.path().join("try");
        fs::hard_link(&own, &program)
            .or_else(|_| fs::copy(&own, &program).map(drop))
            .expect("it can be copied");
        Self {
            program,
            _folder: folder,
        }
    }

    /// Performs `attempt` and returns its message.
    pub(crate) fn tries(&self, attempt: Attempt, dir: &Path, limits: Limits) -> String {
        let limit = match limits {
            Limits::Nothing => String::new(),
            Limits::DiskBlocks(blocks) => format!("trap '' XFSZ; ulimit -f {blocks};"),
            Limits::Memory(kilobytes) => format!("ulimit -v {kilobytes};"),
        };
        let script = format!("{limit} exec \"$0\" \"$@\"");
        let mut words = vec!["timeout", "60"];
        if is_root() {
            words.extend(["setpriv", "--reuid", "65534", "--regid", "65534"]);
            words.extend(["--clear-groups", "--"]);
        }
        words.extend(["bash", "-c", &script]);
        words.push(self.program.to_str().expect("text"));
        words.push("bad_input::other_process::child_process_runs_the_attempt");
        words.extend(["--exact", "--nocapture"]);
        let output = Command::new(words[0])
            .args(&words[1..])
            .current_dir("/")
            .env(DIR, dir)
            .env(ATTEMPT, attempt.name())
            .output()
            .expect("timeout is there");
        let text = String::from_utf8_lossy(&output.stdout);
        let message = text
            .lines()
            .find_map(|line| line.strip_prefix(MESSAGE_PREFIX));
        let message =
            message.unwrap_or_else(|| panic!("{attempt:?} printed no message: {output:?}"));
        serde_json::from_str(message).expect("a text")
    }
}

/// Runs in the other process.
#[test]
fn child_process_runs_the_attempt() {
    let (Some(dir), Ok(name)) = (std::env::var_os(DIR), std::env::var(ATTEMPT)) else {
        return;
    };
    let attempt = Attempt::from_name(&name).expect("it is known");

    let message = attempt.message(dir.as_ref());

    println!("\n{MESSAGE_PREFIX}{}", serde_json::json!(message));
}

/// Returns whether this is root, for whom no access would be refused.
fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id is there");
    output.stdout == b"0\n"
}
