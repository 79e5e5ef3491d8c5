//! Builds the bubblewrap command of a sandbox.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::Command;

use rustix::fs::{Access, access};

use super::{OsSandbox, SandboxError};
use crate::inherited;

/// A command that starts bubblewrap, and the descriptor with its options, which it must inherit.
#[derive(Debug)]
pub(crate) struct Wrapped {
    pub(crate) command: Command,
    pub(crate) options: OwnedFd,
}

impl OsSandbox {
    /// Builds the command that executes `program` in the sandbox and in `directory`, with `env`.
    ///
    /// Options and environment are passed through a file in memory. They do not show in the process
    /// list, and no variable affects bubblewrap itself.
    pub(crate) fn wrap(
        &self,
        program: &Path,
        args: &[OsString],
        directory: &Path,
        env: &BTreeMap<OsString, OsString>,
    ) -> Result<Wrapped, SandboxError> {
        self.find_program()?;
        let options = self.options(directory, env)?;
        let options = inherited::copy(&in_memory(&options)?)?;
        let mut command = Command::new(&self.program);
        command
            .arg("--args")
            .arg(options.as_raw_fd().to_string())
            .arg("--")
            .arg(program)
            .args(args)
            .current_dir("/")
            .env_clear();
        Ok(Wrapped { command, options })
    }

    fn find_program(&self) -> Result<(), SandboxError> {
        let program = self.program.clone();
        if !program.is_absolute() {
            return Err(SandboxError::NotAbsolute { path: program });
        }
        if !program.is_file() || access(&program, Access::EXEC_OK).is_err() {
            return Err(SandboxError::Missing { program });
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn in_memory(content: &[u8]) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    let mut file = File::from(memfd_create("sandbox", MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn in_memory(content: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}
