//! The environment and the working directory of the process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The environment and the working directory of the process. The `main` of a program reads them once.
#[derive(Clone, Debug)]
pub struct Env {
    /// The base of relative paths.
    pub working_dir: PathBuf,
    /// The variables. Those of agents are derived from them.
    pub environment: BTreeMap<OsString, OsString>,
}

/// Returns the path of this process's program, if it is known.
pub fn this_program() -> Option<PathBuf> {
    std::env::current_exe().ok().filter(|path| path.is_file())
}

impl Env {
    /// Returns the working directory as the shell shows it: `PWD`, if it leads there.
    ///
    /// It may contain symlinks; [`working_dir`](Self::working_dir) does not.
    pub fn shell_dir(&self) -> &Path {
        let pwd = self.environment.get(OsStr::new("PWD")).map(Path::new);
        let is_working_dir = |pwd: &&Path| {
            let real = pwd.canonicalize();
            pwd.is_absolute() && real.is_ok_and(|real| real == self.working_dir)
        };
        pwd.filter(is_working_dir).unwrap_or(&self.working_dir)
    }

    /// Returns a variable, if it is valid UTF-8.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(OsStr::new(name))?.to_str()
    }

    /// Returns the variables whose names begin with `prefix` and that are valid UTF-8.
    pub fn variables_with_prefix(&self, prefix: &str) -> Vec<(String, String)> {
        let texts = self.environment.iter().filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| name.starts_with(prefix))?;
            Some((name.to_owned(), value.to_str()?.to_owned()))
        });
        texts.collect()
    }

    /// Returns the user's home directory, if it is known.
    pub fn home(&self) -> Option<PathBuf> {
        let home = self.environment.get(OsStr::new("HOME"))?;
        (!home.is_empty()).then(|| home.into())
    }
}
