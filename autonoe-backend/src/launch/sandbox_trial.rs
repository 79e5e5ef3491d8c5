//! [`SandboxTrial`], the record that a bubblewrap has created a sandbox on this machine.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_process::{OsSandbox, SandboxError};

use super::ProgramFile;

/// The bubblewrap that has passed a trial. Clones share the record.
///
/// A trial starts one more process, and what it shows rarely changes: whether the system lets this
/// bubblewrap create namespaces. So one trial is enough until the file of bubblewrap changes. If the
/// system changes, the real start fails, and nothing runs without a sandbox.
#[derive(Clone, Debug, Default)]
pub(super) struct SandboxTrial {
    passed: Arc<Mutex<Option<ProgramFile>>>,
}

impl SandboxTrial {
    /// Checks `sandbox`, which uses the bubblewrap at `program`: by creating it, unless this
    /// bubblewrap has passed a trial already.
    ///
    /// A trial takes some milliseconds and blocks the thread.
    ///
    /// # Errors
    ///
    /// The sandbox does not work, or its paths are not valid.
    pub(super) fn check(&self, program: &Path, sandbox: &OsSandbox) -> Result<(), SandboxError> {
        let file = ProgramFile::read(program);
        // Sessions that start at once wait for the same trial.
        let mut passed = self.lock();
        if file.is_some() && *passed == file {
            return sandbox.validate();
        }
        *passed = None;
        sandbox.check()?;
        *passed = file;
        Ok(())
    }

    /// Returns whether the bubblewrap at `program` has passed a trial, so that a
    /// [`check`](Self::check) does not block.
    pub(super) fn has_passed(&self, program: &Path) -> bool {
        let file = ProgramFile::read(program);
        let passed = self.passed.try_lock();
        file.is_some() && passed.is_ok_and(|passed| *passed == file)
    }

    /// Forgets the trial, so that the next check creates its sandbox.
    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<ProgramFile>> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The record is not part of the configuration around it.
impl PartialEq for SandboxTrial {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SandboxTrial {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    /// A program in place of bubblewrap that logs its starts and exits with `code`.
    fn write_program(folder: &Path, code: i32) -> PathBuf {
        let program = folder.join("bwrap");
        let log = folder.join("starts");
        let script = format!("#!/bin/sh\necho >> {}\nexit {code}\n", log.display());
        let new = folder.join("new");
        fs::write(&new, script).expect("writable");
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).expect("ours");
        fs::rename(&new, &program).expect("writable");
        program
    }

    fn starts(folder: &Path) -> usize {
        let log = fs::read_to_string(folder.join("starts")).unwrap_or_default();
        log.lines().count()
    }

    #[test]
    fn a_bubblewrap_is_tried_once_until_its_file_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let program = write_program(folder, 0);
        let sandbox = OsSandbox::new(&program);
        let trial = SandboxTrial::default();
        assert!(!trial.has_passed(&program));

        for _ in 0..3 {
            trial.clone().check(&program, &sandbox).expect("it works");
        }
        assert!(trial.has_passed(&program));
        assert_eq!(starts(folder), 1);

        write_program(folder, 1);
        assert!(!trial.has_passed(&program));
        trial.check(&program, &sandbox).expect_err("it fails");
        trial.check(&program, &sandbox).expect_err("it fails again");
        assert_eq!(starts(folder), 3, "a failed trial is repeated");

        write_program(folder, 0);
        trial.check(&program, &sandbox).expect("it works again");
        trial.forget();
        assert!(!trial.has_passed(&program));
    }

    #[test]
    fn the_paths_of_a_sandbox_are_checked_without_a_trial_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = write_program(folder.path(), 0);
        let trial = SandboxTrial::default();
        trial
            .check(&program, &OsSandbox::new(&program))
            .expect("it works");

        let error = trial.check(
            &program,
            &OsSandbox::new(&program).writable("/nowhere/at/all"),
        );

        let error = error.expect_err("the path is missing");
        assert_eq!(error.code(), "sandbox_path_not_there");
        assert_eq!(starts(folder.path()), 1);
    }
}
