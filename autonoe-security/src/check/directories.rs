//! The possible working directories of a command.

use std::borrow::Cow;
use std::fmt;

use super::path;
use crate::ResolveSymlinks;
use crate::syntax::SmallVec;

/// Maximum number of distinguished directories. Each `cd` that may fail doubles them.
const MOST: usize = 16;

/// The virtual working directory of a command, as far as the text determines it.
///
/// After `cd a; ls` it is unknown whether `cd` succeeded, so both directories are possible, and the
/// following commands must be allowed in each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directories<'p> {
    project: &'p str,
    /// A symlink to the project.
    link: Option<&'p str>,
    symlinks: Symlinks<'p>,
    possible: SmallVec<Cow<'p, str>>,
    /// Whether any directory below the possible ones is possible as well, because a loop descended.
    and_below: bool,
    /// The directories before the last `cd`, if the text proves that it succeeded.
    previous: Option<SmallVec<Cow<'p, str>>>,
}

/// Resolves symlinks in front of `..`, if there is a resolver.
#[derive(Clone, Copy, Default)]
struct Symlinks<'p>(Option<&'p dyn ResolveSymlinks>);

impl fmt::Debug for Symlinks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Symlinks").field(&self.0.is_some()).finish()
    }
}

/// A validator has one resolver.
impl PartialEq for Symlinks<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Symlinks<'_> {}

impl Symlinks<'_> {
    /// Returns the location of `path` relative to `base`, as the system finds it: `..` goes up from
    /// where a symlink leads. `None` without a resolver, and for a path without `..`.
    fn resolve(self, base: &str, path: &str) -> Option<String> {
        let symlinks = self.0?;
        if !path.split('/').any(|name| name == "..") {
            return None;
        }
        let mut place = if path.starts_with('/') { "/" } else { base }.to_owned();
        for name in path.split('/') {
            if name == ".."
                && let Some(real) = symlinks.resolve(&place)
            {
                place = real;
            }
            place = path::resolve(&place, name);
        }
        Some(place)
    }
}

impl<'p> Directories<'p> {
    /// Starts at the root of the project.
    pub(crate) fn at(project: &'p str) -> Self {
        Self {
            project,
            link: None,
            symlinks: Symlinks::default(),
            possible: SmallVec::from(Cow::Borrowed(project)),
            and_below: false,
            previous: None,
        }
    }

    /// Sets a symlink to the project. Absolute paths through it count as paths of the project.
    pub(crate) fn link(mut self, link: Option<&'p str>) -> Self {
        self.link = link;
        self
    }

    /// Sets the resolver of symlinks.
    pub(crate) fn symlinks(mut self, symlinks: Option<&'p dyn ResolveSymlinks>) -> Self {
        self.symlinks = Symlinks(symlinks);
        self
    }

    /// Returns whether `path` goes up behind a name that may be a symlink, outside of the project
    /// and `/tmp`.
    pub(crate) fn ascends_past_link(&self, path: &str) -> bool {
        let mut possible = self.possible.iter();
        possible.any(|base| path::ascends_past_link(base, path, self.project))
    }

    /// Returns the location of `path` from each possible directory; `None` if one of them is
    /// unknown. With a resolver, a path with `..` has two: by its text, and as the system finds it.
    pub(crate) fn resolve(&self, path: &str) -> Option<SmallVec<String>> {
        if self.and_below && !path.starts_with('/') && !path::stays_below(path) {
            return None;
        }
        let mut places = SmallVec::default();
        for base in &self.possible {
            if let Some(below) = self.below_link(path) {
                places.push(path::resolve(self.project, below));
                continue;
            }
            let place = path::resolve(base, path);
            // Both must be allowed, so that a resolver never allows more.
            let real = self.symlinks.resolve(base, path);
            if let Some(real) = real.filter(|real| *real != place) {
                places.push(real);
            }
            places.push(place);
        }
        Some(places)
    }

    /// Returns whether `holds` is true for the location of `path` from each possible directory;
    /// `false` if one of them is unknown.
    pub(crate) fn all_locations(&self, path: &str, holds: impl Fn(&str) -> bool) -> bool {
        let places = self.resolve(path);
        places.is_some_and(|places| places.iter().all(|place| holds(place)))
    }

    /// Returns the part of `path` below the link, relative to the project.
    ///
    /// A path with `..` has none, because the system follows the link before `..`.
    fn below_link<'t>(&self, path: &'t str) -> Option<&'t str> {
        let below = path.strip_prefix(self.link?)?;
        let is_below = below.is_empty() || below.starts_with('/');
        let ascends = below.split('/').any(|name| name == "..");
        (is_below && !ascends).then(|| below.trim_start_matches('/'))
    }

    /// Returns the directory, if only one is possible.
    pub(crate) fn only(&self) -> Option<&str> {
        match (&self.possible[..], self.and_below) {
            ([one], false) => Some(one),
            _ => None,
        }
    }

    /// Returns the directories after `cd path`.
    pub(crate) fn enter(&self, path: &str) -> Option<Self> {
        if self.and_below && path::stays_below(path) {
            let mut entered = self.clone();
            entered.previous = None;
            return Some(entered);
        }
        let mut entered = Self {
            project: self.project,
            link: self.link,
            symlinks: self.symlinks,
            possible: SmallVec::default(),
            and_below: self.and_below && !path.starts_with('/'),
            previous: (!self.and_below).then(|| self.possible.clone()),
        };
        for place in self.resolve(path)? {
            entered.add(Cow::Owned(place));
        }
        Some(entered)
    }

    /// Returns the directories after `cd -`; `None` if an earlier `cd` may have failed, because then
    /// the previous directory is that of the process that started the shell.
    pub(crate) fn enter_previous(&self) -> Option<Self> {
        let mut entered = self.clone();
        entered.possible = self.previous.clone()?;
        entered.previous = Some(self.possible.clone());
        Some(entered)
    }

    /// Returns any directory of the project and below `/tmp`, for a command that runs later.
    pub(crate) fn anywhere(&self) -> Self {
        let mut anywhere = Self::at(self.project).link(self.link);
        anywhere.symlinks = self.symlinks;
        anywhere.add(Cow::Borrowed("/tmp"));
        anywhere.and_below = true;
        anywhere
    }

    /// Returns the directories below `folder`, if the text does not determine which one it is.
    pub(crate) fn enter_below(&self, folder: &str) -> Option<Self> {
        let mut entered = self.enter(folder)?;
        entered.include_below();
        Some(entered)
    }

    /// Returns the possible top directories of the shell's repository: each directory up to the
    /// project, or up to `/tmp`.
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

    /// Returns whether every possible directory is in the project.
    pub(crate) fn is_in_project(&self) -> bool {
        let mut possible = self.possible.iter();
        possible.all(|place| path::is_within(place, self.project))
    }

    /// Returns whether a possible directory is neither in the project nor below `/tmp`.
    pub(crate) fn may_be_outside(&self) -> bool {
        self.possible
            .iter()
            .any(|place| !path::is_within(place, self.project) && !path::is_within(place, "/tmp"))
    }

    /// Adds the directories of `other`.
    pub(crate) fn include(&mut self, other: &Self) {
        self.and_below |= other.and_below;
        if self.previous != other.previous {
            self.previous = None;
        }
        for directory in &other.possible {
            self.add(directory.clone());
        }
    }

    /// Adds everything below.
    pub(crate) fn include_below(&mut self) {
        self.and_below = true;
        self.previous = None;
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

    /// Stops distinguishing the directories.
    fn widen(&mut self) {
        self.previous = None;
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
        let entered = directories.enter("src").expect("known");
        assert_eq!(entered.only(), Some("/p/src"));

        directories.include(&entered);

        assert_eq!(places(&directories, "../a"), ["/a", "/p/a"]);
        assert_eq!(directories.only(), None);
    }

    #[test]
    fn the_previous_directory_is_known_only_after_a_successful_cd() {
        let directories = Directories::at("/p");
        assert!(directories.enter_previous().is_none());
        let mut entered = directories.enter("src").expect("known");
        let back = entered.enter_previous().expect("known");
        assert_eq!(back.only(), Some("/p"));
        assert_eq!(back.enter_previous().expect("known").only(), Some("/p/src"));

        entered.include(&directories);

        assert!(entered.enter_previous().is_none());
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
        let entered = directories.enter("/home/link/src").expect("known");
        assert_eq!(entered.only(), Some("/data/p/src"));
        assert_eq!(places(&entered, "/home/link/a"), ["/data/p/a"]);
    }

    #[test]
    fn too_many_possible_directories_become_one_with_all_below() {
        let mut directories = Directories::at("/p");
        for name in ["a", "b", "c", "d", "e", "f"] {
            let entered = directories.enter(name).expect("known");
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
        let deeper = directories.enter("src").expect("known");
        directories.include(&deeper);
        assert_eq!(places(&directories, "a"), ["/p/a"], "it is covered already");
    }
}
