//! What commands do with the files that their arguments name.

/// What a command does with the files that its arguments name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileUse {
    /// It may read them. Every command that is not known otherwise does.
    Reads,
    /// It prints their names at most.
    PrintsNames,
    /// It prints metadata or looks below directories, but reads no file.
    Inspects,
    /// It checks that they exist, or takes no files.
    Checks,
    /// It starts another command, which is judged by itself.
    StartsCommand,
}

impl FileUse {
    /// Returns what the command `name` does with files.
    pub(crate) fn of_command(name: &str) -> Self {
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
