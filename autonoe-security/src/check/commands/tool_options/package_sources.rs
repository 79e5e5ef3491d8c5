//! Sources of packages: the official registries and the configuration of the project.

use super::spelling::matches_option;
use super::{Tool, option_name};
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::code_source::{is_address, is_repository};
use crate::check::commands::server_url::{Server, names_foreign_host};
use crate::check::commands::tools::possible_subcommands;
use crate::{Denial, Rule};

/// Returns the options of `tool` whose value is the address of a registry, an index or a mirror.
fn registries(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" | "npx" | "pnpm" | "yarn" | "bun" | "bunx" => words!("--registry --publish-registry"),
        "pip" | "pip3" => {
            words!("-i --index-url --pypi-url --extra-index-url -f --find-links --index")
        }
        "pip-audit" | "pip-compile" | "pip-sync" | "pipx" => {
            words!("-i --index-url --extra-index-url -f --find-links --pip-args")
        }
        "pipenv" => words!("-i --index --pypi-mirror --extra-index-url --extra-pip-args"),
        "uv" | "uvx" => words!(
            "-i --index --default-index --index-url --extra-index-url -f --find-links --mirror",
            "--pypy-mirror --python-downloads-json-url --check-url",
        ),
        "conda" => words!("-c --channel"),
        "cargo" => words!("--url"),
        "gem" => words!("-s --source -p --http-proxy --host"),
        "bundle" | "bundler" => words!("--source --git"),
        "composer" => words!("--repository --repository-url --add-repository"),
        "flit" => words!("--index-url"),
        _ => &[],
    }
}

/// Returns the options of `tool` that name a source which the project does not configure, or that
/// turn off the verification of the connection.
fn refused(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" | "npx" | "pnpm" => words!(
            "--ca --cafile --cert --https-proxy --key --no-strict-ssl --noproxy --proxy",
            "--replace-registry-host --strict-ssl --_auth --_authToken --_password",
        ),
        "yarn" => words!("--https-proxy --proxy --no-strict-ssl --strict-ssl"),
        "bun" => words!("--ca --cafile"),
        "pip" | "pip3" => words!("--cert --client-cert --proxy --trusted-host"),
        "pipenv" => words!("--trusted-host"),
        "pip-compile" | "pip-sync" => words!("--cert --client-cert --trusted-host"),
        "uv" | "uvx" => words!("--allow-insecure-host --trusted-host"),
        "conda" => words!("-k --insecure"),
        "cargo" => words!("--git --index --registry"),
        "bundle" | "bundler" => words!("--bitbucket --gist --github --gitlab"),
        "go" => words!("-insecure"),
        _ => &[],
    }
}

/// Checks that packages come from an official registry, or from where the project configures.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let (options, denied) = (registries(tool.name), refused(tool.name));
    let has_rules = !options.is_empty() || !denied.is_empty();
    if !has_rules && !matches!(tool.name, "poetry" | "pdm" | "hatch") {
        return Ok(());
    }
    let words = tool.words();
    let Some(uses) = Use::classify(tool, &words) else {
        return Ok(());
    };
    let own = Tool {
        args: uses.own_args(tool),
        ..*tool
    };
    let is_denied = |name: &str| {
        let mut all = denied.iter();
        all.any(|option| matches_option(tool.name, name, option))
            || sets_scope(tool.name, name)
            || is_registry_with_one_dash(tool.name, name)
    };
    for arg in own.args {
        let text = arg.text.as_ref();
        let name = option_name(text);
        let is_off = matches!(
            text,
            "--strict-ssl" | "--strict-ssl=true" | "--registry=crates-io"
        );
        if text.starts_with('-') && text != "--" && !is_off && is_denied(name) {
            return Err(deny(arg, name));
        }
    }
    for value in own.values_of(options).into_iter().flatten() {
        let is_repository_of_composer = tool.name == "composer"
            && value.text.starts_with('{')
            && !value.text.contains("\"path\"");
        let is_foreign = names_foreign_host(&value.text, is_whole(&value))
            || (is_of_npm(tool.name) && Server::parse(&value.text).is_none())
            || !value.text.is_ascii()
            || is_host_without_protocol(tool.name, &value.text)
            || may_be_address(&value);
        if is_foreign || is_repository_of_composer || has_remote_repository(&own) {
            return Err(deny(&value, &value.text));
        }
    }
    for file in own
        .values_of(settings_files(tool.name))
        .into_iter()
        .flatten()
    {
        if file.is_in_home() || !tool.call.is_in_project(&file.text) {
            return Err(deny(&file, &file.text));
        }
    }
    match uses {
        Use::Installs { is_npm } => no_package_is_foreign(&own, options, is_npm),
        Use::Configures => no_word_is_foreign(tool, &words),
        Use::Asks => Ok(()),
    }?;
    replaces_no_module(tool)?;
    chooses_released_yarn(tool, &words)
}

/// The part of a tool's work that concerns sources of packages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It installs or shows packages that its operands name.
    Installs { is_npm: bool },
    /// It configures sources.
    Configures,
    /// It may only read options.
    Asks,
}

impl Use {
    /// Returns the use of a tool; `None` if its arguments are for a script of the project.
    fn classify(tool: &Tool<'_, '_, '_, '_>, words: &[&Arg<'_>]) -> Option<Self> {
        let first = words
            .first()
            .and_then(|word| word.known())
            .unwrap_or_default();
        if first.is_empty() {
            return Some(Self::Asks);
        }
        let is_install = match tool.name {
            "npm" => {
                let others =
                    words!("cache diff info link ln pack show udpate up update upgrade v view");
                let matched = || possible_subcommands("npm", first);
                is_install_of_npm(first) || matched().iter().any(|it| others.contains(&it.as_str()))
            }
            "pnpm" => {
                words!("a add fetch i info install link ln patch show up update upgrade v view")
                    .contains(&first)
            }
            "yarn" => words!("a add info install link patch up upgrade upgrade-interactive")
                .contains(&first),
            "bun" => words!("a add i info install link patch pm update").contains(&first),
            "pip" | "pip3" => words!("download install lock wheel").contains(&first),
            "uv" => match first {
                "add" | "pip" | "tool" => true,
                "run" => return Some(Self::Asks),
                _ => false,
            },
            "pipenv" => words!("install lock sync uninstall update upgrade").contains(&first),
            "pipx" => words!("inject install upgrade").contains(&first),
            "poetry" => words!("add init").contains(&first),
            "pdm" => words!("add install").contains(&first),
            "conda" => words!("create env install update").contains(&first),
            _ => false,
        };
        // The other subcommands take folders.
        let is_npm = matches!(tool.name, "npm" | "pnpm" | "yarn" | "bun")
            && !words!("cache diff link ln pack patch pm").contains(&first);
        let configures = match tool.name {
            "composer" => {
                let matched = possible_subcommands("composer", first);
                matched
                    .iter()
                    .any(|word| matches!(word.as_str(), "config" | "repo" | "repository"))
            }
            "poetry" => matches!(first, "config" | "source"),
            "bundle" | "bundler" => first == "config",
            "hatch" | "pdm" => first == "config",
            _ => false,
        };
        match tool.name {
            _ if is_install => Some(Self::Installs { is_npm }),
            _ if configures => Some(Self::Configures),
            // These pass unknown subcommands and their arguments to scripts.
            "pnpm" | "yarn" | "bun" if !ASKING.contains(&first) => None,
            "poetry" | "pdm" | "hatch" => None,
            _ => Some(Self::Asks),
        }
    }

    /// Returns the arguments that the tool reads itself.
    fn own_args<'t, 's>(self, tool: &Tool<'t, '_, '_, 's>) -> &'t [Arg<'s>] {
        match self {
            Self::Installs { .. } => tool.args,
            // It reads its options anywhere before `--`.
            Self::Configures | Self::Asks if tool.name == "npm" => {
                let end = tool.args.iter().position(|arg| arg.is("--"));
                &tool.args[..end.unwrap_or(tool.args.len())]
            }
            Self::Configures | Self::Asks => super::own_args(tool.name, tool.args),
        }
    }
}

/// Subcommands of pnpm, yarn and bun that ask the registry, besides those that install.
const ASKING: &[&str] = words!(
    "audit c ci config create deploy dlx exec import init ls list npm outdated policies rebuild search self-update",
    "set why workspaces x",
);

/// Returns whether npm reads `word` as `install`, `install-test` or `add`. It accepts abbreviations
/// and common typing errors.
fn is_install_of_npm(word: &str) -> bool {
    let is_short = word.len() > 1
        && ["install", "install-test", "isntall", "isntall-test"]
            .iter()
            .any(|name| name.starts_with(word));
    is_short || matches!(word, "i" | "add" | "it" | "ad")
}

/// Returns whether an option sets the registry or the login of a scope: `--@scope:registry`,
/// `--//host/:_authToken`.
fn sets_scope(tool: &str, name: &str) -> bool {
    matches!(tool, "npm" | "npx" | "pnpm" | "yarn" | "bun")
        && name.contains(':')
        && name.trim_start_matches('-').starts_with(['@', '/'])
}

/// Returns whether npm reads `name` as `--registry`, although it has one dash.
fn is_registry_with_one_dash(tool: &str, name: &str) -> bool {
    let word = name.strip_prefix('-').filter(|word| word.len() > 2);
    tool == "npm" && word.is_some_and(|word| "registry".starts_with(word))
}

/// Returns whether a tool reads `value` as a host, although it has no protocol.
fn is_host_without_protocol(tool: &str, value: &str) -> bool {
    let host = value.split(['/', ':']).next().unwrap_or(value);
    let is_path = value.starts_with('.') || value.ends_with(".json") || value.contains("://");
    let reads_hosts = matches!(
        tool,
        "bun" | "composer" | "conda" | "gem" | "npm" | "pnpm" | "yarn"
    );
    value.starts_with("//")
        || (reads_hosts && host.contains('.') && !host.starts_with('{') && !is_path)
}

/// Returns whether an unknown value may turn out to be an address.
fn may_be_address(value: &Arg<'_>) -> bool {
    let text = value.text.as_ref();
    let is_path = |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_fixed = text.starts_with('.')
        || text.strip_prefix('/').is_some_and(is_path)
        || text.contains("://");
    !is_whole(value) && !is_fixed
}

/// Returns whether `tool` takes only URLs for registries.
fn is_of_npm(tool: &str) -> bool {
    matches!(tool, "bun" | "bunx" | "npm" | "npx" | "pnpm" | "yarn")
}

/// Returns whether the whole text of a value is known.
fn is_whole(value: &Arg<'_>) -> bool {
    value.is_static() && !value.is_pattern()
}

/// Returns whether `--git` of bundler names a repository that is no folder.
fn has_remote_repository(own: &Tool<'_, '_, '_, '_>) -> bool {
    let is_remote = |value: &Arg<'_>| !value.text.starts_with(['.', '/']);
    matches!(own.name, "bundle" | "bundler")
        && own
            .values_of(words!("--git"))
            .iter()
            .flatten()
            .any(is_remote)
}

/// Returns the options of `tool` that name a file with settings, such as registries.
fn settings_files(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" | "npx" => words!("--userconfig --globalconfig"),
        "pnpm" => words!("--userconfig --globalconfig --npmrc-auth-file"),
        "pdm" => words!("-c --config"),
        "uv" | "uvx" | "gem" => words!("--config-file"),
        _ => &[],
    }
}

/// Checks the packages of a command that installs.
fn no_package_is_foreign(own: &Tool<'_, '_, '_, '_>, options: &[&str], is_npm: bool) -> Checked {
    let own_words = own.words();
    for word in own_words.iter().skip(1) {
        let is_foreign = names_foreign_package(&word.text) || (is_npm && is_repository(&word.text));
        if is_foreign && !is_value_of(own, options, word) {
            return Err(deny(word, &word.text));
        }
    }
    // `--editable=git+https://..`, `-rhttps://..`
    let files = words!(
        "-e --editable -r --requirement --requirements -c --constraint --constraints --from --with --spec"
    );
    for value in own.values_of(files).into_iter().flatten() {
        if names_foreign_package(&value.text) {
            return Err(deny(&value, &value.text));
        }
    }
    Ok(())
}

/// Returns whether a package is an address other than a file of this machine.
fn names_foreign_package(package: &str) -> bool {
    let is_unusual = |c: char| c == '\\' || c.is_control();
    let is_file = package.contains("file:") && !names_foreign_host(package, true);
    package.contains(is_unusual) || (is_address(package) && !is_file)
}

/// Returns whether `word` is the value of an option that has been checked.
fn is_value_of<'s>(own: &Tool<'_, '_, '_, 's>, options: &[&str], word: &Arg<'s>) -> bool {
    let at = own.args.iter().position(|arg| std::ptr::eq(arg, word));
    let before = at.and_then(|at| own.args.get(at.checked_sub(1)?));
    before.is_some_and(|before| {
        let text = before.text.as_ref();
        let mut all = options.iter();
        text.starts_with('-') && all.any(|option| matches_option(own.name, text, option))
    })
}

/// Checks the settings of a command that configures sources.
fn no_word_is_foreign(tool: &Tool<'_, '_, '_, '_>, words: &[&Arg<'_>]) -> Checked {
    let Some((first, rest)) = words.split_first() else {
        return Ok(());
    };
    let key = rest
        .iter()
        .map(|word| word.text.as_ref())
        .find(|word| !matches!(*word, "set" | "get" | "add" | "unset"))
        .unwrap_or_default();
    let lower = key.to_ascii_lowercase();
    let has_value = rest.len() > 1;
    let weakens = match tool.name {
        "composer" => {
            let is_off = |value: &&Arg<'_>| value.is("false") || value.is("true");
            let is_source = lower.starts_with("repo") || first.text.starts_with("repo");
            let is_local = |word: &&Arg<'_>| {
                let text = word.text.as_ref();
                text == "path" || text.contains("\"path\"")
            };
            let is_path = rest.iter().any(is_local) || rest.iter().any(is_off);
            let is_trust =
                words!("cafile capath disable-tls secure-http").contains(&lower.as_str());
            (is_trust && has_value) || (is_source && has_value && !is_path && !is_question(rest))
        }
        "bundle" | "bundler" => {
            let is_reset = rest.iter().any(|word| word.is("unset"));
            (lower.starts_with("mirror") || lower.starts_with("ssl_")) && has_value && !is_reset
        }
        "poetry" => lower.starts_with("certificates.") && has_value,
        _ => false,
    };
    let mut foreign = rest
        .iter()
        .filter(|word| names_foreign_host(&word.text, is_whole(word)));
    match (foreign.next(), weakens) {
        (Some(word), _) => Err(deny(word, &word.text)),
        (None, true) => Err(deny(first, key)),
        (None, false) => Ok(()),
    }
}

/// Returns whether `composer repository` only prints.
fn is_question(rest: &[&Arg<'_>]) -> bool {
    let first = rest.first().and_then(|word| word.known());
    matches!(
        first,
        Some("list" | "show" | "get-url" | "remove" | "rm" | "disable" | "enable")
    )
}

/// Checks that `go mod edit -replace` takes no module of another host.
fn replaces_no_module(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    if tool.name != "go" || !tool.has("edit") {
        return Ok(());
    }
    let host = |module: &str| module.split(['/', '@']).next().unwrap_or(module).to_owned();
    for value in tool.values_of(words!("-replace")).into_iter().flatten() {
        let (old, new) = value.text.split_once('=').unwrap_or(("", &value.text));
        let is_path = new.starts_with(['.', '/']);
        // The first part of a module's path is a host if it has a dot.
        if !is_path && host(new).contains('.') && host(old) != host(new) {
            return Err(deny(&value, new));
        }
    }
    Ok(())
}

/// Checks that `yarn set version` chooses a released version, or a file of the project.
fn chooses_released_yarn(tool: &Tool<'_, '_, '_, '_>, words: &[&Arg<'_>]) -> Checked {
    let [first, second, rest @ ..] = words else {
        return Ok(());
    };
    let is_command = (first.is("set") && second.is("version"))
        || (first.is("policies") && second.is("set-version"));
    if tool.name != "yarn" || !is_command {
        return Ok(());
    }
    let is_released = |word: &Arg<'_>| {
        let is_address = word.text.contains("://");
        word.known().is_some()
            && !is_address
            && !word.is("from")
            && (!word.text.contains('/') || tool.call.is_in_project(&word.text))
    };
    match rest.iter().find(|word| !is_released(word)) {
        Some(word) => Err(deny(word, &word.text)),
        None => Ok(()),
    }
}

fn deny(arg: &Arg<'_>, construct: &str) -> Denial {
    let reason = format!("'{construct}' is not a source of packages of the project");
    Denial::by(Rule::R92, arg.span, reason).instead(
        "use a package of the official registry, or a source in the project's configuration",
    )
}
