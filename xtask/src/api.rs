//! `cargo xtask api`: listings of the public API of each published library, in `docs/api`.
//!
//! A listing has one line for each public item. A change of a listing is part of the commit that
//! changes the API, so that a reviewer sees it.

mod listing;
mod rustdoc;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::listing::Listing;
use crate::args::ApiMode;
use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::metadata::{self, Package};

pub(crate) use self::rustdoc::run_as_rustdoc;

/// The folder of the listings.
const FOLDER: &str = "docs/api";

/// The Rust release that the listings are made with: a later one can name the same items otherwise.
const RUST: &str = env!("CARGO_PKG_RUST_VERSION");

/// Changed lines of a crate that a failed comparison prints.
const MAX_PRINTED_CHANGES: usize = 20;

/// The most names at the root of a crate. What few users need belongs to a public module.
const ROOT_NAMES: [(&str, usize); 5] = [
    ("autonoe-core", 40),
    ("autonoe-harness", 40),
    ("autonoe-flow", 40),
    ("autonoe-model", 30),
    ("autonoe-testkit", 30),
];

/// A published crate with a library.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Library {
    /// The name of the package.
    package: String,
    /// The name in Rust code.
    name: String,
}

/// Documents the libraries of `packages`, or all for none, and writes or compares their listings.
pub(crate) fn run(cargo: &Cargo, mode: ApiMode, packages: &[String]) -> Result<(), Failure> {
    if let Some(found) = unsupported_rust(cargo)? {
        return Err(Failure::new(found));
    }
    let libraries = libraries(&metadata::workspace_packages(cargo)?);
    let selected = select(&libraries, packages)?;
    document_selection(cargo, &libraries, packages)?;
    let folder = cargo.root().join(FOLDER);
    let listings = read_listings(cargo, selected)?;
    let is_complete = packages.is_empty();
    match mode {
        ApiMode::Update => write(&folder, &listings, is_complete)?,
        ApiMode::Check => compare(&folder, &listings, is_complete)?,
    }
    check_names(&listings)
}

/// Makes `doctests`, a call of `cargo test --doc`, build the documentation of the tested libraries,
/// with warnings as errors, and the JSON that [`check`] reads.
pub(crate) fn document_beside(doctests: &mut Command, cargo: &Cargo) -> Result<(), Failure> {
    let folder = metadata::target_dir(cargo)?.join("doc");
    let libraries = match unsupported_rust(cargo)? {
        None => libraries(&metadata::workspace_packages(cargo)?),
        Some(_) => Vec::new(),
    };
    let names = libraries.iter().map(|library| library.name.as_str());
    rustdoc::also_document(doctests, cargo, names, &folder)
}

/// Compares the listings with the JSON of [`document_beside`].
///
/// With another Rust release than that of the listings, it prints so and compares nothing.
pub(crate) fn check(cargo: &Cargo) -> Result<(), Failure> {
    if let Some(found) = unsupported_rust(cargo)? {
        println!("not compared: {found}");
        return Ok(());
    }
    let libraries = libraries(&metadata::workspace_packages(cargo)?);
    let listings = read_listings(cargo, libraries)?;
    compare(&cargo.root().join(FOLDER), &listings, true)?;
    check_names(&listings)
}

/// Returns a sentence about the installed Rust release if the listings are of another one.
fn unsupported_rust(cargo: &Cargo) -> Result<Option<String>, Failure> {
    Ok(mismatch(&rustdoc::version(cargo)?))
}

/// Returns a sentence about `version` if it is not a stable release of [`RUST`].
fn mismatch(version: &str) -> Option<String> {
    let is_supported = version
        .strip_prefix(RUST)
        .is_some_and(|patch| patch.starts_with('.') && !patch.contains('-'));
    (!is_supported).then(|| {
        format!("the listings in {FOLDER} are made with Rust {RUST}, and this is Rust {version}")
    })
}

fn libraries(packages: &[Package]) -> Vec<Library> {
    let published = packages.iter().filter(|package| package.is_published);
    published
        .filter_map(|package| {
            Some(Library {
                package: package.name.clone(),
                name: package.library.clone()?,
            })
        })
        .collect()
}

/// Returns the libraries of `packages`, or all for none.
fn select(libraries: &[Library], packages: &[String]) -> Result<Vec<Library>, Failure> {
    if packages.is_empty() {
        return Ok(libraries.to_vec());
    }
    packages
        .iter()
        .map(|package| {
            let mut libraries = libraries.iter();
            let library = libraries.find(|library| library.package == *package);
            library.cloned().ok_or_else(|| {
                Failure::new(format!("`{package}` is no published crate with a library"))
            })
        })
        .collect()
}

fn document_selection(
    cargo: &Cargo,
    libraries: &[Library],
    packages: &[String],
) -> Result<(), Failure> {
    let mut doc = rustdoc::command(cargo, packages);
    let names = libraries.iter().map(|library| library.name.as_str());
    rustdoc::also_write_json(&mut doc, cargo, names)?;
    cargo::run(doc)
}

/// Reads the JSON of each library.
fn read_listings(
    cargo: &Cargo,
    libraries: Vec<Library>,
) -> Result<Vec<(Library, Listing)>, Failure> {
    let folder = metadata::target_dir(cargo)?.join("doc");
    libraries
        .into_iter()
        .map(|library| {
            let json = folder.join(format!("{}.json", library.name));
            Ok((library, Listing::from_rustdoc_json(&json)?))
        })
        .collect()
}

/// Writes listings. If they are all there are, files of other crates are removed.
fn write(folder: &Path, listings: &[(Library, Listing)], is_complete: bool) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|source| failed("create", folder, &source))?;
    for (library, listing) in listings {
        let path = folder.join(file_name(library));
        fs::write(&path, listing.to_string()).map_err(|source| failed("write", &path, &source))?;
        println!("{}: {} items", path.display(), listing.len());
    }
    if is_complete {
        for path in unexpected_files(folder, listings)? {
            fs::remove_file(&path).map_err(|source| failed("remove", &path, &source))?;
            println!("{}: removed", path.display());
        }
    }
    Ok(())
}

/// Fails if a listing differs from its file. If they are all there are, there may be no other file.
fn compare(
    folder: &Path,
    listings: &[(Library, Listing)],
    is_complete: bool,
) -> Result<(), Failure> {
    let mut differences = Vec::new();
    for (library, listing) in listings {
        let path = folder.join(file_name(library));
        let committed = match fs::read_to_string(&path) {
            Ok(text) => Listing::parse(&text),
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                differences.push(format!("{}: there is no listing", library.package));
                continue;
            }
            Err(source) => return Err(failed("read", &path, &source)),
        };
        let changes = committed.changes(listing);
        if changes.is_empty() {
            continue;
        }
        differences.push(format!("{}:", library.package));
        differences.extend(changes.iter().take(MAX_PRINTED_CHANGES).cloned());
        if changes.len() > MAX_PRINTED_CHANGES {
            let more = changes.len() - MAX_PRINTED_CHANGES;
            differences.push(format!("and {more} further changes"));
        }
    }
    if is_complete {
        let unexpected = unexpected_files(folder, listings)?;
        let unexpected = unexpected.iter().map(|path| path.display());
        differences.extend(unexpected.map(|path| format!("{path}: no crate has this listing")));
    }
    Failure::unless_empty(
        "the public API differs from docs/api; run `cargo xtask api`, and commit the new listings \
         if they are what you intend",
        &differences,
    )
}

/// Checks the names of all listings.
fn check_names(listings: &[(Library, Listing)]) -> Result<(), Failure> {
    limit_root_names(listings)?;
    refuse_ambiguous_types(listings)
}

/// Fails if two libraries define types of the same name: users import both.
fn refuse_ambiguous_types(listings: &[(Library, Listing)]) -> Result<(), Failure> {
    let mut definitions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (library, listing) in listings {
        for name in listing.type_names(&library.name) {
            definitions.entry(name).or_default().push(&library.package);
        }
    }
    let ambiguous: Vec<_> = definitions
        .into_iter()
        .filter(|(_, packages)| packages.len() > 1)
        .map(|(name, packages)| format!("`{name}`: {}", packages.join(", ")))
        .collect();
    Failure::unless_empty(
        "several crates define a type of the same name; rename one, or share it",
        &ambiguous,
    )
}

/// Fails if a library has more names at its root than [`ROOT_NAMES`] allows.
fn limit_root_names(listings: &[(Library, Listing)]) -> Result<(), Failure> {
    let exceeded = listings.iter().filter_map(|(library, listing)| {
        let limit = ROOT_NAMES.iter().find(|(name, _)| *name == library.package);
        let (package, limit) = limit?;
        let number = listing.root_names(&library.name).len();
        (number > *limit).then(|| format!("{package}: {number} names, at most {limit}"))
    });
    Failure::unless_empty(
        "too many names at the root of a crate; export new ones in a public module",
        &exceeded.collect::<Vec<_>>(),
    )
}

/// Returns the files of `folder` that belong to none of `listings`.
fn unexpected_files(
    folder: &Path,
    listings: &[(Library, Listing)],
) -> Result<Vec<PathBuf>, Failure> {
    let expected: BTreeSet<_> = listings
        .iter()
        .map(|(library, _)| folder.join(file_name(library)))
        .collect();
    let entries = match fs::read_dir(folder) {
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|source| failed("read", folder, &source))?,
    };
    let mut unexpected = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|source| failed("read", folder, &source))?
            .path();
        if path.extension().is_some_and(|end| end == "txt") && !expected.contains(&path) {
            unexpected.push(path);
        }
    }
    unexpected.sort();
    Ok(unexpected)
}

fn file_name(library: &Library) -> String {
    format!("{}.txt", library.package)
}

fn failed(action: &str, path: &Path, source: &io::Error) -> Failure {
    Failure::new(format!("cannot {action} {}: {source}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(package: &str) -> Library {
        Library {
            package: package.to_owned(),
            name: package.replace('-', "_"),
        }
    }

    fn listed(package: &str, text: &str) -> (Library, Listing) {
        (library(package), Listing::parse(text))
    }

    fn committed_listings() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(FOLDER)
    }

    #[test]
    fn only_the_release_in_rust_version_is_supported() {
        for patch in [".0", ".1"] {
            assert_eq!(mismatch(&format!("{RUST}{patch}")), None);
        }
        for other in [
            "1.2.0".to_owned(),
            format!("{RUST}0.0"),
            format!("{RUST}.0-nightly"),
        ] {
            let found = mismatch(&other).unwrap();
            assert!(found.ends_with(&format!("this is Rust {other}")), "{found}");
        }
    }

    #[test]
    fn written_listings_equal_themselves() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("docs/api");
        let listings = [
            listed("autonoe-core", "pub mod autonoe_core\n"),
            listed("autonoe-security", "pub mod autonoe_security\n"),
        ];

        write(&folder, &listings, true).unwrap();

        assert_eq!(compare(&folder, &listings, true), Ok(()));
        let core = fs::read_to_string(folder.join("autonoe-core.txt")).unwrap();
        assert_eq!(core, "pub mod autonoe_core\n");
    }

    #[test]
    fn a_difference_is_shown_with_the_command_that_accepts_it() {
        let root = tempfile::tempdir().unwrap();
        let before = [listed("core", "pub fn core::a()\npub fn core::b()\n")];
        write(root.path(), &before, true).unwrap();

        let after = [
            listed("core", "pub fn core::b()\npub fn core::c(u8)\n"),
            listed("new", "pub mod new\n"),
        ];
        let failure = compare(root.path(), &after, true).unwrap_err();

        let text = failure.to_string();
        let (heading, changes) = text.split_once('\n').unwrap();
        assert!(heading.contains("`cargo xtask api`"), "{heading}");
        assert_eq!(
            changes,
            "  core:\n  \
             - pub fn core::a()\n  \
             + pub fn core::c(u8)\n  \
             new: there is no listing"
        );
    }

    #[test]
    fn many_changes_are_cut_off() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &[listed("core", "")], true).unwrap();
        let items: String = (10..10 + MAX_PRINTED_CHANGES + 5)
            .map(|number| format!("pub fn core::f{number}()\n"))
            .collect();

        let failure = compare(root.path(), &[listed("core", &items)], true).unwrap_err();

        let text = failure.to_string();
        assert!(text.ends_with("  and 5 further changes"), "{text}");
        assert_eq!(text.lines().count(), 3 + MAX_PRINTED_CHANGES);
    }

    #[test]
    fn committed_listings_keep_the_limits_of_root_names() {
        let folder = committed_listings();
        let committed = ROOT_NAMES.map(|(package, _)| {
            let text = fs::read_to_string(folder.join(format!("{package}.txt")));
            listed(package, &text.unwrap())
        });
        assert_eq!(limit_root_names(&committed), Ok(()));

        let items: String = (0..=40)
            .map(|number| format!("pub fn autonoe_core::f{number}()\n"))
            .collect();
        let failure = limit_root_names(&[listed("autonoe-core", &items)]).unwrap_err();
        let text = failure.to_string();
        assert!(
            text.contains("autonoe-core: 41 names, at most 40"),
            "{text}"
        );
        assert_eq!(limit_root_names(&[listed("autonoe-acp", &items)]), Ok(()));
    }

    #[test]
    fn a_type_name_has_one_meaning() {
        let core = listed("autonoe-core", "pub trait autonoe_core::Judge\n");
        let uses = listed("autonoe-flow", "pub use autonoe_flow::Judge\n");
        let defines = listed("autonoe-harness", "pub struct autonoe_harness::Judge\n");

        assert_eq!(refuse_ambiguous_types(&[core.clone(), uses]), Ok(()));
        let failure = refuse_ambiguous_types(&[core, defines]).unwrap_err();
        let text = failure.to_string();
        assert!(
            text.contains("`Judge`: autonoe-core, autonoe-harness"),
            "{text}"
        );
    }

    #[test]
    fn committed_listings_define_each_type_once() {
        let committed: Vec<_> = fs::read_dir(committed_listings())
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let package = path.file_stem().unwrap().to_str().unwrap().to_owned();
                listed(&package, &fs::read_to_string(&path).unwrap())
            })
            .collect();

        assert!(committed.len() > ROOT_NAMES.len());
        assert_eq!(refuse_ambiguous_types(&committed), Ok(()));
    }

    #[test]
    fn a_listing_without_a_crate_is_removed_by_a_complete_update_only() {
        let root = tempfile::tempdir().unwrap();
        let (old, new) = ([listed("old", "")], [listed("new", "")]);
        write(root.path(), &old, true).unwrap();

        write(root.path(), &new, false).unwrap();
        assert_eq!(compare(root.path(), &new, false), Ok(()));
        assert!(compare(root.path(), &new, true).is_err());

        write(root.path(), &new, true).unwrap();
        assert_eq!(compare(root.path(), &new, true), Ok(()));
        assert!(!root.path().join("old.txt").exists());
    }

    #[test]
    fn published_libraries_can_be_selected() {
        let package = |name: &str, library: Option<&str>, is_published| Package {
            name: name.into(),
            library: library.map(Into::into),
            is_published,
            ..Package::default()
        };
        let libraries = libraries(&[
            package("autonoe-core", Some("autonoe_core"), true),
            package("autonoe-cli", None, true),
            package("autonoe-app", Some("autonoe_app"), false),
            package("autonoe-mcp", Some("autonoe_mcp"), true),
        ]);

        let all = [library("autonoe-core"), library("autonoe-mcp")];
        assert_eq!(select(&libraries, &[]), Ok(all.to_vec()));
        let mcp = ["autonoe-mcp".to_owned()];
        assert_eq!(select(&libraries, &mcp), Ok(all[1..].to_vec()));
        assert_eq!(
            select(&libraries, &["autonoe-app".to_owned()]),
            Err(Failure::new(
                "`autonoe-app` is no published crate with a library"
            ))
        );
    }
}
