//! The private directories: `<root>/gantry-<uid>/<domain>/`, mode 0700.
//!
//! Control path. Invariants:
//! - D1: a [`Directory`] is a real directory (no symbolic link) of this user that no other user may enter.
//! - D2: names of files are never used again (128 random bits), so a name can only mean one file.

use crate::{
    crash::{self, Point},
    error::{Error, Result},
};
use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, linkat, mkdirat, open, openat, statat, unlinkat},
    io::Errno,
};
use std::{
    fmt,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

/// The root of the shared memory if `GANTRY_SHM_DIR` is not set.
pub const DEFAULT_ROOT: &str = "/dev/shm";
/// The environment variable that sets the root of the shared memory.
pub const DIRECTORY_VARIABLE: &str = "GANTRY_SHM_DIR";
/// Name of the board's file in every domain directory.
pub(crate) const BOARD_NAME: &str = "board";
/// Ending of a process file's name.
pub(crate) const PROCESS_SUFFIX: &str = ".process";
/// Ending of a publisher's file's name.
pub(crate) const PUBLISHER_SUFFIX: &str = ".pub";

/// The root that `GANTRY_SHM_DIR` names, `/dev/shm` if it is unset.
pub(crate) fn default_root() -> PathBuf {
    std::env::var_os(DIRECTORY_VARIABLE).filter(|value| !value.is_empty()).map_or(DEFAULT_ROOT.into(), PathBuf::from)
}

/// An open directory that passed the checks.
pub(crate) struct Directory {
    file: OwnedFd,
    path: PathBuf,
}

impl Directory {
    /// The user's directory under `root`, made if it does not exist.
    pub(crate) fn of_user(root: &Path) -> Result<Directory> {
        Directory::make(open_root(root)?.as_fd(), root, &name_of_user())
    }

    /// The user's directory under `root`, if it exists.
    pub(crate) fn existing_of_user(root: &Path) -> Result<Directory> {
        let name = name_of_user();
        Directory::open_checked(open_root(root)?.as_fd(), root.join(&name), &name)
            .map_err(|e| Error::system(format!("open {}/{name}", root.display()), e))?
    }

    /// A domain's directory in this one, made if it does not exist.
    pub(crate) fn of_domain(&self, domain: &str) -> Result<Directory> {
        Directory::make(self.as_fd(), &self.path, domain)
    }

    /// An existing directory in this one.
    pub(crate) fn existing(&self, name: &str) -> Result<Directory> {
        Directory::open_checked(self.as_fd(), self.path.join(name), name)
            .map_err(|e| Error::system(format!("open {self}/{name}"), e))?
    }

    fn make(parent: BorrowedFd<'_>, parent_path: &Path, name: &str) -> Result<Directory> {
        let path = parent_path.join(name);
        // The last process that leaves may remove it between the two calls.
        for _ in 0..100 {
            match mkdirat(parent, name, Mode::RWXU) {
                Ok(()) => crash::point(Point::DirectoryMade),
                Err(Errno::EXIST) => {}
                Err(e) => return Err(Error::system(format!("create the directory {}", path.display()), e)),
            }
            match Directory::open_checked(parent, path.clone(), name) {
                Err(Errno::NOENT) => {}
                Err(e) => return Err(Error::system(format!("open the directory {}", path.display()), e)),
                Ok(checked) => return checked,
            }
        }
        Err(Error::system(format!("create {}: another process removes it each time", path.display()), Errno::NOENT))
    }

    /// Outer result: the errors of the kernel. Inner: those of the checks (D1).
    fn open_checked(
        parent: BorrowedFd<'_>,
        path: PathBuf,
        name: &str,
    ) -> std::result::Result<Result<Directory>, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(parent, name, flags, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let why = "it is not a directory (or is a symbolic link)".to_owned();
                return Ok(Err(Error::ForeignDirectory { path, why }));
            }
            opened => opened?,
        };
        let stat = fstat(&file)?;
        let me = rustix::process::geteuid().as_raw();
        if stat.st_uid != me || stat.st_mode & 0o077 != 0 {
            let why = format!(
                "it belongs to user {} with mode {:o}, and must belong to user {me} with mode 700",
                stat.st_uid,
                stat.st_mode & 0o7777
            );
            return Ok(Err(Error::ForeignDirectory { path, why }));
        }
        Ok(Ok(Directory { file, path }))
    }

    /// Gives an unnamed file a name in this directory. `EXIST` if the name is taken.
    pub(crate) fn link_file(&self, file: impl AsFd, name: &str) -> std::result::Result<(), Errno> {
        // `AT_EMPTY_PATH` needs a privilege, a path through /proc does not.
        let unnamed = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
        linkat(rustix::fs::CWD, unnamed, &self.file, name, AtFlags::SYMLINK_FOLLOW)?;
        crash::point(Point::FileNamed);
        Ok(())
    }

    /// Removes a file; a missing one is no error.
    pub(crate) fn unlink(&self, name: &str) -> Result<()> {
        match unlinkat(&self.file, name, AtFlags::empty()) {
            Ok(()) => {
                crash::point(Point::FileUnlinked);
                Ok(())
            }
            Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(Error::system(format!("remove {self}/{name}"), e)),
        }
    }

    /// Removes an empty directory in this one; best effort.
    pub(crate) fn remove_if_empty(&self, name: &str) {
        // A process that filled it meanwhile keeps it.
        let _ = unlinkat(&self.file, name, AtFlags::REMOVEDIR);
        crash::point(Point::DirectoryRemoved);
    }

    /// Names of the regular files here; other kinds of files are not Gantry's.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        self.names(FileType::RegularFile)
    }

    /// Names of the directories here.
    pub(crate) fn directories(&self) -> Result<Vec<String>> {
        self.names(FileType::Directory)
    }

    fn names(&self, kind: FileType) -> Result<Vec<String>> {
        let read_error = |e| Error::system(format!("list {self}"), e);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.file).map_err(read_error)? {
            let entry = entry.map_err(read_error)?;
            // Names that are not UTF-8 are not ours.
            let Ok(name) = entry.file_name().to_str() else { continue };
            let found = match entry.file_type() {
                // Not every file system has the type in the listing; a tmpfs has.
                FileType::Unknown => match statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(e) => return Err(read_error(e)),
                },
                known => known,
            };
            if found == kind && name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Whether the file here with that name has that inode number.
    pub(crate) fn has(&self, name: &str, inode: u64) -> bool {
        statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| stat.st_ino == inode)
    }

    /// The memory that a file here takes; 0 if there is no such file.
    pub(crate) fn used_bytes(&self, name: &str) -> u64 {
        statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW).map_or(0, |stat| stat.st_blocks as u64 * 512)
    }

    /// Its path, for error sentences.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn open_root(root: &Path) -> Result<OwnedFd> {
    open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|e| Error::system(format!("open {} (from GANTRY_SHM_DIR or the default)", root.display()), e))
}

fn name_of_user() -> String {
    format!("gantry-{}", rustix::process::geteuid().as_raw())
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())
    }
}
