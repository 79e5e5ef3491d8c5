//! The directories in which a command may run.

use std::borrow::Cow;

use super::path;
use crate::syntax::Few;

/// The most directories that are told apart. Each `cd` whose success is not
/// known doubles them.
const MOST: usize = 16;

/// The virtual directory: where a command runs, as far as the text tells.
///
/// After `cd a; ls` it is not known whether `cd` succeeded, so both
/// directories are possible, and what follows must be right in each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directories<'p> {
    project: &'p str,
    /// A symlink to the project.
    link: Option<&'p str>,
    possible: Few<Cow<'p, str>>,
    /// Any directory below the possible ones is possible as well: a loop went down.
    and_below: bool,
}

impl<'p> Directories<'p> {
    /// Begins at the root of the project.
    pub(crate) fn at(project: &'p str) -> Self {
        Self {
            project,
            link: None,
            possible: Few::from(Cow::Borrowed(project)),
            and_below: false,
        }
    }

    /// Sets a symlink to the project. Absolute paths through it count as paths of the project.
    pub(crate) fn link(mut self, link: Option<&'p str>) -> Self {
        self.link = link;
        self
    }

    /// Returns the place of `path` in each possible directory; `None` when one of them is not known.
    pub(crate) fn resolve(&self, path: &str) -> Option<Few<String>> {
        if self.and_below && !path.starts_with('/') && !path::stays_below(path) {
            return None;
        }
        let mut places = Few::default();
        for base in &self.possible {
            places.push(match self.below_link(path) {
                Some(below) => path::resolve(self.project, below),
                None => path::resolve(base, path),
            });
        }
        Some(places)
    }

    /// Returns whether `holds` for the place of `path` in each possible directory; `false` when one
    /// of them is not known.
    pub(crate) fn every_place(&self, path: &str, holds: impl Fn(&str) -> bool) -> bool {
        let places = self.resolve(path);
        places.is_some_and(|places| places.iter().all(|place| holds(place)))
    }

    /// Returns the part of `path` below the link, relative to the project.
    ///
    /// A path with `..` has none, because the system follows the link before `..`.
    fn below_link<'t>(&self, path: &'t str) -> Option<&'t str> {
        let below = path.strip_prefix(self.link?)?;
        let is_below = below.is_empty() || below.starts_with('/');
        let goes_up = below.split('/').any(|name| name == "..");
        (is_below && !goes_up).then(|| below.trim_start_matches('/'))
    }

    /// Returns the one directory, if there is only one.
    pub(crate) fn only(&self) -> Option<&str> {
        match (&self.possible[..], self.and_below) {
            ([one], false) => Some(one),
            _ => None,
        }
    }

    /// Makes the directories that `path` leads to.
    pub(crate) fn entered(&self, path: &str) -> Option<Self> {
        if self.and_below && path::stays_below(path) {
            return Some(self.clone());
        }
        let mut entered = Self {
            project: self.project,
            link: self.link,
            possible: Few::default(),
            and_below: self.and_below && !path.starts_with('/'),
        };
        for place in self.resolve(path)? {
            entered.add(Cow::Owned(place));
        }
        Some(entered)
    }

    /// Makes any directory of the project and below `/tmp`, for a command that runs later.
    pub(crate) fn anywhere(&self) -> Self {
        let mut anywhere = Self::at(self.project).link(self.link);
        anywhere.add(Cow::Borrowed("/tmp"));
        anywhere.and_below = true;
        anywhere
    }

    /// Makes the directories below `folder`, of which the text does not tell which one it is.
    pub(crate) fn entered_below(&self, folder: &str) -> Option<Self> {
        let mut entered = self.entered(folder)?;
        entered.and_below = true;
        Some(entered)
    }

    /// Makes the directories that may be the top of the repository in which the shell is: each of
    /// them up to the project, or up to `/tmp`.
    pub(crate) fn top_levels(&self) -> Self {
        let mut tops = self.clone();
        for directory in &self.possible {
            let end = if path::is_within(directory, self.project) {
                self.project
            } else {
                "/tmp"
            };
            let mut place: &str = directory;
            while place.len() > end.len() && path::is_within(place, end) {
                place = &place[..place.rfind('/').unwrap_or(0)];
                tops.add(Cow::Owned(place.to_owned()));
            }
        }
        if self.and_below {
            tops.add(Cow::Borrowed(self.project));
        }
        tops
    }

    /// Returns whether every possible directory lies in the project.
    pub(crate) fn is_in_project(&self) -> bool {
        let mut possible = self.possible.iter();
        possible.all(|place| path::is_within(place, self.project))
    }

    /// Returns whether a possible directory lies neither in the project nor below `/tmp`.
    pub(crate) fn may_be_outside(&self) -> bool {
        self.possible
            .iter()
            .any(|place| !path::is_within(place, self.project) && !path::is_within(place, "/tmp"))
    }

    /// Makes the directories of `other` possible as well.
    pub(crate) fn include(&mut self, other: &Self) {
        self.and_below |= other.and_below;
        for directory in &other.possible {
            self.add(directory.clone());
        }
    }

    /// Makes everything below possible as well.
    pub(crate) fn include_below(&mut self) {
        self.and_below = true;
    }

    fn add(&mut self, directory: Cow<'p, str>) {
        let known = self.possible.iter().any(|known| {
            *known == directory || (self.and_below && path::is_within(&directory, known))
        });
        if !known {
            self.possible.push(directory);
        }
        if self.possible.len() > MOST {
            self.widen();
        }
    }

    /// Gives up telling the directories apart.
    fn widen(&mut self) {
        let all = std::mem::take(&mut self.possible);
        self.and_below = true;
        for directory in all {
            let top = if path::is_within(&directory, self.project) {
                Cow::Borrowed(self.project)
            } else {
                Cow::Borrowed("/tmp")
            };
            if !self.possible.contains(&top) {
                self.possible.push(top);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(directories: &Directories<'_>, path: &str) -> Vec<String> {
        let places = directories.resolve(path).expect("known");
        places.into_iter().collect()
    }

    #[test]
    fn a_path_is_resolved_in_every_possible_directory() {
        let mut directories = Directories::at("/p");
        let entered = directories.entered("src").expect("known");
        assert_eq!(entered.only(), Some("/p/src"));

        directories.include(&entered);

        assert_eq!(places(&directories, "../a"), ["/a", "/p/a"]);
        assert_eq!(directories.only(), None);
    }

    #[test]
    fn a_path_through_the_link_is_a_path_of_the_project() {
        let directories = Directories::at("/data/p").link(Some("/home/link"));
        for (path, place) in [
            ("/home/link", "/data/p"),
            ("/home/link/", "/data/p"),
            ("/home/link//a/./b", "/data/p/a/b"),
            ("/home/link/..", "/home"),
            ("/home/link/../link/a", "/home/link/a"),
            ("/home/linked/a", "/home/linked/a"),
            ("/home/other", "/home/other"),
            ("a", "/data/p/a"),
        ] {
            assert_eq!(places(&directories, path), [place], "{path}");
        }
        let entered = directories.entered("/home/link/src").expect("known");
        assert_eq!(entered.only(), Some("/data/p/src"));
        assert_eq!(places(&entered, "/home/link/a"), ["/data/p/a"]);
    }

    #[test]
    fn too_many_possible_directories_become_one_with_all_below() {
        let mut directories = Directories::at("/p");
        for name in ["a", "b", "c", "d", "e", "f"] {
            let entered = directories.entered(name).expect("known");
            directories.include(&entered);
        }

        assert_eq!(places(&directories, "x"), ["/p/x"]);
        assert!(directories.resolve("../x").is_none());
    }

    #[test]
    fn below_an_unknown_depth_no_path_goes_up() {
        let mut directories = Directories::at("/p");
        directories.include_below();

        assert!(directories.resolve("../a").is_none());
        assert_eq!(places(&directories, "a"), ["/p/a"]);
        let deeper = directories.entered("src").expect("known");
        directories.include(&deeper);
        assert_eq!(places(&directories, "a"), ["/p/a"], "it is covered already");
    }
}
