//! `cargo xtask docs`: builds a site from the pages in `docs` with mdBook.
//!
//! Links are written for the repository. In a copy of the pages, those that leave the site get the
//! address of the file in the repository.

mod page;
mod tree;

use std::fs;
use std::path::Path;
use std::process::Command;

use self::page::Page;
use self::tree::DocTree;
use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::tools;

/// Folder in which mdBook finds the copy.
const SOURCES: &str = "target/book-src";

/// The site.
const SITE: &str = "target/book";

/// Builds the site into `target/book`.
pub(crate) fn build(cargo: &Cargo) -> Result<(), Failure> {
    let root = cargo.root();
    let tree = DocTree::read(root)?;
    Failure::unless_empty("the pages do not form a book", &tree.problems())?;
    let sources = root.join(SOURCES);
    tools::install(&sources, |folder| copy(&tree, folder))?;

    let mut mdbook = Command::new(tools::mdbook(cargo)?);
    mdbook.arg("build").arg(&sources);
    mdbook.arg("--dest-dir").arg(root.join(SITE));
    cargo::run(mdbook)?;
    println!("{}", root.join(SITE).join("index.html").display());
    Ok(())
}

/// Writes the pages, their links rewritten, and the other files of the site into `folder`.
fn copy(tree: &DocTree, folder: &Path) -> Result<(), Failure> {
    for file in tree.site_files() {
        let mut to = folder.join(file.strip_prefix(tree::FOLDER).unwrap_or(file));
        if to.ends_with(tree::README) {
            to.set_file_name(tree::INDEX);
        }
        let parent = to.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|source| failed("create", parent, &source))?;
        match tree.page(file) {
            Some(page) => fs::write(&to, page.rewrite(|link| tree.site_link(file, link))),
            None => fs::copy(tree.root().join(file), &to).map(drop),
        }
        .map_err(|source| failed("write", &to, &source))?;
    }
    Ok(())
}

fn failed(action: &str, path: &Path, source: &std::io::Error) -> Failure {
    Failure::new(format!("cannot {action} {}: {source}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checkout that contains this crate.
    fn checkout() -> DocTree {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        DocTree::read(root).unwrap()
    }

    #[test]
    fn every_page_is_in_the_summary_and_every_link_resolves() {
        let problems = checkout().problems();

        assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    }

    #[test]
    fn the_page_of_crates_has_every_library_with_a_listing() {
        let root = checkout().root().to_owned();
        let page = fs::read_to_string(root.join("docs/crates.md")).unwrap();

        for entry in fs::read_dir(root.join("docs/api")).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let library = file.trim_end_matches(".txt");
            assert!(
                page.contains(&format!("(https://docs.rs/{library})")),
                "{library}"
            );
        }
    }

    #[test]
    fn a_copy_has_every_page_and_no_link_out_of_the_site() {
        let tree = checkout();
        let copied = tempfile::tempdir().unwrap();
        let folder = copied.path().join("docs");

        copy(&tree, &folder).unwrap();

        assert!(folder.join("book.toml").is_file());
        assert!(folder.join("pictures/bash-cost.svg").is_file());
        assert!(folder.join("index.md").is_file());
        assert!(!folder.join("src").exists());
        let copied = DocTree::read(copied.path()).unwrap();
        let problems = copied.problems();
        assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    }
}
