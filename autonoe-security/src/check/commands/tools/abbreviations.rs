//! Aliases and abbreviations of tool subcommands.

/// Returns the possible full names of the subcommand `word` of `tool`.
pub(in crate::check::commands) fn possible_subcommands(tool: &str, word: &str) -> Vec<String> {
    let all = match tool {
        "npm" => NPM,
        "gem" => GEM,
        "composer" => COMPOSER,
        "bundle" | "bundler" => BUNDLE,
        "goreleaser" if word == "r" => return vec!["release".to_owned()],
        _ => return vec![word.to_owned()],
    };
    // npm reads `distTag` as `dist-tag`.
    let word = match tool {
        "npm" => with_hyphens(word),
        _ => word.to_owned(),
    };
    if all.contains(&word.as_str()) {
        return vec![full_subcommand(tool, &word).to_owned()];
    }
    let longer = all.iter().filter(|name| name.starts_with(&word));
    let mut matched: Vec<String> = longer
        .map(|name| full_subcommand(tool, name).to_owned())
        .collect();
    if matched.is_empty() {
        matched.push(word);
    }
    matched
}

/// Returns whether `word` may be a subcommand of `tool` itself. Bundler starts the program
/// `bundler-NAME` for every other word.
pub(super) fn is_own_subcommand(tool: &str, word: &str) -> bool {
    let all = match tool {
        "bundle" | "bundler" => BUNDLE,
        _ => return true,
    };
    all.iter().any(|name| name.starts_with(word))
}

/// Returns the full name of the subcommand `alias`.
fn full_subcommand<'n>(tool: &str, alias: &'n str) -> &'n str {
    match (tool, alias) {
        ("npm", "x") => "exec",
        ("npm", "c") => "config",
        ("bundle" | "bundler", "e") => "exec",
        _ => alias,
    }
}

fn with_hyphens(word: &str) -> String {
    let mut hyphened = String::with_capacity(word.len());
    for letter in word.chars() {
        if letter.is_ascii_uppercase() {
            hyphened.push('-');
        }
        hyphened.push(letter.to_ascii_lowercase());
    }
    hyphened
}

const NPM: &[&str] = words!(
    "access add add-user adduser audit author bin bugs c cache ci cit clean-install",
    "clean-install-test completion config create ddp dedupe deprecate diff dist-tag dist-tags docs",
    "doctor edit exec explain explore find find-dupes fund get help help-search hlep home hook i",
    "ic in info init innit ins inst install install-ci-test install-clean install-test issues it",
    "la link list ll ln login logout ls ogr org outdated owner pack ping pkg prefix profile prune",
    "publish query r rb rebuild remove repo restart rm root rum run run-script s sbom se search",
    "set set-script show shrinkwrap star stars start stop t team test token tst udpate un",
    "undeprecate uninstall unlink unpublish unstar up update upgrade urn v verison version view",
    "whoami why x",
);

const GEM: &[&str] = words!(
    "build cert check cleanup contents dependency environment exec fetch help info install list",
    "lock mirror open outdated owner pristine push query rdoc rebuild search server signin signout",
    "sources specification stale uninstall unpack update which yank",
);

const COMPOSER: &[&str] = words!(
    "about archive audit browse bump check-platform-reqs clear-cache config create-project depends",
    "diagnose dump-autoload exec fund global help home i info init install licenses list outdated",
    "prohibits r reinstall remove repl repo repository require run run-script search self-update selfupdate show status",
    "suggests u update upgrade validate why why-not",
);

const BUNDLE: &[&str] = words!(
    "add binstubs cache check clean config console doctor e env exec fund gem help i info init",
    "inject install issue licenses list lock open outdated package platform plugin pristine remove",
    "show update version viz",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_match_every_name_with_the_prefix() {
        assert_eq!(possible_subcommands("npm", "publi"), ["publish"]);
        assert_eq!(possible_subcommands("npm", "distTag"), ["dist-tag"]);
        assert_eq!(possible_subcommands("npm", "x"), ["exec"]);
        assert_eq!(possible_subcommands("gem", "pus"), ["push"]);
        assert_eq!(possible_subcommands("gem", "out"), ["outdated"]);
        assert_eq!(possible_subcommands("gem", "un"), ["uninstall", "unpack"]);
    }

    #[test]
    fn full_names_match_only_themselves() {
        for name in ["t", "in", "un", "ls", "test"] {
            assert_eq!(possible_subcommands("npm", name), [name]);
        }
        assert_eq!(possible_subcommands("cargo", "publ"), ["publ"]);
        assert_eq!(possible_subcommands("composer", "my-script"), ["my-script"]);
    }
}
