//! Options that each tool accepts before its subcommand.

use crate::option_table::OptionTable;

/// Returns the options of `tool`; `None` if its first operand is not a subcommand.
pub(in crate::check::commands) fn own_options(tool: &str) -> Option<&'static OptionTable> {
    Some(match tool {
        "npm" | "npx" => &NPM,
        "pnpm" => &PNPM,
        "yarn" => &YARN,
        "bun" | "bunx" => &BUN,
        "pip" | "pip3" => &PIP,
        "uv" | "uvx" => &UV,
        "poetry" => &POETRY,
        "pdm" => &PDM,
        "pipenv" => &PIPENV,
        "hatch" => &HATCH,
        "pipx" => &PIPX,
        "conda" => &CONDA,
        "flit" => &FLIT,
        "gem" | "bundle" | "bundler" | "rails" => &RUBY,
        "go" => &GO,
        "cargo" | "rustup" => &CARGO,
        "composer" | "php-cs-fixer" | "codeception" | "artisan" => &PHP,
        "goreleaser" | "golangci-lint" => &GO_TOOLS,
        "ruff" => &RUFF,
        "biome" | "vite" | "next" | "nuxt" | "astro" | "playwright" | "cypress" | "deno" => {
            &NODE_TOOLS
        }
        _ => return None,
    })
}

const NPM: OptionTable = options!(
    "ysdfalDESPOw:C:m:",
    "workspace= prefix= package= registry= loglevel= cache= userconfig= globalconfig= tag= omit=",
    "include= cafile= node-options= script-shell= otp= depth= location= logs-dir=",
    "install-strategy= before= message= access= scope= yes no -dd -ddd force all long save-dev",
    "save-exact save save-prod json if-present -ws workspaces include-workspace-root",
    "ignore-scripts foreground-scripts legacy-peer-deps prefer-offline prefer-online dry-run",
);

const PNPM: OptionTable = options!(
    "rwsPDyC:F:",
    "dir= prefix= filter= filter-prod= reporter= loglevel= registry= store-dir= lockfile-dir=",
    "modules-dir= virtual-store-dir= workspace-concurrency= resume-from= test-pattern=",
    "changed-files-ignore-pattern= package= cache-dir= state-dir= allow-build= use-node-version=",
    "depth= script-shell= recursive workspace-root parallel stream aggregate-output if-present",
    "bail sequential reverse report-summary fail-if-no-match include-workspace-root",
    "ignore-workspace prefer-offline frozen-lockfile ignore-scripts use-stderr json prod dev color",
    "yes",
);

const YARN: OptionTable = options!(
    "sDWTBp:",
    "cwd= modules-folder= mutex= cache-folder= preferred-cache-folder= use-yarnrc= registry=",
    "network-timeout= network-concurrency= proxy= https-proxy= global-folder= link-folder= otp=",
    "package= json prefer-offline frozen-lockfile immutable ignore-scripts ignore-engines",
    "ignore-platform non-interactive force dev strict-semver flat check-files top-level",
    "binaries-only",
);

const BUN: OptionTable = options!(
    "byF:r:p:e:",
    "cwd= filter= registry= cache-dir= backend= preload= env-file= config= package= eval= print=",
    "bun if-present smol hot watch production frozen-lockfile prefer-offline yes",
);

const NODE_TOOLS: OptionTable = options!(
    "c:m:l:L:",
    "config-path= colors= log-level= log-kind= config= mode= logLevel=",
);

const PIP: OptionTable = options!(
    "",
    "cache-dir= log= log-file= proxy= retries= timeout= exists-action= trusted-host= cert=",
    "client-cert= python= keyring-provider= use-feature= use-deprecated= isolated",
    "require-virtualenv debug disable-pip-version-check",
);

// The value of `-m` and `--module` is the command to start.
const UV: OptionTable = options!(
    "nmUp:i:f:P:C:w:",
    "cache-dir= config-file= directory= project= color= allow-insecure-host= python= index=",
    "default-index= index-url= extra-index-url= find-links= upgrade-package= reinstall-package=",
    "refresh-package= index-strategy= keyring-provider= resolution= prerelease= fork-strategy=",
    "exclude-newer= exclude-newer-package= link-mode= config-setting= no-build-isolation-package=",
    "no-build-package= no-binary-package= with= with-editable= with-requirements= group= no-group=",
    "only-group= extra= no-extra= env-file= package= from= python-platform= frozen locked isolated",
    "active exact script module all-extras all-groups all-packages dev only-dev upgrade reinstall",
    "refresh native-tls managed-python compile-bytecode",
);

const POETRY: OptionTable = options!("nC:P:", "directory= project= -vv -vvv ansi");

const PDM: OptionTable = options!(
    "nIc:p:",
    "config= project= venv= non-interactive ignore-python json",
);

const PIPENV: OptionTable = options!(
    "qve:r:i:",
    "python= pypi-mirror= index= requirements= editable= categories= quiet verbose bare clear dev",
);

const HATCH: OptionTable = options!(
    "e:p:i:x:f:",
    "env= project= data-dir= cache-dir= config= include= exclude= filter= color interactive",
    "force-continue ignore-compat",
);

const PIPX: OptionTable = options!(
    "ei:",
    "spec= python= pip-args= with= index-url= suffix= backend= editable pypackages",
    "system-site-packages",
);

const CONDA: OptionTable = options!(
    "n:p:",
    "name= prefix= cwd= dev live-stream debug-wrapper-scripts",
);

const FLIT: OptionTable = options!("f:", "ini-path= repository= pypirc=");

const RUFF: OptionTable = options!("s", "config= color= isolated");

const RUBY: OptionTable = options!(
    "",
    "gemfile= config-file= norc keep-file-descriptors backtrace debug",
);

const GO: OptionTable = options!("C:");

const CARGO: OptionTable = options!(
    "Z:C:",
    "color= config= manifest-path= explain= lockfile-path= -vv locked frozen list install",
);

/// Programs based on the Symfony console, and artisan.
const PHP: OptionTable = options!(
    "nd:c:",
    "working-dir= timeout= config= env= -vv -vvv ansi profile dev",
);

const GO_TOOLS: OptionTable = options!("c:f:", "config= color= debug");
