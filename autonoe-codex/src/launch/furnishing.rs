//! The folder of a program, brought back to what it was before any tool ran.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use autonoe_core::open_file_to_append;

use super::databases::{Changing, Databases};
use super::plan::{CODEX, HOME, STATE};

/// What was in the folder of a program before any tool ran.
///
/// A tool can write whatever is in that folder, and the program reads it again for each
/// conversation. So everything is brought back before the next one:
///
/// - `codex`, its home, to exactly what it was, by content;
/// - `home` and the folder for temporary files to empty folders;
/// - `state`, where it has databases open, must be as it was; nothing can be brought back there.
#[derive(Debug)]
pub(crate) struct Furnishing {
    folder: PathBuf,
    /// The folder for temporary files.
    temporary: PathBuf,
    home: BTreeMap<PathBuf, Entry>,
    databases: Databases,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Folder { mode: u32 },
    File { mode: u32, text: Vec<u8> },
    Link(PathBuf),
}

impl Furnishing {
    /// Looks what is in `folder`, whose databases the process `program` has open. No tool may have
    /// run yet. The temporary files of tools are in `temporary`.
    ///
    /// # Errors
    ///
    /// Something cannot be read, or is of a kind that does not belong there.
    pub(crate) fn look(
        folder: &Path,
        temporary: &Path,
        program: u32,
        changing: Changing,
    ) -> io::Result<Self> {
        let mut home = BTreeMap::new();
        read_tree(&folder.join(CODEX), Path::new(""), &mut home)?;
        Ok(Self {
            folder: folder.to_owned(),
            temporary: temporary.to_owned(),
            home,
            databases: Databases::look(&folder.join(STATE), program, changing)?,
        })
    }

    /// Brings everything back to what it was, and looks whether it is.
    ///
    /// Nothing may run that could write there.
    ///
    /// # Errors
    ///
    /// It cannot be brought back.
    pub(crate) fn restore(&self, program: u32) -> io::Result<()> {
        let places = [CODEX, HOME, STATE];
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !places.iter().any(|place| entry.file_name() == *place) {
                remove(&entry.path())?;
            }
        }
        for path in [&self.folder.join(HOME), &self.temporary] {
            own_folder(path)?;
            for entry in fs::read_dir(path)? {
                remove(&entry?.path())?;
            }
        }
        own_folder(&self.folder.join(CODEX))?;
        self.restore_home()?;
        self.verify(program)
    }

    /// Looks whether everything is as it was.
    ///
    /// # Errors
    ///
    /// It is not.
    pub(crate) fn verify(&self, program: u32) -> io::Result<()> {
        let is_empty = |path: &Path| Ok::<_, io::Error>(fs::read_dir(path)?.count() == 0);
        let is_folder = |path: &Path| Ok::<_, io::Error>(fs::symlink_metadata(path)?.is_dir());
        for name in [CODEX, HOME, STATE] {
            if !is_folder(&self.folder.join(name))? {
                return Err(changed(name));
            }
        }
        if !is_folder(&self.temporary)?
            || !is_empty(&self.temporary)?
            || !is_empty(&self.folder.join(HOME))?
        {
            return Err(changed("the folders for tools"));
        }
        let mut home = BTreeMap::new();
        read_tree(&self.folder.join(CODEX), Path::new(""), &mut home)?;
        if home != self.home {
            return Err(changed("the home of the program"));
        }
        self.databases.verify(&self.folder.join(STATE), program)
    }

    fn restore_home(&self) -> io::Result<()> {
        let home = self.folder.join(CODEX);
        remove_others(&home, Path::new(""), &self.home)?;
        // A folder comes before what is in it.
        for (path, entry) in &self.home {
            put(&home.join(path), entry)?;
        }
        Ok(())
    }
}

/// Reads all that is in `root`, by the paths in it.
fn read_tree(root: &Path, path: &Path, tree: &mut BTreeMap<PathBuf, Entry>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(path))? {
        let entry = entry?;
        let (path, full) = (path.join(entry.file_name()), entry.path());
        let found = fs::symlink_metadata(&full)?;
        let mode = found.mode() & 0o7777;
        let read = if found.is_symlink() {
            Entry::Link(fs::read_link(&full)?)
        } else if found.is_dir() {
            read_tree(root, &path, tree)?;
            Entry::Folder { mode }
        } else {
            plain_file(&full)?;
            let text = fs::read(&full)?;
            Entry::File { mode, text }
        };
        tree.insert(path, read);
    }
    Ok(())
}

/// Looks at a file; refuses what is none, or could be written by another name.
pub(super) fn plain_file(path: &Path) -> io::Result<Metadata> {
    let found = fs::symlink_metadata(path)?;
    match found.is_file() && found.nlink() == 1 {
        true => Ok(found),
        false => Err(changed("a file")),
    }
}

/// Removes from `root` what is not in `tree`, or is there as something else.
fn remove_others(root: &Path, path: &Path, tree: &BTreeMap<PathBuf, Entry>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(path))? {
        let entry = entry?;
        let (path, full) = (path.join(entry.file_name()), entry.path());
        let found = fs::symlink_metadata(&full)?;
        match tree.get(&path) {
            Some(Entry::Folder { .. }) if found.is_dir() => {
                fs::set_permissions(&full, Permissions::from_mode(0o700))?;
                remove_others(root, &path, tree)?;
            }
            Some(Entry::File { .. }) if plain_file(&full).is_ok() => {}
            Some(Entry::Link(target)) if fs::read_link(&full).is_ok_and(|it| it == *target) => {}
            _ => remove(&full)?,
        }
    }
    Ok(())
}

/// Makes `path` what it was.
fn put(path: &Path, entry: &Entry) -> io::Result<()> {
    let is_there = fs::symlink_metadata(path).is_ok();
    match entry {
        Entry::Link(_) if is_there => Ok(()),
        Entry::Link(target) => symlink(target, path),
        Entry::Folder { mode } => {
            if !is_there {
                DirBuilder::new().mode(0o700).create(path)?;
            }
            fs::set_permissions(path, Permissions::from_mode(*mode))
        }
        // The file itself stays: a sandbox may hold on to it. Nothing is a link here any more.
        Entry::File { mode, text } => {
            if is_file(path, *mode, text) {
                return Ok(());
            }
            if is_there {
                fs::set_permissions(path, Permissions::from_mode(0o600))?;
            }
            let mut file = open_file_to_append(path)?;
            file.set_len(0)?;
            file.write_all(text)?;
            file.set_permissions(Permissions::from_mode(*mode))
        }
    }
}

/// Tells whether `path` is a file with this text. Another length need not be read.
fn is_file(path: &Path, mode: u32, text: &[u8]) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        let is_alike = found.mode() & 0o7777 == mode && found.len() == text.len() as u64;
        is_alike && plain_file(path).is_ok() && fs::read(path).is_ok_and(|read| read == text)
    })
}

/// Makes `path` a folder that this user can write, whatever it is.
fn own_folder(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => {
            fs::remove_file(path)?;
            fs::create_dir(path)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(path)?,
        Err(error) => return Err(error),
    }
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Removes whatever is at `path`. Links are not followed.
fn remove(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    open_up(path);
    fs::remove_dir_all(path)
}

/// Makes all folders in `folder` writable. What fails shows when they are removed.
fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

pub(super) fn changed(what: &str) -> io::Error {
    io::Error::other(format!("{what} is not as it was"))
}
