//! Python.

use super::OptionTable;

pub(super) const PIP: OptionTable = OptionTable {
    values: &[
        "--cache-dir",
        "--log",
        "--log-file",
        "--proxy",
        "--retries",
        "--timeout",
        "--exists-action",
        "--trusted-host",
        "--cert",
        "--client-cert",
        "--python",
        "--keyring-provider",
        "--use-feature",
        "--use-deprecated",
    ],
    flags: &[
        "--isolated",
        "--require-virtualenv",
        "--debug",
        "--disable-pip-version-check",
    ],
};

pub(super) const UV: OptionTable = OptionTable {
    values: &[
        "--cache-dir",
        "--config-file",
        "--directory",
        "--project",
        "--color",
        "--allow-insecure-host",
        "-p",
        "--python",
        "--index",
        "--default-index",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "-P",
        "--upgrade-package",
        "--reinstall-package",
        "--refresh-package",
        "--index-strategy",
        "--keyring-provider",
        "--resolution",
        "--prerelease",
        "--fork-strategy",
        "--exclude-newer",
        "--exclude-newer-package",
        "--link-mode",
        "-C",
        "--config-setting",
        "--no-build-isolation-package",
        "--no-build-package",
        "--no-binary-package",
        "-w",
        "--with",
        "--with-editable",
        "--with-requirements",
        "--group",
        "--no-group",
        "--only-group",
        "--extra",
        "--no-extra",
        "--env-file",
        "--package",
        "--from",
        "--python-platform",
    ],
    flags: &[
        "-n",
        "--frozen",
        "--locked",
        "--isolated",
        "--active",
        "--exact",
        "--script",
        // What follows is what is started.
        "-m",
        "--module",
        "--all-extras",
        "--all-groups",
        "--all-packages",
        "--dev",
        "--only-dev",
        "-U",
        "--upgrade",
        "--reinstall",
        "--refresh",
        "--native-tls",
        "--managed-python",
        "--compile-bytecode",
    ],
};

pub(super) const POETRY: OptionTable = OptionTable {
    values: &["-C", "--directory", "-P", "--project"],
    flags: &["-n", "-vv", "-vvv", "--ansi"],
};

pub(super) const PDM: OptionTable = OptionTable {
    values: &["-c", "--config", "-p", "--project", "--venv"],
    flags: &["-n", "--non-interactive", "-I", "--ignore-python", "--json"],
};

pub(super) const HATCH: OptionTable = OptionTable {
    values: &[
        "-e",
        "--env",
        "-p",
        "--project",
        "--data-dir",
        "--cache-dir",
        "--config",
        "-i",
        "--include",
        "-x",
        "--exclude",
        "-f",
        "--filter",
    ],
    flags: &[
        "--color",
        "--interactive",
        "--force-continue",
        "--ignore-compat",
    ],
};

pub(super) const PIPX: OptionTable = OptionTable {
    values: &[
        "--spec",
        "--python",
        "--pip-args",
        "--with",
        "-i",
        "--index-url",
        "--suffix",
        "--backend",
    ],
    flags: &["-e", "--editable", "--pypackages", "--system-site-packages"],
};

pub(super) const CONDA: OptionTable = OptionTable {
    values: &["-n", "--name", "-p", "--prefix", "--cwd"],
    flags: &["--dev", "--live-stream", "--debug-wrapper-scripts"],
};

pub(super) const FLIT: OptionTable = OptionTable {
    values: &["-f", "--ini-path", "--repository", "--pypirc"],
    flags: &[],
};

pub(super) const RUFF: OptionTable = OptionTable {
    values: &["--config", "--color"],
    flags: &["-s", "--isolated"],
};
