//! The public corpus of commands with their expected verdicts, for other implementations of the
//! policy.
//!
//! Each file of the corpus consists of JSON lines; [`files`] lists all of them. A line has the
//! fields `id`, `expect` (`allow` or `deny`), `rules`, `mode`, `profile` (null, a name or a list),
//! `allow_destructive`, `allow_commands` and `command`. The project directory is `/srv/project`.
//! The page [`README.md`] of the corpus describes them and the version of the data set.
//!
//! [`README.md`]: https://github.com/autonoe/autonoe/blob/HEAD/autonoe-security/corpus/README.md

/// One file of the corpus.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// The name of the file.
    pub name: &'static str,
    /// The lines of the file.
    pub text: &'static str,
}

/// Returns every file of the corpus.
///
/// ```
/// let files = autonoe_security::corpus::files();
/// let cases: usize = files.iter().map(|file| file.text.lines().count()).sum();
///
/// assert!(cases > 12_000);
/// ```
pub fn files() -> &'static [File] {
    const FILES: &[File] = &[
        file("archives", include_str!("../corpus/archives.jsonl")),
        file("attacks", include_str!("../corpus/attacks.jsonl")),
        file("bypasses", include_str!("../corpus/bypasses.jsonl")),
        file("c", include_str!("../corpus/c.jsonl")),
        file("cases", include_str!("../corpus/cases.jsonl")),
        file("credentials", include_str!("../corpus/credentials.jsonl")),
        file("daily", include_str!("../corpus/daily.jsonl")),
        file("databases", include_str!("../corpus/databases.jsonl")),
        file("edges", include_str!("../corpus/edges.jsonl")),
        file("environment", include_str!("../corpus/environment.jsonl")),
        file("fleet_state", include_str!("../corpus/fleet_state.jsonl")),
        file("git", include_str!("../corpus/git.jsonl")),
        file("git_files", include_str!("../corpus/git_files.jsonl")),
        file("git_work", include_str!("../corpus/git_work.jsonl")),
        file("guards", include_str!("../corpus/guards.jsonl")),
        file("information", include_str!("../corpus/information.jsonl")),
        file("java", include_str!("../corpus/java.jsonl")),
        file("network", include_str!("../corpus/network.jsonl")),
        file("options", include_str!("../corpus/options.jsonl")),
        file(
            "package_sources",
            include_str!("../corpus/package_sources.jsonl"),
        ),
        file("processes", include_str!("../corpus/processes.jsonl")),
        file("programs", include_str!("../corpus/programs.jsonl")),
        file(
            "project_tools",
            include_str!("../corpus/project_tools.jsonl"),
        ),
        file("readers", include_str!("../corpus/readers.jsonl")),
        file("repositories", include_str!("../corpus/repositories.jsonl")),
        file("scripts", include_str!("../corpus/scripts.jsonl")),
        file(
            "searched_names",
            include_str!("../corpus/searched_names.jsonl"),
        ),
        file("sessions", include_str!("../corpus/sessions.jsonl")),
        file("settings", include_str!("../corpus/settings.jsonl")),
        file("shell", include_str!("../corpus/shell.jsonl")),
        file(
            "temporary_files",
            include_str!("../corpus/temporary_files.jsonl"),
        ),
        file("tools", include_str!("../corpus/tools.jsonl")),
        file("tricks", include_str!("../corpus/tricks.jsonl")),
        file("value_forms", include_str!("../corpus/value_forms.jsonl")),
        file("wrappers", include_str!("../corpus/wrappers.jsonl")),
        file("writers", include_str!("../corpus/writers.jsonl")),
    ];
    FILES
}

const fn file(name: &'static str, text: &'static str) -> File {
    File { name, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_corpus_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .expect("the corpus is there")
            .map(|file| file.expect("readable").path())
            .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        there.sort();

        let listed: Vec<&str> = files().iter().map(|file| file.name).collect();
        assert_eq!(listed, there);
    }
}
