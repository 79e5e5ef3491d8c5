//! The pages of the repository and their links to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::Page;
use crate::failure::Failure;

/// The folder of the site, relative to the root of the repository.
pub(super) const FOLDER: &str = "docs";

/// The table of contents of the site.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The page that GitHub shows for a folder.
pub(super) const README: &str = "README.md";

/// The page that a web server shows for a folder.
pub(super) const INDEX: &str = "index.md";

/// Folders below `docs` that have code instead of pages.
const CODE: [&str; 2] = ["docs/consumer", "docs/src"];

/// Ends of the names of files that the site has besides its pages.
const OTHER_FILES: [&str; 5] = ["json", "png", "svg", "txt", "toml"];

/// The repository on the web; links out of the site lead there.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The pages of the site, and those at the root of the repository.
#[derive(Debug)]
pub(super) struct DocTree {
    root: PathBuf,
    /// Each page by its path from the root.
    pages: BTreeMap<PathBuf, Page>,
    /// Every file of the site, by its path from the root.
    site_files: BTreeSet<PathBuf>,
}

impl DocTree {
    /// Reads every page below `docs`, and those beside it.
    pub(super) fn read(root: &Path) -> Result<Self, Failure> {
        let mut tree = Self {
            root: root.to_owned(),
            pages: BTreeMap::new(),
            site_files: BTreeSet::new(),
        };
        for file in list(root, Path::new(""))? {
            if root.join(&file).is_file() {
                tree.add_page(file)?;
            }
        }
        let mut folders = vec![PathBuf::from(FOLDER)];
        while let Some(folder) = folders.pop() {
            for file in list(root, &folder)? {
                if CODE.iter().any(|code| file == Path::new(code)) {
                    continue;
                }
                if root.join(&file).is_dir() {
                    folders.push(file);
                } else if is_of_site(&file) {
                    tree.site_files.insert(file.clone());
                    tree.add_page(file)?;
                }
            }
        }
        Ok(tree)
    }

    fn add_page(&mut self, file: PathBuf) -> Result<(), Failure> {
        if has_end(&file, "md") {
            let path = self.root.join(&file);
            let text = fs::read_to_string(&path).map_err(|source| unreadable(&path, &source))?;
            self.pages.insert(file, Page::parse(text));
        }
        Ok(())
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the files of the site, relative to the root.
    pub(super) fn site_files(&self) -> impl Iterator<Item = &Path> {
        self.site_files.iter().map(PathBuf::as_path)
    }

    pub(super) fn page(&self, file: &Path) -> Option<&Page> {
        self.pages.get(file)
    }

    /// Lists pages that the table of contents lacks, and links to files and headings that are
    /// missing.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let listed: BTreeSet<_> = match self.page(Path::new(SUMMARY)) {
            Some(summary) => summary
                .links()
                .iter()
                .map(|link| resolve(Path::new(SUMMARY), &link.target).0)
                .collect(),
            None => BTreeSet::new(),
        };
        for file in self.site_files().filter(|file| has_end(file, "md")) {
            if file != Path::new(SUMMARY) && !listed.contains(file) {
                problems.push(format!("{}: not in {SUMMARY}", file.display()));
            }
        }
        for (file, page) in &self.pages {
            for link in page.links() {
                if let Some(problem) = self.problem(file, &link.target) {
                    let (file, line, target) = (file.display(), page.line(link), &link.target);
                    problems.push(format!("{file}:{line}: {target}: {problem}"));
                }
            }
        }
        problems
    }

    fn problem(&self, file: &Path, target: &str) -> Option<&'static str> {
        if is_address(target) {
            return None;
        }
        let (path, anchor) = resolve(file, target);
        if !self.root.join(&path).exists() {
            return Some("there is no such file");
        }
        let anchor = anchor?;
        let page = self.page(&path)?;
        (!page.has_anchor(anchor)).then_some("the page has no such heading")
    }

    /// Returns the target in the site for a link from `file`, if it is another one than in the
    /// repository.
    ///
    /// Files that the site lacks have their address in the repository.
    pub(super) fn site_link(&self, file: &Path, target: &str) -> Option<String> {
        if is_address(target) {
            return None;
        }
        let (path, anchor) = resolve(file, target);
        let anchor = anchor.map(|anchor| format!("#{anchor}"));
        let anchor = anchor.unwrap_or_default();
        if self.site_files.contains(&path) {
            let folder = target.split('#').next()?.strip_suffix(README)?;
            return Some(format!("{folder}{INDEX}{anchor}"));
        }
        if self.site_files.contains(&path.join(README)) {
            let folder = target.split('#').next()?.trim_end_matches('/');
            return Some(format!("{folder}/{INDEX}{anchor}"));
        }
        let kind = if self.root.join(&path).is_dir() {
            "tree"
        } else {
            "blob"
        };
        let path = path.display();
        Some(format!("{REPOSITORY}/{kind}/HEAD/{path}{anchor}"))
    }
}

/// Returns the entries of a folder, as paths from the root.
fn list(root: &Path, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let path = root.join(folder);
    let entries = fs::read_dir(&path).map_err(|source| unreadable(&path, &source))?;
    entries
        .map(|entry| match entry {
            Ok(entry) => Ok(folder.join(entry.file_name())),
            Err(source) => Err(unreadable(&path, &source)),
        })
        .collect()
}

fn is_of_site(file: &Path) -> bool {
    let is_manifest = file.file_name().is_some_and(|name| name == "Cargo.toml");
    let mut ends = OTHER_FILES.iter().chain(&["md"]);
    !is_manifest && ends.any(|end| has_end(file, end))
}

fn has_end(file: &Path, end: &str) -> bool {
    file.extension().is_some_and(|found| found == end)
}

/// Says whether a target leads to the web rather than to a file.
fn is_address(target: &str) -> bool {
    target.starts_with("https://") || target.starts_with("http://") || target.starts_with("mailto:")
}

/// Returns the path of a target from the root, and its anchor. Both paths are relative.
fn resolve<'a>(from: &Path, target: &'a str) -> (PathBuf, Option<&'a str>) {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    if path.is_empty() {
        return (from.to_owned(), anchor);
    }
    let mut resolved = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir if resolved.pop() => {}
            Component::CurDir => {}
            part => resolved.push(part),
        }
    }
    (resolved, anchor)
}

fn unreadable(path: &Path, source: &std::io::Error) -> Failure {
    Failure::new(format!("cannot read {}: {source}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, DocTree) {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tree = DocTree::read(root.path()).unwrap();
        (root, tree)
    }

    #[test]
    fn links_that_lead_nowhere_are_problems() {
        let (_root, tree) = tree(&[
            (
                "README.md",
                "[docs](docs/README.md#two)\n[code](src/lib.rs)",
            ),
            ("src/lib.rs", ""),
            (
                "docs/SUMMARY.md",
                "- [Start](README.md)\n- [A](guides/a.md)",
            ),
            (
                "docs/README.md",
                "# One\n\n[a](guides/a.md), [gone](gone.md)",
            ),
            ("docs/guides/a.md", "[up](../README.md#one), [here](#none)"),
        ]);

        assert_eq!(
            tree.problems(),
            [
                "README.md:1: docs/README.md#two: the page has no such heading",
                "docs/README.md:3: gone.md: there is no such file",
                "docs/guides/a.md:1: #none: the page has no such heading",
            ]
        );
    }

    #[test]
    fn a_page_outside_the_summary_is_a_problem() {
        let (_root, tree) = tree(&[
            ("docs/SUMMARY.md", "- [Start](README.md)"),
            ("docs/README.md", ""),
            ("docs/guides/a.md", ""),
            ("docs/consumer/notes.md", ""),
        ]);

        assert_eq!(
            tree.problems(),
            ["docs/guides/a.md: not in docs/SUMMARY.md"]
        );
    }

    #[test]
    fn links_of_the_site_lead_to_its_pages_or_to_the_repository() {
        let (_root, tree) = tree(&[
            ("examples/run.rs", ""),
            ("docs/SUMMARY.md", ""),
            ("docs/Cargo.toml", ""),
            ("docs/schemas/a.json", ""),
            ("docs/guides/a.md", ""),
            ("docs/tutorials/README.md", ""),
        ]);
        let link = |target| tree.site_link(Path::new("docs/guides/a.md"), target);

        let address = |path| Some(format!("{REPOSITORY}/{path}"));
        assert_eq!(
            link("../../examples/run.rs#L3"),
            address("blob/HEAD/examples/run.rs#L3")
        );
        assert_eq!(link("../../examples"), address("tree/HEAD/examples"));
        assert_eq!(link("../schemas"), address("tree/HEAD/docs/schemas"));
        assert_eq!(link("../Cargo.toml"), address("blob/HEAD/docs/Cargo.toml"));
        let index = |anchor| Some(format!("../tutorials/index.md{anchor}"));
        assert_eq!(link("../tutorials/README.md#x"), index("#x"));
        assert_eq!(link("../tutorials/"), index(""));
        for unchanged in ["a.md#x", "#x", "../schemas/a.json", "https://example.com"] {
            assert_eq!(link(unchanged), None, "{unchanged}");
        }
    }
}
