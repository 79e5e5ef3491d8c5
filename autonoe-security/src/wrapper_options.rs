//! Options of programs that start another command.

use crate::option_table::OptionTable;

/// The options of a program whose command follows them.
///
/// Findings use it to find the command. The policy uses it as an allow-list of options.
pub(crate) struct Wrapper {
    pub(crate) names: &'static [&'static str],
    pub(crate) options: OptionTable,
    /// The number of operands before the command.
    pub(crate) operands: usize,
    /// Whether `NAME=value` words precede the command.
    pub(crate) has_assignments: bool,
}

impl Wrapper {
    /// Returns whether it has the option `name`, written with its dashes and in full.
    pub(crate) fn has_option(&self, name: &str) -> bool {
        self.options.find(name).is_some()
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
    options: options!(""),
    operands: 0,
    has_assignments: false,
};

const ENV: Wrapper = Wrapper {
    names: words!("env"),
    options: options!(
        "i0vu:C:a:",
        "argv0= block-signal? chdir= debug default-signal? ignore-environment ignore-signal?",
        "list-signal-handling null unset=",
    ),
    has_assignments: true,
    ..PLAIN
};

pub(crate) const XARGS: Wrapper = Wrapper {
    names: words!("xargs"),
    options: options!(
        "0prtxon:P:L:I:s:d:a:E:i?l?e?",
        "arg-file= delimiter= eof? exit interactive max-args= max-chars= max-lines? max-procs=",
        "no-run-if-empty null open-tty process-slot-var= replace? show-limits verbose",
    ),
    ..PLAIN
};

pub(crate) const TIMEOUT: Wrapper = Wrapper {
    names: words!("timeout"),
    options: options!(
        "vfps:k:",
        "foreground kill-after= preserve-status signal= verbose",
    ),
    operands: 1,
    ..PLAIN
};

const SETSID: Wrapper = Wrapper {
    names: words!("setsid"),
    options: options!("cfw", "ctty fork wait"),
    ..PLAIN
};

const NICE: Wrapper = Wrapper {
    names: words!("nice"),
    options: options!("0123456789n:", "adjustment="),
    ..PLAIN
};

const IONICE: Wrapper = Wrapper {
    names: words!("ionice"),
    options: options!("tc:n:", "class= classdata= ignore"),
    ..PLAIN
};

const TIME: Wrapper = Wrapper {
    names: words!("time"),
    options: options!(
        "apvqf:o:",
        "append format= output= portability quiet verbose",
    ),
    ..PLAIN
};

const STDBUF: Wrapper = Wrapper {
    names: words!("stdbuf"),
    options: options!("i:o:e:", "error= input= output="),
    ..PLAIN
};

const SUDO: Wrapper = Wrapper {
    names: words!("sudo"),
    options: options!(
        "AbEHknPSBu:g:p:C:D:h:r:t:T:R:U:",
        "askpass background bell chdir= chroot= close-from= command-timeout= group= host=",
        "non-interactive preserve-env? preserve-groups prompt= reset-timestamp role= set-home",
        "stdin type= user=",
    ),
    has_assignments: true,
    ..PLAIN
};

const DOAS: Wrapper = Wrapper {
    names: words!("doas"),
    options: options!("nu:"),
    ..PLAIN
};

const COMMAND: Wrapper = Wrapper {
    names: words!("command"),
    options: options!("p"),
    ..PLAIN
};

const EXEC: Wrapper = Wrapper {
    names: words!("exec"),
    options: options!("cla:"),
    ..PLAIN
};
