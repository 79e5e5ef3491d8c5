//! The guard of files.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::credential_places::{CredentialPlaces, Touch};
use super::file_name::{components, folded, spells};
use super::tool_input::{NamedFile, named_files};
use crate::domain::Mode;
use crate::port::lexical_path::meanings::{Meanings, both_forms};
use crate::port::lexical_path::visible::visible;
use crate::port::{HookDecision, PreToolUseHook, ProjectPaths, ToolCall, ToolKind};

/// Blocks writes outside the project and `/tmp`, and every use of credentials.
///
/// In `/tmp`, nothing is written to the folder that holds the folders of sessions
/// ([`ProjectPaths::is_session_parent`]): backends keep scripts and settings there.
/// Shell commands must run inside those places too; what they do there is for
/// the Bash policy. Only the web is fetched from. A tool that declares no files,
/// such as a browser, must not name credentials in its input, and opens `file:`
/// addresses of the project and `/tmp` only.
///
/// Reads are open apart from [`CredentialPlaces`]. A search in a directory that
/// such a place is below would read it too and is blocked; only inside the
/// project it is let through while nothing is at that place, so that a project
/// that is a home can be searched. The repository data in `.git` is written by
/// git alone.
///
/// Paths are judged as written and with symlinks followed, at the time of the
/// call: what becomes of a path between the check and its use is for the
/// sandbox to hold.
///
/// ```
/// use autonoe_core::{FileScope, HookDecision, PreToolUseHook, ProjectPaths, ToolCall};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let project_paths = ProjectPaths::new("/srv/project");
/// let scope = FileScope::new(project_paths.clone());
/// let write = |path: &str| ToolCall::new("Write", json!({"file_path": path})).in_dir("/srv/project");
///
/// assert_eq!(scope.check(&write("src/main.rs"), &project_paths).await, HookDecision::Pass);
/// assert!(matches!(scope.check(&write("../x"), &project_paths).await, HookDecision::Block { .. }));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct FileScope {
    project_paths: ProjectPaths,
    credentials: CredentialPlaces,
}

impl FileScope {
    /// Makes a guard for `project_paths`, with the usual places of credentials.
    pub fn new(project_paths: ProjectPaths) -> Self {
        Self {
            project_paths,
            credentials: CredentialPlaces::default(),
        }
    }

    /// Sets the places of credentials.
    #[must_use]
    pub fn with_credentials(mut self, credentials: CredentialPlaces) -> Self {
        self.credentials = credentials;
        self
    }

    fn judge(&self, call: &ToolCall) -> Result<(), String> {
        match &call.kind {
            ToolKind::Write { paths } => self.each(paths, call, |path, meanings| {
                self.judge_write(path, meanings, call.mode)
            }),
            ToolKind::Read { paths } => self.each(paths, call, |path, meanings| {
                self.judge_touches(path, meanings, |place, location| {
                    self.exposes(place, location)
                })
            }),
            ToolKind::Shell { .. } => self.each(&[".".into()], call, |_, meanings| {
                self.judge_directory(&call.cwd, meanings)
            }),
            ToolKind::Fetch { url } if !is_web_address(url) => Err(format!(
                "{url:?} is not on the web; read files with a tool that reads files"
            )),
            ToolKind::Mcp { .. } | ToolKind::Other => self.judge_input(call),
            ToolKind::Fetch { .. } | ToolKind::Malformed { .. } => Ok(()),
        }
    }

    /// Judges a tool that declares no files, such as a browser, by the files that its input names.
    fn judge_input(&self, call: &ToolCall) -> Result<(), String> {
        for file in named_files(call) {
            let (path, is_url) = match &file {
                NamedFile::Url(path) => (path, true),
                NamedFile::Path(path) => (path, false),
            };
            let meanings = match Meanings::of(path, call, &self.project_paths) {
                Ok(meanings) => meanings,
                // Most texts are no paths.
                Err(_) if !is_url && path.is_relative() => continue,
                Err(error) => return Err(format!("{path:?} cannot be followed ({error})")),
            };
            let readable = self.writable();
            let mut places = meanings.places.iter();
            if is_url && places.any(|place| is_outside(place, &readable)) {
                return Err(format!(
                    "{path:?} is outside the project; open files of the project or a local server"
                ));
            }
            self.judge_touches(path, &meanings, |_, _| false)?;
        }
        Ok(())
    }

    fn each(
        &self,
        paths: &[PathBuf],
        call: &ToolCall,
        judge: impl Fn(&Path, &Meanings) -> Result<(), String>,
    ) -> Result<(), String> {
        if paths.is_empty() {
            return Err(format!(
                "{} does not say which files it touches; name them",
                call.name
            ));
        }
        paths
            .iter()
            .try_for_each(|path| match Meanings::of(path, call, &self.project_paths) {
                Ok(meanings) => judge(path, &meanings),
                Err(error) => Err(format!(
                    "{path:?} cannot be followed ({error}); use a path without such links"
                )),
            })
    }

    fn judge_write(&self, path: &Path, meanings: &Meanings, mode: Mode) -> Result<(), String> {
        if meanings.in_unknown_home {
            return Err(format!(
                "{path:?} can be in a home; use a path inside the project"
            ));
        }
        let writable = self.writable();
        for place in &meanings.places {
            if writable.contains(place) {
                return Err(format!(
                    "{path:?} is a whole directory; write to a file in it"
                ));
            }
            if is_outside(place, &writable) {
                let writable = match mode {
                    Mode::Run => "the project or /tmp",
                    // The grants of a sync cover the note only.
                    Mode::Sync => "the project",
                };
                return Err(format!(
                    "{path:?} is outside the project; write inside {writable}"
                ));
            }
            if is_in_session_parent(place) {
                return Err(format!(
                    "{path:?} is in the folder of sessions; write to another place in /tmp"
                ));
            }
            if has_below(place, &writable, ".git") {
                return Err(format!(
                    "{path:?} is the repository's own data; use git commands"
                ));
            }
        }
        self.judge_touches(path, meanings, |_, _| false)
    }

    /// Judges the directory that a shell command runs in: its relative paths start there.
    fn judge_directory(&self, directory: &Path, meanings: &Meanings) -> Result<(), String> {
        let writable = self.writable();
        for place in &meanings.places {
            if is_outside(place, &writable) {
                return Err(format!(
                    "{directory:?} is outside the project; run commands inside the project or /tmp"
                ));
            }
            let mut protected = ProjectPaths::STATE_FOLDERS.into_iter().chain([".git"]);
            if protected.any(|name| has_below(place, &writable, name))
                || is_in_session_parent(place)
            {
                return Err(format!(
                    "{directory:?} is no directory for commands; run them in the project"
                ));
            }
        }
        Ok(())
    }

    fn judge_touches(
        &self,
        path: &Path,
        meanings: &Meanings,
        exposes: impl Fn(&Path, &Path) -> bool,
    ) -> Result<(), String> {
        let home = self.project_paths.home.as_deref();
        let homes = [Some(home), meanings.in_unknown_home.then_some(None)];
        for home in homes.into_iter().flatten() {
            // The many places of credentials are looked up once for all meanings.
            let credentials = self.credentials.locate(home);
            for place in &meanings.places {
                for touch in credentials.touches(place) {
                    judge_touch(path, &touch, |location| exposes(place, location))?;
                }
            }
        }
        Ok(())
    }

    /// Tells whether a search in `place` would come to the credentials at `location`.
    fn exposes(&self, place: &Path, location: &Path) -> bool {
        if std::fs::metadata(place).is_ok_and(|found| !found.is_dir()) {
            return false;
        }
        let in_project = both_forms(&self.project_paths.project)
            .iter()
            .any(|root| place.starts_with(root));
        let pattern = location.to_string_lossy().contains('*');
        !in_project || pattern || std::fs::symlink_metadata(location).is_ok()
    }

    fn writable(&self) -> Vec<PathBuf> {
        let project = self.project_paths.project.as_path();
        let roots = [project, Path::new(ProjectPaths::TEMPORARY)];
        roots.into_iter().flat_map(both_forms).collect()
    }
}

#[async_trait]
impl PreToolUseHook for FileScope {
    fn name(&self) -> &str {
        "file-scope"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        match self.judge(call) {
            Ok(()) => HookDecision::Pass,
            Err(reason) => HookDecision::block(reason),
        }
    }
}

fn judge_touch(
    path: &Path,
    touch: &Touch<'_>,
    exposes: impl Fn(&Path) -> bool,
) -> Result<(), String> {
    match touch {
        Touch::Inside { place } => Err(format!(
            "{path:?} is a place of credentials ({place}); work without it"
        )),
        Touch::Above { place, location } if exposes(location) => Err(format!(
            "{path:?} contains the credentials in {place}; search a smaller directory"
        )),
        Touch::Above { .. } => Ok(()),
    }
}

/// Returns whether `place` is the folder of sessions in `/tmp`, or lies in it.
fn is_in_session_parent(place: &Path) -> bool {
    let roots = both_forms(Path::new(ProjectPaths::TEMPORARY));
    let mut below = roots
        .iter()
        .filter_map(|root| place.strip_prefix(root).ok());
    below.any(|below| {
        let name = below.components().next();
        name.is_some_and(|name| {
            ProjectPaths::is_session_parent(&folded(&name.as_os_str().to_string_lossy()))
        })
    })
}

fn is_outside(place: &Path, roots: &[PathBuf]) -> bool {
    !roots.iter().any(|root| place.starts_with(root))
}

/// Tells whether `place` has the component `name` below the roots that it is in.
fn has_below(place: &Path, roots: &[PathBuf], name: &str) -> bool {
    // Where one root is in another, the path below the inner one counts.
    roots
        .iter()
        .filter_map(|root| place.strip_prefix(root).ok())
        .all(|below| components(&below.to_string_lossy()).any(|part| spells(part, name)))
}

/// Tells whether every client reads `url` as one of HTTP: some drop blanks and what nobody sees.
fn is_web_address(url: &str) -> bool {
    let url: String = visible(url).split_whitespace().collect();
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests;
