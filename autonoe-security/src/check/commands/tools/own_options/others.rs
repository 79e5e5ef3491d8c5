//! Ruby, Go, Rust and PHP.

use super::OptionTable;

pub(super) const RUBY: OptionTable = OptionTable {
    values: &["--gemfile", "--config-file"],
    flags: &[
        "--norc",
        "--keep-file-descriptors",
        "--backtrace",
        "--debug",
    ],
};

pub(super) const GO: OptionTable = OptionTable {
    values: &["-C"],
    flags: &[],
};

pub(super) const CARGO: OptionTable = OptionTable {
    values: &[
        "--color",
        "--config",
        "--manifest-path",
        "-Z",
        "-C",
        "--explain",
        "--lockfile-path",
    ],
    flags: &["-vv", "--locked", "--frozen", "--list", "--install"],
};

/// Programs that are made with the console of Symfony, and artisan.
pub(super) const PHP: OptionTable = OptionTable {
    values: &[
        "-d",
        "--working-dir",
        "--timeout",
        "-c",
        "--config",
        "--env",
    ],
    flags: &["-n", "-vv", "-vvv", "--ansi", "--profile", "--dev"],
};

pub(super) const GO_TOOLS: OptionTable = OptionTable {
    values: &["-c", "--config", "--color", "-f"],
    flags: &["--debug"],
};
