//! Which program can serve which session.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use autonoe_backend::Walls;
use autonoe_core::{ProjectPaths, RunId, SessionSpec};
use autonoe_process::refuse_bare_repositories;

use super::config_file::config_file;
use super::{CodexHome, CodexOptions};

/// All that a program was started with and cannot be told otherwise later.
///
/// A program can serve a session if it would be started in the very same way for it.
#[derive(Debug)]
pub(crate) struct Fit {
    run: RunId,
    program: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    config: String,
    cwd: PathBuf,
    home: CodexHome,
    /// The sandbox around it; `None` if there is none.
    walls: Option<Walls>,
    /// What is at the paths that it was started with: mounts hold on to what was there.
    found: Vec<(PathBuf, Option<(u64, u64)>)>,
    lock: Option<Weak<File>>,
}

impl Fit {
    /// Says how the program for `spec` is to be started.
    pub(crate) fn of(options: &CodexOptions, spec: &SessionSpec, is_enclosed: bool) -> Self {
        Self {
            run: spec.key.run.clone(),
            program: options.program.clone(),
            environment: lasting_environment(options, spec),
            config: config_file(options, &spec.cwd),
            cwd: spec.cwd.clone(),
            home: options.home.clone(),
            walls: is_enclosed.then(|| options.walls.clone()),
            found: found(options, &spec.cwd),
            lock: spec.lock.as_ref().map(Arc::downgrade),
        }
    }

    /// Tells whether the program is in a sandbox of ours.
    pub(crate) fn is_enclosed(&self) -> bool {
        self.walls.is_some()
    }

    /// Tells whether a program that was started in this way serves a session that needs `other`.
    pub(crate) fn serves(&self, other: &Self) -> bool {
        let is_same_lock = match (&self.lock, &other.lock) {
            (Some(one), Some(other)) => one.ptr_eq(other),
            (None, None) => true,
            _ => false,
        };
        is_same_lock
            && self.run == other.run
            && self.program == other.program
            && self.environment == other.environment
            && self.config == other.config
            && self.cwd == other.cwd
            && self.home == other.home
            && self.walls == other.walls
            && self.found == other.found
    }

    /// Tells whether a program that was started in this way is of no use to anybody once one that
    /// is started as `other` says works in its place.
    pub(crate) fn is_outdated_by(&self, other: &Self) -> bool {
        self.run == other.run && self.cwd == other.cwd && !self.serves(other)
    }
}

/// Returns the environment of a program beside the folders that are its own.
///
/// The trace of a session is not part of it: a program outlives the session, so the
/// commands of a session get its trace when it starts. Credentials are not part of it either: the
/// key of the provider is part of the settings of a conversation.
pub(super) fn lasting_environment(
    options: &CodexOptions,
    spec: &SessionSpec,
) -> BTreeMap<OsString, OsString> {
    let filter = &spec.credential_filter;
    let mut environment = options.environment.clone();
    filter.apply(&mut environment);
    let own = spec.environment.iter();
    environment.extend(own.map(|(name, value)| (name.into(), value.into())));
    if let Some(provider) = &options.provider {
        let key = OsStr::new(&provider.key_variable);
        if !filter.allows(key) {
            environment.remove(key);
        }
    }
    refuse_bare_repositories(&mut environment);
    environment
}

/// Looks what is at each path that matters to the start of the program.
fn found(options: &CodexOptions, cwd: &Path) -> Vec<(PathBuf, Option<(u64, u64)>)> {
    let walls = &options.walls;
    let kept = match &options.home {
        CodexHome::PerSession => Vec::new(),
        CodexHome::Kept(kept) => vec![kept.join("auth.json"), kept.join("sessions")],
    };
    let own = [options.program.clone(), cwd.to_owned()];
    let own = own.into_iter();
    let own = own.chain(ProjectPaths::STATE_FOLDERS.map(|name| cwd.join(name)));
    let others = [&walls.writable, &walls.readable, &walls.hidden];
    let others = others.into_iter().flatten().cloned();
    let all = own.chain(kept).chain(others);
    all.map(|path| {
        let found = fs::metadata(&path).ok();
        (path, found.map(|found| (found.dev(), found.ino())))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use autonoe_core::{Gate, Grants, SessionKey, Toolbox};

    use super::*;

    fn spec(cwd: &Path) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new(cwd), Grants::none());
        SessionSpec::new(key, cwd, gate, Toolbox::new([]))
    }

    fn serves(options: &CodexOptions, first: &Fit, then: &SessionSpec) -> bool {
        first.serves(&Fit::of(options, then, true))
    }

    #[test]
    fn a_program_serves_whoever_would_start_it_in_the_same_way() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = CodexOptions::new("/opt/codex", []);
        let file = Arc::new(tempfile::tempfile().expect("a file"));
        let mut first = spec(folder.path());
        first.lock = Some(file);
        let fit = Fit::of(&options, &first, true);

        let mut next = first.clone();
        next.key.number = 2;
        next.model = Some("another".into());
        next.system_prompt = Some("Be brief.".into());
        assert!(serves(&options, &fit, &next));

        type Change = fn(&mut SessionSpec);
        let changes: [Change; 5] = [
            |spec| spec.key.run = RunId::new("other"),
            |spec| spec.cwd = "/".into(),
            |spec| drop(spec.environment.insert("A".into(), "b".into())),
            |spec| spec.lock = None,
            |spec| spec.lock = tempfile::tempfile().ok().map(Arc::new),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut other = first.clone();
            change(&mut other);
            assert!(!serves(&options, &fit, &other), "{number}");
        }
        assert!(!fit.serves(&Fit::of(&options, &first, false)));
    }

    #[test]
    fn what_has_come_or_gone_or_was_replaced_needs_a_new_sandbox() {
        let folder = tempfile::tempdir().expect("a folder");
        let (secret, ours) = (folder.path().join("key"), folder.path().join(".autonoe"));
        let mut options = CodexOptions::new("/opt/codex", []);
        options.walls.hidden.push(secret.clone());
        let spec = spec(folder.path());
        let fit = Fit::of(&options, &spec, true);
        assert!(serves(&options, &fit, &spec));

        fs::write(&secret, "hush").expect("writable");
        assert!(!serves(&options, &fit, &spec));

        let fit = Fit::of(&options, &spec, true);
        fs::create_dir(&ours).expect("writable");
        assert!(!serves(&options, &fit, &spec));

        let fit = Fit::of(&options, &spec, true);
        fs::rename(&ours, folder.path().join("away")).expect("writable");
        fs::create_dir(&ours).expect("writable");
        assert!(!serves(&options, &fit, &spec));
    }
}
