//! [`FileScope`], the guard that limits writes to the project and `/tmp` and protects credentials.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::PathGuard;
use super::credential_paths::{CredentialPaths, Touch};
use super::file_name::{components, fold_name, is_spelling_of};
use super::tool_input::{NamedFile, named_files};
use crate::gate::lexical_path::path_candidates::PathCandidates;
use crate::gate::lexical_path::resolver::Resolver;
use crate::gate::lexical_path::strip_invisible;
use crate::gate::{HookDecision, PreToolUseHook, ProjectPaths};
use crate::time::Mode;
use crate::tool::{ToolCall, ToolKind};

/// Blocks writes outside of the project and `/tmp`, and every access to credentials.
///
/// In `/tmp`, the parent directory of session directories ([`ProjectPaths::is_session_parent`]) is
/// not writable, because backends keep scripts and settings there. Shell commands must run inside
/// the writable directories, too; the Bash policy decides what they may do there. Only web URLs may
/// be fetched. A tool that declares no files, such as a browser, must not name credentials in its
/// input, and may only open `file:` URLs of the project and `/tmp`.
///
/// Reads are allowed apart from [`CREDENTIAL_PATHS`](autonoe_security::CREDENTIAL_PATHS), which the Bash policy protects, too. A search
/// in a directory that contains such a path would read it and is blocked. Inside the project, such a search is allowed while
/// nothing exists at that path, so that a project that is a home directory can be searched. Only
/// git may write the repository data in `.git`.
///
/// Paths are checked as written and with symlinks resolved, at the time of the call. The sandbox
/// must guard against changes of a path between the check and its use.
///
/// ```
/// use autonoe_core::gate::{FileScope, ProjectPaths};
/// use autonoe_core::{HookDecision, PreToolUseHook, ToolCall};
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
    credentials: CredentialPaths,
}

impl FileScope {
    /// Creates a guard for `project_paths`.
    pub fn new(project_paths: ProjectPaths) -> Self {
        Self {
            credentials: CredentialPaths::new(project_paths.home.as_deref()),
            project_paths,
        }
    }

    pub(super) fn evaluate(&self, call: &ToolCall, resolver: &Resolver) -> Result<(), String> {
        match &call.kind {
            ToolKind::Write { paths } => self.each(paths, call, resolver, |path, candidates| {
                self.judge_write(path, candidates, call.mode, resolver)
            }),
            ToolKind::Read { paths } => self.each(paths, call, resolver, |path, candidates| {
                self.judge_touches(path, candidates, resolver, |place, location| {
                    self.exposes(place, location, resolver)
                })
            }),
            ToolKind::Shell { .. } => self.each(&[".".into()], call, resolver, |_, candidates| {
                self.judge_directory(&call.cwd, candidates, resolver)
            }),
            ToolKind::Fetch { url } if !is_web_address(url) => Err(format!(
                "{url:?} is not a web address; use a tool for reading files"
            )),
            ToolKind::Mcp { .. } | ToolKind::Other => self.judge_input(call, resolver),
            ToolKind::Fetch { .. } | ToolKind::Malformed { .. } => Ok(()),
        }
    }

    /// Checks a tool that declares no files, such as a browser, by the files that its input names.
    fn judge_input(&self, call: &ToolCall, resolver: &Resolver) -> Result<(), String> {
        for file in named_files(call) {
            let (path, is_url) = match &file {
                NamedFile::Url(path) => (path, true),
                NamedFile::Path(path) => (path, false),
            };
            let candidates = match PathCandidates::locate(path, call, &self.project_paths, resolver)
            {
                Ok(candidates) => candidates,
                // Most texts are not paths.
                Err(_) if !is_url && path.is_relative() => continue,
                Err(error) => return Err(format!("{path:?} cannot be resolved ({error})")),
            };
            let readable = self.writable(resolver);
            let mut places = candidates.paths.iter();
            if is_url && places.any(|place| is_outside(place, &readable)) {
                return Err(format!(
                    "{path:?} is outside the project; open files of the project or a local server"
                ));
            }
            self.judge_touches(path, &candidates, resolver, |_, _| false)?;
        }
        Ok(())
    }

    fn each(
        &self,
        paths: &[PathBuf],
        call: &ToolCall,
        resolver: &Resolver,
        judge: impl Fn(&Path, &PathCandidates) -> Result<(), String>,
    ) -> Result<(), String> {
        if paths.is_empty() {
            return Err(format!(
                "{} does not say which files it touches; name them",
                call.name
            ));
        }
        paths.iter().try_for_each(|path| {
            match PathCandidates::locate(path, call, &self.project_paths, resolver) {
                Ok(candidates) => judge(path, &candidates),
                Err(error) => Err(format!(
                    "{path:?} cannot be resolved ({error}); use a path without such links"
                )),
            }
        })
    }

    fn judge_write(
        &self,
        path: &Path,
        candidates: &PathCandidates,
        mode: Mode,
        resolver: &Resolver,
    ) -> Result<(), String> {
        if candidates.in_unknown_home {
            return Err(format!(
                "{path:?} may be in a home directory; use a path inside the project"
            ));
        }
        let writable = self.writable(resolver);
        for place in &candidates.paths {
            if writable.contains(place) {
                return Err(format!("{path:?} is a directory; write to a file in it"));
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
            if is_in_session_parent(place, resolver) {
                return Err(format!(
                    "{path:?} is in Autonoe's folder for sessions; write to another place in /tmp"
                ));
            }
            if has_below(place, &writable, ".git") {
                return Err(format!(
                    "{path:?} is internal data of the Git repository; use git commands"
                ));
            }
        }
        self.judge_touches(path, candidates, resolver, |_, _| false)
    }

    /// Checks the working directory of a shell command, where its relative paths start.
    fn judge_directory(
        &self,
        directory: &Path,
        candidates: &PathCandidates,
        resolver: &Resolver,
    ) -> Result<(), String> {
        let writable = self.writable(resolver);
        for place in &candidates.paths {
            if is_outside(place, &writable) {
                return Err(format!(
                    "{directory:?} is outside the project; run commands inside the project or /tmp"
                ));
            }
            let mut protected = ProjectPaths::STATE_FOLDERS.into_iter().chain([".git"]);
            if protected.any(|name| has_below(place, &writable, name))
                || is_in_session_parent(place, resolver)
            {
                return Err(format!(
                    "commands must not run in {directory:?}; run them in the project"
                ));
            }
        }
        Ok(())
    }

    fn judge_touches(
        &self,
        path: &Path,
        candidates: &PathCandidates,
        resolver: &Resolver,
        exposes: impl Fn(&Path, &Path) -> bool,
    ) -> Result<(), String> {
        // The credentials are located once for all candidates.
        let credentials = self.credentials.locate(resolver);
        for place in &candidates.paths {
            for touch in credentials.touches(place, candidates.in_unknown_home) {
                judge_touch(path, &touch, |location| exposes(place, location))?;
            }
        }
        Ok(())
    }

    /// Returns whether a search in `place` would read the credentials at `location`.
    fn exposes(&self, place: &Path, location: &Path, resolver: &Resolver) -> bool {
        if std::fs::metadata(place).is_ok_and(|metadata| !metadata.is_dir()) {
            return false;
        }
        let in_project = resolver
            .lexical_and_resolved(&self.project_paths.project)
            .iter()
            .any(|root| place.starts_with(root));
        let pattern = location.to_string_lossy().contains('*');
        !in_project || pattern || std::fs::symlink_metadata(location).is_ok()
    }

    fn writable(&self, resolver: &Resolver) -> Vec<PathBuf> {
        let project = self.project_paths.project.as_path();
        let roots = [project, Path::new(ProjectPaths::TEMPORARY)];
        roots
            .into_iter()
            .flat_map(|root| resolver.lexical_and_resolved(root))
            .collect()
    }
}

#[async_trait]
impl PreToolUseHook for FileScope {
    fn name(&self) -> &str {
        "file-scope"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        PathGuard::FileScope(self).judge(call, &Resolver::default())
    }

    fn as_path_guard(&self) -> Option<PathGuard<'_>> {
        Some(PathGuard::FileScope(self))
    }
}

fn judge_touch(path: &Path, touch: &Touch, exposes: impl Fn(&Path) -> bool) -> Result<(), String> {
    match touch {
        Touch::Inside { place } => Err(format!(
            "{path:?} is a location of credentials ({place}); work without it"
        )),
        Touch::Above { place, location } if exposes(location) => Err(format!(
            "{path:?} contains the credentials in {place}; search a smaller directory"
        )),
        Touch::Above { .. } => Ok(()),
    }
}

/// Returns whether `place` is the parent directory of sessions in `/tmp`, or is inside of it.
fn is_in_session_parent(place: &Path, resolver: &Resolver) -> bool {
    let roots = resolver.lexical_and_resolved(Path::new(ProjectPaths::TEMPORARY));
    let mut below = roots
        .iter()
        .filter_map(|root| place.strip_prefix(root).ok());
    below.any(|below| {
        let name = below.components().next();
        name.is_some_and(|name| {
            ProjectPaths::is_session_parent(&fold_name(&name.as_os_str().to_string_lossy()))
        })
    })
}

fn is_outside(place: &Path, roots: &[PathBuf]) -> bool {
    !roots.iter().any(|root| place.starts_with(root))
}

/// Returns whether `place` has the component `name` below the roots that contain it.
fn has_below(place: &Path, roots: &[PathBuf], name: &str) -> bool {
    // If one root contains another, the path below the inner one counts.
    roots
        .iter()
        .filter_map(|root| place.strip_prefix(root).ok())
        .all(|below| components(&below.to_string_lossy()).any(|part| is_spelling_of(part, name)))
}

/// Returns whether every client reads `url` as an HTTP URL. Some clients drop blanks and invisible
/// characters.
fn is_web_address(url: &str) -> bool {
    let url: String = strip_invisible(url).split_whitespace().collect();
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests;
