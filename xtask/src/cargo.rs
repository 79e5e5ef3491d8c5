//! Calls of cargo.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::failure::Failure;

/// The cargo that started this program, working at the root of the workspace.
#[derive(Debug)]
pub(crate) struct Cargo {
    program: OsString,
    root: PathBuf,
}

impl Cargo {
    /// Finds cargo and the workspace from what `cargo run` leaves in the
    /// environment.
    pub(crate) fn from_env() -> Result<Self, Failure> {
        let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let root = manifest_dir
            .as_deref()
            .and_then(Path::parent)
            .ok_or_else(|| Failure::new("start this program with `cargo xtask`"))?;
        Ok(Self {
            program: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
            root: root.to_owned(),
        })
    }

    /// Returns the root of the workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of the cargo program, unless it is looked for on `PATH`.
    pub(crate) fn bin_dir(&self) -> Option<PathBuf> {
        let dir = Path::new(&self.program).parent()?;
        dir.is_absolute().then(|| dir.to_owned())
    }

    /// Prepares `cargo ARGS` without starting it.
    pub(crate) fn command<I>(&self, args: I) -> Command
    where
        I: IntoIterator<Item: AsRef<std::ffi::OsStr>>,
    {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(&self.root);
        command
    }

    /// Prepares `cargo ARGS` with Clippy's driver as the compiler of the workspace: what is compiled
    /// is also linted, and a warning is an error.
    ///
    /// Cargo keeps the crates of this compiler apart from those of the usual one, so every command
    /// that is to reuse them is prepared here.
    pub(crate) fn linting<I>(&self, args: I) -> Command
    where
        I: IntoIterator<Item: AsRef<std::ffi::OsStr>>,
    {
        let driver = self.bin_dir().unwrap_or_default().join("clippy-driver");
        let mut command = self.command(args);
        command.env("RUSTC_WORKSPACE_WRAPPER", driver);
        // `cargo clippy -- -D warnings` passes its arguments in this form.
        command.env(
            "CLIPPY_ARGS",
            "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
        );
        command
    }

    /// Runs `cargo ARGS` with its output on the terminal.
    pub(crate) fn run<I>(&self, args: I) -> Result<(), Failure>
    where
        I: IntoIterator<Item: AsRef<std::ffi::OsStr>>,
    {
        run(self.command(args))
    }

    /// Runs `cargo ARGS` and returns what it printed on standard output.
    pub(crate) fn read<I>(&self, args: I) -> Result<String, Failure>
    where
        I: IntoIterator<Item: AsRef<std::ffi::OsStr>>,
    {
        read(self.command(args))
    }

    /// Says whether `cargo NAME` is installed.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.command([name, "--version"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}

/// Announces `command` and runs it with its output on the terminal.
pub(crate) fn run(mut command: Command) -> Result<(), Failure> {
    announce(&command);
    let status = command
        .status()
        .map_err(|source| cannot_start(&command, &source))?;
    succeeded(&command, status)
}

/// Runs `command` and returns what it printed on standard output.
pub(crate) fn read(mut command: Command) -> Result<String, Failure> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| cannot_start(&command, &source))?;
    succeeded(&command, output.status)?;
    String::from_utf8(output.stdout).map_err(|_| {
        let line = format_command(&command);
        Failure::new(format!("`{line}` printed something other than text"))
    })
}

/// Prints the line someone would type to run `command` by hand.
pub(crate) fn announce(command: &Command) {
    println!("$ {}", format_command(command));
}

/// Turns an unsuccessful exit into a failure that names the command.
pub(crate) fn succeeded(command: &Command, status: ExitStatus) -> Result<(), Failure> {
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "`{}`: {status}",
        format_command(command)
    )))
}

/// Names the command that the system did not start.
pub(crate) fn cannot_start(command: &Command, source: &std::io::Error) -> Failure {
    Failure::new(format!(
        "cannot run `{}`: {source}",
        format_command(command)
    ))
}

/// Writes `command` as a line for a terminal: variables set for it, then
/// `cargo` and the arguments.
fn format_command(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        let value = value?.to_string_lossy();
        Some(format!("{}=\"{value}\"", name.to_string_lossy()))
    });
    let program = Path::new(command.get_program())
        .file_stem()
        .unwrap_or(command.get_program())
        .to_string_lossy();
    let args = command
        .get_args()
        .map(|arg| arg.to_string_lossy().into_owned());
    variables
        .chain([program.into_owned()])
        .chain(args)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let mut command = Command::new("/opt/rust/bin/cargo");
        command.args(["doc", "--workspace"]);
        command.env("RUSTDOCFLAGS", "-D warnings").env_remove("X");

        assert_eq!(
            format_command(&command),
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace"
        );
    }
}
