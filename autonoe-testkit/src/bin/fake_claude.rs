//! Stand-in for the Claude Code program in tests: see `autonoe_testkit::fake_claude`.

use std::process::ExitCode;

fn main() -> ExitCode {
    autonoe_testkit::fake_claude::main(std::env::args(), |name| std::env::var_os(name))
}
