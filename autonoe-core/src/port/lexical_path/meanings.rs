//! All the places that a path of a call can mean.

use std::io;
use std::path::{Path, PathBuf};

use super::resolve::resolve;
use super::visible::trimmed;
use super::{Start, normalise, start_of};
use crate::port::{Places, ToolCall};

/// All the places that a path of a call can mean.
///
/// Tools differ in what they make of a path: some trim it, some expand `~`, some
/// take `\` as a separator, some drop `..` before they follow symlinks and some
/// after. A guard has to like every reading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Meanings {
    /// Absolute and normal paths, as written and with symlinks followed.
    pub(crate) places: Vec<PathBuf>,
    /// Whether it can also be in a home that is not known.
    pub(crate) in_unknown_home: bool,
}

impl Meanings {
    /// Finds out what `path` of `call` can mean.
    ///
    /// # Errors
    ///
    /// A symlink in it leads nowhere.
    // The few `lstat` calls in here do not wait for long, so they stay on the
    // thread of the caller: a task of its own would cost more.
    pub(crate) fn of(path: &Path, call: &ToolCall, places: &Places) -> io::Result<Self> {
        let mut meanings = Self {
            places: Vec::new(),
            in_unknown_home: false,
        };
        let cwd = places.project.join(&call.cwd);
        meanings.add_spelling(path, &cwd, places)?;
        let text = path.to_string_lossy();
        let trimmed = trimmed(&text);
        if trimmed.len() < text.len() {
            meanings.add_spelling(Path::new(trimmed), &cwd, places)?;
        }
        if trimmed.contains('\\') {
            meanings.add_spelling(Path::new(&trimmed.replace('\\', "/")), &cwd, places)?;
        }
        Ok(meanings)
    }

    fn add_spelling(&mut self, path: &Path, cwd: &Path, places: &Places) -> io::Result<()> {
        self.add_place(&cwd.join(path))?;
        match (start_of(path), &places.home) {
            (Start::Here, _) => Ok(()),
            (Start::Home(rest), Some(home)) => self.add_place(&home.join(rest)),
            (Start::Home(_), None) | (Start::OtherHome, _) => {
                self.in_unknown_home = true;
                Ok(())
            }
        }
    }

    fn add_place(&mut self, path: &Path) -> io::Result<()> {
        let lexical = normalise(path);
        for place in [resolve(path)?, resolve(&lexical)?, lexical] {
            if !self.places.contains(&place) {
                self.places.push(place);
            }
        }
        Ok(())
    }
}

/// Returns `path` as it is written and as it is with symlinks followed.
///
/// A directory of ours that cannot be resolved is known by its text only.
pub(crate) fn both_forms(path: &Path) -> Vec<PathBuf> {
    let mut forms = vec![normalise(path)];
    if let Ok(resolved) = resolve(path)
        && !forms.contains(&resolved)
    {
        forms.push(resolved);
    }
    forms
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meanings(path: &str, places: &Places) -> Meanings {
        let call = ToolCall::new("Read", json!({})).in_dir("/srv/project");
        Meanings::of(Path::new(path), &call, places).expect("it can be resolved")
    }

    #[test]
    fn a_tilde_can_be_a_name_or_the_home() {
        let with_home = Places::new("/srv/project").with_home("/no-home/user");

        let known = meanings("~/a", &with_home);
        let unknown = meanings("~/a", &Places::new("/srv/project"));

        assert!(!known.in_unknown_home);
        assert_eq!(
            known.places,
            [Path::new("/srv/project/~/a"), Path::new("/no-home/user/a")]
        );
        assert!(unknown.in_unknown_home);
        assert!(meanings("~other/a", &with_home).in_unknown_home);
    }

    #[test]
    fn blanks_around_it_can_be_trimmed() {
        let places = Places::new("/srv/project").with_home("/no-home/user");

        assert_eq!(
            meanings(" /no-etc/a", &places).places,
            [Path::new("/srv/project/ /no-etc/a"), Path::new("/no-etc/a")]
        );
        assert!(
            meanings("\t~/a\u{200b}", &places)
                .places
                .contains(&PathBuf::from("/no-home/user/a"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_backslash_can_be_a_letter_or_a_separator() {
        let found = meanings("..\\..\\x", &Places::new("/srv/project"));

        assert_eq!(
            found.places,
            [Path::new("/srv/project/..\\..\\x"), Path::new("/x")]
        );
    }
}
