//! Spellings of options that tools accept.

/// Returns whether `tool` reads `written`, without its value, as `option`.
///
/// Inner dashes and letter case are ignored in long options, because many tools ignore them and the
/// others would reject the option. Short options are compared exactly.
pub(in crate::check::commands) fn matches_option(tool: &str, written: &str, option: &str) -> bool {
    // Most options differ in their first letters.
    let (mut given, mut full) = (letters(written), letters(option));
    let is_similar = given.next() == full.next() && given.next() == full.next();
    if !is_similar && tool != "go" {
        return false;
    }
    if written == option {
        return true;
    }
    let is_long = written.starts_with("--") || (written.starts_with('-') && has_one_dash(tool));
    let (given, full) = (plain(tool, written), plain(tool, option));
    if !is_long || full.len() == 1 {
        return is_long && given == full;
    }
    // `--outputFile.json` is one of several.
    let is_one_of = given
        .strip_prefix(&full)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let least = match tool {
        "cucumber" | "pipx" | "rspec" | "rubocop" => 2,
        _ => 3,
    };
    let is_beginning = given.len() >= least && full.starts_with(&given);
    is_one_of || (shortens(tool) && is_beginning && !WHOLE.contains(&given.as_str()))
}

/// Returns the significant bytes of an option, in lower case.
fn letters(option: &str) -> impl Iterator<Item = u8> {
    option
        .bytes()
        .filter(|byte| !matches!(byte, b'-' | b'_'))
        .map(|byte| byte.to_ascii_lowercase())
}

/// Returns the name of an option without its insignificant characters.
pub(in crate::check::commands) fn plain(tool: &str, option: &str) -> String {
    let name = option.trim_start_matches('-');
    let name = match tool {
        "go" => name.strip_prefix("test.").unwrap_or(name),
        _ => name,
    };
    let counts = |c: &char| !matches!(c, '-' | '_');
    name.chars()
        .filter(counts)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// Returns whether a long option of `tool` may have a single dash.
pub(in crate::check::commands) fn has_one_dash(tool: &str) -> bool {
    matches!(
        tool,
        "ginkgo"
            | "go"
            | "gofmt"
            | "goimports"
            | "golint"
            | "gopls"
            | "staticcheck"
            | "tsc"
            | "vue-tsc"
    )
}

/// Returns whether `tool` accepts abbreviated options.
pub(in crate::check::commands) fn shortens(tool: &str) -> bool {
    words!(
        "codeception composer cucumber flake8 gem mypy nox npm pip pip3 pipx pest php-cs-fixer phpstan",
        "phpunit pip-compile pip-sync pip-audit pylint radon rake rspec rubocop tox unittest cProfile compileall http.server pdb profile",
        "tarfile trace zipapp zipfile"
    )
    .contains(&tool)
}

/// Names that are prefixes of others, and also options themselves.
const WHOLE: &[&str] = words!("cache coverage format log output pre report testdox");

/// Letters of `tool` that take no value, so that another letter may follow in the same argument.
pub(in crate::check::commands) fn flags(tool: &str) -> &'static str {
    match tool {
        "conda" => "dqvy",
        "cucumber" => "bdqvwx",
        "gem" => "bEfNqrVl",
        "jest" | "vitest" => "befhiovw",
        "pip" | "pip3" => "hIUqvV",
        "pytest" => "lqsvx",
        "radon" => "abhjmsv",
        "rake" => "AGgmNnPqstvX",
        "rspec" => "bcdw",
        "rubocop" => "dDElLSFV",
        "ruby" => "acdhlnpsSvwy",
        "ruff" => "ehnqsvw",
        "tox" => "anqrv",
        "uv" | "uvx" => "nqUv",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_known_however_it_is_written() {
        for (tool, written, option) in [
            ("jest", "--coverage-directory", "--coverageDirectory"),
            ("vitest", "--outputFile.json", "--outputFile"),
            ("go", "--test.cpuprofile", "-cpuprofile"),
            ("go", "--o", "-o"),
            ("tsc", "-tsbuildinfofile", "--tsBuildInfoFile"),
            ("mypy", "--html-r", "--html-report"),
            ("node", "--redirect_warnings", "--redirect-warnings"),
        ] {
            assert!(matches_option(tool, written, option), "{tool} {written}");
        }
    }

    #[test]
    fn other_options_are_others() {
        for (tool, written, option) in [
            ("jest", "--coverage", "--coverageDirectory"),
            ("pest", "--coverage", "--coverage-clover"),
            ("jest", "coverageDirectory", "--coverageDirectory"),
            ("ruff", "-O", "-o"),
            ("ruff", "--output", "--output-file"),
            ("vitest", "--outputFiles", "--outputFile"),
        ] {
            assert!(!matches_option(tool, written, option), "{tool} {written}");
        }
    }
}
