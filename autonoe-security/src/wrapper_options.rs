//! Options of programs that start another command.

use crate::check::options::{Table, Takes};

/// The options of a program whose command follows them.
///
/// Findings use it to find the command. The policy uses it as an allow-list of options.
pub(crate) struct Wrapper {
    pub(crate) names: &'static [&'static str],
    /// Short options without a value.
    pub(crate) flags: &'static str,
    pub(crate) options: Table,
    /// The number of operands in front of the command.
    pub(crate) operands: usize,
    /// Whether `NAME=value` words stand in front of the command.
    pub(crate) has_assignments: bool,
}

impl Wrapper {
    /// Returns whether it has the option `name`, which is written with its dashes and in full.
    pub(crate) fn has_option(&self, name: &str) -> bool {
        match name.strip_prefix("--") {
            Some(long) => self.options.long.iter().any(|(known, _)| *known == long),
            None => [
                self.flags,
                self.options.short_values,
                self.options.short_maybe,
            ]
            .iter()
            .any(|letters| letters.contains(&name[1..])),
        }
    }
}

/// Returns the options of the wrapper `name`.
pub(crate) fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS
        .iter()
        .copied()
        .find(|wrapper| wrapper.names.contains(&name))
}

const WRAPPERS: &[&Wrapper] = &[
    &PLAIN, &ENV, &XARGS, &TIMEOUT, &SETSID, &NICE, &IONICE, &TIME, &STDBUF, &SUDO, &DOAS,
    &COMMAND, &EXEC,
];

const PLAIN: Wrapper = Wrapper {
    names: words!("nohup builtin busybox toybox"),
    flags: "",
    options: NO_OPTIONS,
    operands: 0,
    has_assignments: false,
};

const NO_OPTIONS: Table = Table {
    short_values: "",
    short_maybe: "",
    long: &[],
};

const ENV: Wrapper = Wrapper {
    names: words!("env"),
    flags: "i0v",
    options: Table {
        short_values: "uCa",
        long: &[
            ("argv0", Takes::Value),
            ("block-signal", Takes::Maybe),
            ("chdir", Takes::Value),
            ("debug", Takes::Nothing),
            ("default-signal", Takes::Maybe),
            ("ignore-environment", Takes::Nothing),
            ("ignore-signal", Takes::Maybe),
            ("list-signal-handling", Takes::Nothing),
            ("null", Takes::Nothing),
            ("unset", Takes::Value),
        ],
        ..NO_OPTIONS
    },
    has_assignments: true,
    ..PLAIN
};

pub(crate) const XARGS: Wrapper = Wrapper {
    names: words!("xargs"),
    flags: "0prtxo",
    options: Table {
        short_values: "nPLIsdaE",
        short_maybe: "ile",
        long: &[
            ("arg-file", Takes::Value),
            ("delimiter", Takes::Value),
            ("eof", Takes::Maybe),
            ("exit", Takes::Nothing),
            ("interactive", Takes::Nothing),
            ("max-args", Takes::Value),
            ("max-chars", Takes::Value),
            ("max-lines", Takes::Maybe),
            ("max-procs", Takes::Value),
            ("no-run-if-empty", Takes::Nothing),
            ("null", Takes::Nothing),
            ("open-tty", Takes::Nothing),
            ("process-slot-var", Takes::Value),
            ("replace", Takes::Maybe),
            ("show-limits", Takes::Nothing),
            ("verbose", Takes::Nothing),
        ],
    },
    ..PLAIN
};

pub(crate) const TIMEOUT: Wrapper = Wrapper {
    names: words!("timeout"),
    flags: "vfp",
    options: Table {
        short_values: "sk",
        long: &[
            ("foreground", Takes::Nothing),
            ("kill-after", Takes::Value),
            ("preserve-status", Takes::Nothing),
            ("signal", Takes::Value),
            ("verbose", Takes::Nothing),
        ],
        ..NO_OPTIONS
    },
    operands: 1,
    ..PLAIN
};

const SETSID: Wrapper = Wrapper {
    names: words!("setsid"),
    flags: "cfw",
    options: Table {
        long: &[
            ("ctty", Takes::Nothing),
            ("fork", Takes::Nothing),
            ("wait", Takes::Nothing),
        ],
        ..NO_OPTIONS
    },
    ..PLAIN
};

const NICE: Wrapper = Wrapper {
    names: words!("nice"),
    flags: "0123456789",
    options: Table {
        short_values: "n",
        long: &[("adjustment", Takes::Value)],
        ..NO_OPTIONS
    },
    ..PLAIN
};

const IONICE: Wrapper = Wrapper {
    names: words!("ionice"),
    flags: "t",
    options: Table {
        short_values: "cn",
        long: &[
            ("class", Takes::Value),
            ("classdata", Takes::Value),
            ("ignore", Takes::Nothing),
        ],
        ..NO_OPTIONS
    },
    ..PLAIN
};

const TIME: Wrapper = Wrapper {
    names: words!("time"),
    flags: "apvq",
    options: Table {
        short_values: "fo",
        long: &[
            ("append", Takes::Nothing),
            ("format", Takes::Value),
            ("output", Takes::Value),
            ("portability", Takes::Nothing),
            ("quiet", Takes::Nothing),
            ("verbose", Takes::Nothing),
        ],
        ..NO_OPTIONS
    },
    ..PLAIN
};

const STDBUF: Wrapper = Wrapper {
    names: words!("stdbuf"),
    options: Table {
        short_values: "ioe",
        long: &[
            ("error", Takes::Value),
            ("input", Takes::Value),
            ("output", Takes::Value),
        ],
        ..NO_OPTIONS
    },
    ..PLAIN
};

const SUDO: Wrapper = Wrapper {
    names: words!("sudo"),
    flags: "AbEHknPSB",
    options: Table {
        short_values: "ugpCDhrtTRU",
        long: &[
            ("askpass", Takes::Nothing),
            ("background", Takes::Nothing),
            ("bell", Takes::Nothing),
            ("chdir", Takes::Value),
            ("chroot", Takes::Value),
            ("close-from", Takes::Value),
            ("command-timeout", Takes::Value),
            ("group", Takes::Value),
            ("host", Takes::Value),
            ("non-interactive", Takes::Nothing),
            ("preserve-env", Takes::Maybe),
            ("preserve-groups", Takes::Nothing),
            ("prompt", Takes::Value),
            ("reset-timestamp", Takes::Nothing),
            ("role", Takes::Value),
            ("set-home", Takes::Nothing),
            ("stdin", Takes::Nothing),
            ("type", Takes::Value),
            ("user", Takes::Value),
        ],
        ..NO_OPTIONS
    },
    has_assignments: true,
    ..PLAIN
};

const DOAS: Wrapper = Wrapper {
    names: words!("doas"),
    flags: "n",
    options: Table {
        short_values: "u",
        ..NO_OPTIONS
    },
    ..PLAIN
};

const COMMAND: Wrapper = Wrapper {
    names: words!("command"),
    flags: "p",
    ..PLAIN
};

const EXEC: Wrapper = Wrapper {
    names: words!("exec"),
    flags: "cl",
    options: Table {
        short_values: "a",
        ..NO_OPTIONS
    },
    ..PLAIN
};
