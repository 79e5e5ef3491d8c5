//! Tries something in a process of its own: as an ordinary user, with little room or memory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bad_input::attempt::Attempt;

/// The environment variables that turn this test program into one that tries something.
const DIR: &str = "AUTONOE_TEST_TRY_DIR";
const WHAT: &str = "AUTONOE_TEST_TRY";

/// What stands before what was told in the output of a try.
const SAID: &str = "it said: ";

/// What the process has to get along with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limits {
    Nothing,
    /// No file grows beyond so many blocks of 1024 bytes, as if the disk were full.
    DiskBlocks(u32),
    /// So many kilobytes of address space, so that a huge file does not fit into memory.
    Memory(u32),
}

/// An ordinary user, for whom permissions mean something.
pub(crate) struct OrdinaryUser {
    // The folder of this program may be closed to other users.
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

    /// Tries `attempt` and returns what was told.
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
        words.push("bad_input::other_process::tries_what_it_is_told_to");
        words.extend(["--exact", "--nocapture"]);
        let output = Command::new(words[0])
            .args(&words[1..])
            .current_dir("/")
            .env(DIR, dir)
            .env(WHAT, attempt.name())
            .output()
            .expect("timeout is there");
        let text = String::from_utf8_lossy(&output.stdout);
        let said = text.lines().find_map(|line| line.strip_prefix(SAID));
        let said = said.unwrap_or_else(|| panic!("{attempt:?} told nothing: {output:?}"));
        serde_json::from_str(said).expect("a text")
    }
}

/// Runs in the other process.
#[test]
fn tries_what_it_is_told_to() {
    let (Some(dir), Ok(what)) = (std::env::var_os(DIR), std::env::var(WHAT)) else {
        return;
    };
    let attempt = Attempt::of_name(&what).expect("it is known");

    let told = attempt.told(dir.as_ref());

    println!("\n{SAID}{}", serde_json::json!(told));
}

/// Root may do everything, so that nothing would be refused.
fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id is there");
    output.stdout == b"0\n"
}
