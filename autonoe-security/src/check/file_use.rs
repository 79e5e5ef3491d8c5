//! Classification of commands by how they use the files that their arguments name.

/// Use of the files that the arguments of a command name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileUse {
    /// It may read them. This is the default for unknown commands.
    Reads,
    /// It prints their names at most.
    PrintsNames,
    /// It prints metadata or lists directories, but reads no file.
    Inspects,
    /// It checks that they exist, or has no file arguments.
    Checks,
    /// It starts another command, which is judged separately.
    StartsCommand,
}

impl FileUse {
    /// Returns how the command `name` uses files.
    pub(crate) fn from_command(name: &str) -> Self {
        match name {
            "echo" | "ls" | "lsof" | "printf" | "tree" => Self::PrintsNames,
            "basename" | "cd" | "df" | "dirname" | "du" | "fd" | "fdfind" | "find" | "readlink"
            | "realpath" | "stat" | "type" | "which" => Self::Inspects,
            "[" | "test" | "wait" => Self::Checks,
            "command" | "env" | "nice" | "nohup" | "setsid" | "stdbuf" | "time" | "timeout"
            | "xargs" => Self::StartsCommand,
            _ => Self::Reads,
        }
    }
}
