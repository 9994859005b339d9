//! The private directories: `<root>/gantry-<uid>/<domain>/`, mode 0700.
//!
//! This module is on the control path. Invariants:
//! - D1: a [`Directory`] is a real directory (no symbolic link) of this user that no other user may enter; the root,
//!   which belongs to another user, is used only inside of this source file.
//! - D2: names of files are never used again (128 random bits), so a name never means two different files.

use crate::{
    crash::{self, Point},
    error::{Error, Result},
};
use rustix::{
    fs::{
        AtFlags, Dir, FileType, Mode, OFlags, chmod, fstat, fstatfs, linkat, mkdirat, open, openat, statat, unlinkat,
    },
    io::Errno,
    process::geteuid,
};
use std::{
    ffi::OsString,
    fmt,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

/// The root of the shared memory if `GANTRY_SHM_DIR` is not set.
const DEFAULT_ROOT: &str = "/dev/shm";
/// The environment variable that sets the root of the shared memory.
pub const DIRECTORY_VARIABLE: &str = "GANTRY_SHM_DIR";
/// The environment variable that permits a root on a disk if its value is `1`.
const DISK_VARIABLE: &str = "GANTRY_SHM_ALLOW_DISK";
/// The type of a tmpfs (statfs(2)).
const TMPFS_MAGIC: u32 = 0x0102_1994;
/// The file systems whose names an error message can state, by their types.
const FILE_SYSTEMS: [(u32, &str); 5] = [
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x794c_7630, "an overlay"),
    (0x8584_58f6, "a ramfs, which cannot make unnamed files (O_TMPFILE)"),
];
/// The name of the board's file in every domain directory.
pub(crate) const BOARD_NAME: &str = "board";
/// The ending of a process file's name.
pub(crate) const PROCESS_SUFFIX: &str = ".process";
/// The ending of a publisher's file's name.
pub(crate) const PUBLISHER_SUFFIX: &str = ".pub";

/// The root directory of the shared memory: the value of `GANTRY_SHM_DIR`, or `/dev/shm` if the variable is unset.
#[must_use]
pub fn shared_memory_directory() -> PathBuf {
    variable(DIRECTORY_VARIABLE).filter(|value| !value.is_empty()).map_or(DEFAULT_ROOT.into(), PathBuf::from)
}

/// Reads an environment variable like secure_getenv(3): returns `None` in a program with more rights than its caller
/// (set-user-ID).
fn variable(name: &str) -> Option<OsString> {
    // SAFETY: `getauxval` has no preconditions.
    let is_secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    std::env::var_os(name).filter(|_| !is_secure)
}

/// An open directory.
pub(crate) struct Directory {
    file: OwnedFd,
    path: PathBuf,
}

impl Directory {
    /// Opens the user's directory under `root`; makes it if it does not exist.
    pub(crate) fn make_for_user(root: &Path) -> Result<Directory> {
        let root = open_root(root)?;
        check_tmpfs(&root)?;
        check_sticky(&root)?;
        root.make(&name_of_user())
    }

    /// Opens the user's directory under `root`, if it exists.
    pub(crate) fn existing_of_user(root: &Path) -> Result<Directory> {
        open_root(root)?.existing(&name_of_user())
    }

    /// Opens a directory in this directory; makes it if it does not exist.
    pub(crate) fn make(&self, name: &str) -> Result<Directory> {
        let action = || format!("create the directory {self}/{name}");
        // The last process that leaves may remove the directory between the two calls.
        for _ in 0..100 {
            match mkdirat(self, name, Mode::RWXU).and_then(|()| permit_owner(self, name)) {
                Ok(()) => crash::point(Point::DirectoryMade),
                Err(Errno::EXIST | Errno::NOENT) => {}
                Err(e) => return Err(Error::system(action(), e)),
            }
            match self.existing(name) {
                Err(e) if e.is_not_found() => {}
                opened => return opened,
            }
        }
        Err(Error::system(format!("{}: another process removes the directory in each attempt", action()), Errno::NOENT))
    }

    /// Opens a directory in this directory; the error has the kind `NotFound` if the directory does not exist.
    pub(crate) fn existing(&self, name: &str) -> Result<Directory> {
        let path = self.path.join(name);
        let failed = |e| Error::system(format!("open the directory {}", path.display()), e);
        let refused = |why| Error::ForeignDirectory { path: path.clone(), why };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(self, name, flags, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err(refused("it is not a directory (or is a symbolic link)".to_owned()));
            }
            opened => opened.map_err(failed)?,
        };
        let stat = fstat(&file).map_err(failed)?;
        let (owner, mode, me) = (stat.st_uid, stat.st_mode & 0o7777, geteuid().as_raw());
        if owner != me || mode & 0o077 != 0 {
            let found = format!("it belongs to user {owner} with mode {mode:o}");
            return Err(refused(format!("{found}, and must belong to user {me} with mode 700")));
        }
        Ok(Directory { file, path })
    }

    /// Gives an unnamed file a name in this directory. The error is `EXIST` if the name is taken.
    pub(crate) fn link_file(&self, file: impl AsFd, name: &str) -> std::result::Result<(), Errno> {
        // `AT_EMPTY_PATH` needs a privilege; a path through /proc does not.
        let unnamed = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
        linkat(rustix::fs::CWD, unnamed, &self.file, name, AtFlags::SYMLINK_FOLLOW)?;
        crash::point(Point::FileNamed);
        Ok(())
    }

    /// Removes a file; a missing file is no error.
    pub(crate) fn unlink(&self, name: &str) -> Result<()> {
        match unlinkat(&self.file, name, AtFlags::empty()) {
            Err(e) if e != Errno::NOENT => Err(Error::system(format!("remove {self}/{name}"), e)),
            _ => {
                crash::point(Point::FileUnlinked);
                Ok(())
            }
        }
    }

    /// Removes an empty directory in this one; best effort.
    pub(crate) fn remove_if_empty(&self, name: &str) {
        // The call fails if another process filled the directory meanwhile; then the directory stays.
        let _ = unlinkat(&self.file, name, AtFlags::REMOVEDIR);
        crash::point(Point::DirectoryRemoved);
    }

    /// The names of the regular files in this directory; Gantry has no files of other kinds.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        self.names(FileType::RegularFile)
    }

    /// The names of the directories in this directory.
    pub(crate) fn directories(&self) -> Result<Vec<String>> {
        self.names(FileType::Directory)
    }

    fn names(&self, kind: FileType) -> Result<Vec<String>> {
        let read_error = |e| Error::system(format!("list {self}"), e);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.file).map_err(read_error)? {
            let entry = entry.map_err(read_error)?;
            // Names that are not UTF-8 are not names of Gantry.
            let Ok(name) = entry.file_name().to_str() else { continue };
            // Not every file system returns the type of a file in the listing (a tmpfs does). If the type is missing,
            // opening the file checks it.
            let is_meant = [kind, FileType::Unknown].contains(&entry.file_type());
            if is_meant && name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Whether the file with this name in this directory has this inode number.
    pub(crate) fn has(&self, name: &str, inode: u64) -> bool {
        statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| stat.st_ino == inode)
    }

    /// The bytes of memory that a file of this directory uses; 0 if the file does not exist.
    pub(crate) fn used_bytes(&self, name: &str) -> u64 {
        statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW).map_or(0, |stat| stat.st_blocks as u64 * 512)
    }

    /// The directory's path, for error messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Gives a directory that was just made its mode, independently of the umask.
fn permit_owner(parent: &Directory, name: &str) -> std::result::Result<(), Errno> {
    // A directory that its owner may not read can be opened only with O_PATH, and its mode is then changed by a path
    // through /proc.
    let made =
        openat(parent, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    match fstat(&made)?.st_mode & 0o777 {
        0o700 => Ok(()),
        _ => chmod(format!("/proc/self/fd/{}", made.as_raw_fd()), Mode::RWXU),
    }
}

fn open_root(root: &Path) -> Result<Directory> {
    let file = open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|e| Error::system(format!("open {} (from GANTRY_SHM_DIR or the default)", root.display()), e))?;
    Ok(Directory { file, path: root.to_owned() })
}

/// Checks that the root is on a tmpfs. Other file systems write pages to a disk, which stalls stores, and may have no
/// room for a page that was allocated (copy on write), which is a SIGBUS.
fn check_tmpfs(root: &Directory) -> Result<()> {
    let read = fstatfs(root).map_err(|e| Error::system(format!("read the file system of {root}"), e))?;
    let found = read.f_type as u32;
    if found == TMPFS_MAGIC || variable(DISK_VARIABLE).is_some_and(|value| value == "1") {
        return Ok(());
    }
    let known = FILE_SYSTEMS.iter().find(|(magic, _)| *magic == found);
    let file_system = known.map_or_else(|| format!("a file system of type {found:#x}"), |(_, name)| (*name).to_owned());
    Err(Error::NotTmpfs { root: root.path.clone(), file_system })
}

/// Checks the sticky bit of a root in which other users may write: the bit keeps them from renaming this
/// user's directory.
fn check_sticky(root: &Directory) -> Result<()> {
    let mode = fstat(root).map_err(|e| Error::system(format!("read the mode of {root}"), e))?.st_mode & 0o7777;
    if mode & 0o1002 != 0o0002 {
        return Ok(());
    }
    let why = format!(
        "every user may write in the directory (mode {mode:o}) and rename its files, because the directory has no \
         sticky bit (set the bit by chmod +t)"
    );
    Err(Error::ForeignDirectory { path: root.path.clone(), why })
}

/// The name of the user's directory. The name contains the user's id outside of the user namespace (of one level), so
/// that a rootless container uses the files of the user that started it.
fn name_of_user() -> String {
    let (uid, map) = (geteuid().as_raw(), std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default());
    let outer = map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map_while(|number| number.parse::<u32>().ok());
        let (inside, outside, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let index = uid.checked_sub(inside).filter(|&index| index < count)?;
        outside.checked_add(index)
    });
    format!("gantry-{}", outer.unwrap_or(uid))
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
