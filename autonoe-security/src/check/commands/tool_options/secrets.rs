//! Subcommands of tools that print or store tokens, passwords and secrets.

use super::Tool;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::tools::possible_subcommands;
use crate::{Denial, Rule};

/// Checks that a tool prints no secret.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    match tool.name {
        "npm" | "pnpm" | "yarn" | "bun" => settings_of_npm(tool),
        "composer" => settings_of_composer(tool),
        "bundle" | "bundler" => settings_of_bundler(tool),
        "pip" | "pip3" | "poetry" | "pdm" | "hatch" | "conda" => settings_of_python(tool),
        "rails" | "rake" => tasks(tool, |task| {
            let (group, name) = task.split_once(':').unwrap_or((task, ""));
            matches!(group, "credentials" | "secrets" | "encrypted") && name != "help"
        }),
        "artisan" | "php" | "symfony" => tasks(tool, |task| {
            matches!(
                task,
                "env:decrypt" | "env:encrypt" | "secrets:decrypt-to-local" | "secrets:reveal"
            )
        })
        .and_then(|()| match tool.args.iter().find(|arg| arg.is("--reveal")) {
            Some(arg) if tool.has("secrets:list") => Err(deny(arg, "--reveal")),
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}

/// Returns whether the name of a setting says that its value is a secret.
fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace("author", "");
    let words =
        words!("_auth auth authtoken authident identity passw pypi-token secret token username");
    key.starts_with("//") || words.iter().any(|word| key.contains(word))
}

fn settings_of_npm(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let words = tool.words();
    let Some((first, rest)) = words.split_first() else {
        return Ok(());
    };
    let first = first.known().unwrap_or_default();
    // Without a script of this name, it prints every variable of the environment.
    if let Some(word) = rest.first().filter(|word| word.is("env"))
        && matches!(first, "run" | "run-script" | "rum" | "urn")
    {
        return Err(deny(word, "env"));
    }
    let prints = match tool.name {
        "npm" if first.starts_with(['c', 'g']) => {
            let matched = possible_subcommands("npm", first);
            matched
                .iter()
                .any(|word| matches!(word.as_str(), "config" | "get"))
        }
        _ => matches!(first, "c" | "config" | "get"),
    };
    if !prints {
        return Ok(());
    }
    let shows = |arg: &&Arg<'_>| arg.text.starts_with("--no-redact");
    if let Some(arg) = tool.args.iter().find(shows) {
        return Err(deny(arg, &arg.text));
    }
    // npm hides tokens in its list of settings, unless the list is complete. Others print them.
    let is_long = |arg: &&Arg<'_>| {
        let text = arg.text.as_ref();
        let is_letter = text.starts_with('-') && !text.starts_with("--") && text.contains('l');
        is_letter || (text.len() > 3 && "--long".starts_with(text))
    };
    if let Some(arg) = tool
        .args
        .iter()
        .find(is_long)
        .filter(|_| tool.name == "npm")
    {
        return Err(deny(arg, &arg.text));
    }
    let is_list = |word: &&&Arg<'_>| matches!(tool.name, "pnpm" | "yarn") && is_list(word);
    match rest.iter().find(|key| is_secret(&key.text) || is_list(key)) {
        Some(key) => Err(deny(key, &key.text)),
        None => Ok(()),
    }
}

/// Returns whether a word lists all settings.
fn is_list(word: &Arg<'_>) -> bool {
    matches!(word.text.as_ref(), "list" | "ls")
}

fn settings_of_composer(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let words = tool.words();
    if !words
        .first()
        .is_some_and(|first| is_short_for(&first.text, "config", 4))
    {
        return Ok(());
    }
    let logins = words!(
        "bearer bitbucket-oauth client-certificate custom-headers forgejo-token github-oauth",
        "gitlab-oauth gitlab-token http-basic",
    );
    let is_login = |text: &str| {
        let is_option = text.len() > 3 && "--auth".starts_with(text);
        let is_list = text.len() > 3 && "--list".starts_with(text);
        let is_letter =
            text.starts_with('-') && !text.starts_with("--") && text.contains(['a', 'l']);
        is_option || is_list || is_letter || logins.iter().any(|login| text.starts_with(login))
    };
    match tool.args.iter().find(|arg| is_login(&arg.text)) {
        Some(arg) => Err(deny(arg, &arg.text)),
        None => Ok(()),
    }
}

/// Prefixes of settings of bundler whose name has a dot.
const DOTTED_SETTINGS: &[&str] = words!("build. default. gem. local. mirror. plugins.");

fn settings_of_bundler(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let words = tool.words();
    let Some((_, rest)) = words.split_first().filter(|(first, _)| first.is("config")) else {
        return Ok(());
    };
    let mut keys = rest
        .iter()
        .filter(|word| !matches!(word.text.as_ref(), "get" | "list" | "set" | "unset"));
    let Some(key) = keys.next() else {
        return Ok(());
    };
    let lower = key.text.to_ascii_lowercase();
    let is_setting = DOTTED_SETTINGS
        .iter()
        .any(|prefix| lower.starts_with(prefix));
    // A host is the name of the setting with its login.
    if lower.contains("://") || lower.contains("__") || (lower.contains('.') && !is_setting) {
        return Err(deny(key, &key.text));
    }
    Ok(())
}

fn settings_of_python(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let words = tool.words();
    let Some((_, rest)) = words.split_first().filter(|(first, _)| first.is("config")) else {
        return Ok(());
    };
    if let Some(key) = rest
        .iter()
        .find(|key| key.text.starts_with("http-basic") || is_secret(&key.text))
    {
        return Err(deny(key, &key.text));
    }
    // The address of an index may contain a login.
    let is_address = |key: &&&Arg<'_>| {
        let text = key.text.to_ascii_lowercase();
        let lists = is_list(key) || text == "debug";
        lists
            || words!("cert index links proxy url")
                .iter()
                .any(|word| text.contains(word))
    };
    if let Some(key) = rest
        .iter()
        .find(is_address)
        .filter(|_| tool.name.starts_with("pip"))
    {
        return Err(deny(key, &key.text));
    }
    let shows_all = |arg: &&Arg<'_>| arg.is("-a") || arg.is("--all");
    match tool.args.iter().find(shows_all) {
        Some(arg) if tool.name == "hatch" => Err(deny(arg, &arg.text)),
        _ => Ok(()),
    }
}

fn tasks(tool: &Tool<'_, '_, '_, '_>, prints: impl Fn(&str) -> bool) -> Checked {
    match tool.operands().find(|task| prints(&task.text)) {
        Some(task) => Err(deny(task, &task.text)),
        None => Ok(()),
    }
}

/// Returns whether `word` is `name`, possibly abbreviated to at least `least` bytes.
fn is_short_for(word: &str, name: &str, least: usize) -> bool {
    word.len() >= least && name.starts_with(word)
}

fn deny(arg: &Arg<'_>, construct: &str) -> Denial {
    let reason = format!("'{construct}' would print or store a secret");
    Denial::by(Rule::R94, arg.span, reason)
        .instead("work without credentials: use test values in the tests")
}
