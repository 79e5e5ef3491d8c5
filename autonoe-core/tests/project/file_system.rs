//! [`FileSystem`], a mounted file system with power cuts.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// An ext4 file system in a file, mounted until this is dropped.
///
/// It needs root, loop devices and Python. Create it in a private mount namespace, so that nothing
/// remains after a kill.
pub(crate) struct FileSystem {
    image: PathBuf,
    mount_point: PathBuf,
}

impl FileSystem {
    /// Creates an empty file system whose files are in `dir`.
    pub(crate) fn create(dir: &Path) -> Self {
        let image = dir.join("image");
        let mount_point = dir.join("mounted");
        let file = File::create(&image).expect("writable");
        file.set_len(64 * 1024 * 1024).expect("room");
        fs::create_dir_all(&mount_point).expect("writable");
        run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image));
        let it = Self { image, mount_point };
        it.mount();
        it
    }

    pub(crate) fn root(&self) -> &Path {
        &self.mount_point
    }

    /// Prepares a power cut.
    pub(crate) fn switch(&self) -> Switch {
        let mut python = Command::new("python3")
            .args(["-c", CUT])
            .arg(self.root())
            .arg(self.root().join(UNSYNCED))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("python3: {error}"));
        let mut line = String::new();
        let output = python.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut line).expect("text");
        Switch(python)
    }

    /// Restarts after a cut, with the data that survived.
    pub(crate) fn restart(&self) {
        run(Command::new("umount").arg(self.root()));
        self.mount();
    }

    /// Returns whether the last cut lost the file that was written just before it.
    pub(crate) fn lost_unsynced_data(&self) -> bool {
        let path = self.root().join(UNSYNCED);
        let found = fs::read(&path).unwrap_or_default();
        // The next cut writes its own file.
        let _ = fs::remove_file(path);
        found != b"not synced"
    }

    fn mount(&self) {
        let mut mount = Command::new("mount");
        // Without this option, ext4 compensates for writers that rename before they sync.
        mount.args(["-t", "ext4", "-o", "loop,noauto_da_alloc"]);
        run(mount.arg(&self.image).arg(self.root()));
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        // If it is still in use, the end of the mount namespace unmounts it.
        let _ = Command::new("umount").arg(self.root()).status();
    }
}

/// The power switch of a file system: a program that waits for a signal.
pub(crate) struct Switch(Child);

/// Writes a file without syncing it, and then lets nothing more reach the disk, not even the
/// journal of the file system: `FS_IOC_SHUTDOWN` with `NOLOGFLUSH`.
const CUT: &str = "
import fcntl, os, struct, sys
root = os.open(sys.argv[1], os.O_RDONLY)
print('ready', flush=True)
sys.stdin.readline()
with open(sys.argv[2], 'w') as file:
    file.write('not synced')
fcntl.ioctl(root, 0x8004587D, struct.pack('I', 2))
";

/// The file that is written without a sync just before the power cut.
const UNSYNCED: &str = "unsynced";

impl Switch {
    /// Cuts the power: from now on nothing more reaches the disk.
    pub(crate) fn cut(self) {
        // The end of its input is the signal.
        let output = self.0.wait_with_output().expect("ours");
        assert_success("python3", &output);
    }
}

fn run(command: &mut Command) {
    let program = command.get_program().display().to_string();
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    assert_success(&program, &output);
}

fn assert_success(program: &str, output: &Output) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {}", stderr.trim());
}
