//! Binds and reaches a Unix socket in a directory whose path may be longer than a socket address can hold.

use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use super::SOCKET_NAME;

const SOCKET_MODE: u32 = 0o600;
/// `sun_path` holds 108 bytes on Linux and 104 elsewhere, the final zero included; some room is left for a suffix.
const PATH_MAX_BYTES: usize = 95;

/// Listens in the data directory, in place of a socket that a killed server left behind. The caller holds the lock.
pub(crate) fn listen(data: &Path) -> io::Result<UnixListener> {
    let directory = Short::of(data)?;
    let unfinished = directory.path.join("madang.sock.new");
    match std::fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Bound under another name, closed to others, then moved into place: nobody ever sees it open.
    let listener = UnixListener::bind(&unfinished)?;
    std::fs::set_permissions(&unfinished, Permissions::from_mode(SOCKET_MODE))?;
    std::fs::rename(&unfinished, directory.path.join(SOCKET_NAME))?;
    Ok(listener)
}

/// Connects to the server of a data directory.
pub(crate) async fn connect(data: &Path) -> io::Result<UnixStream> {
    let directory = Short::of(data)?;
    UnixStream::connect(directory.path.join(SOCKET_NAME)).await
}

/// A short way to a directory, good while this lives.
struct Short {
    path: PathBuf,
    _open: Option<File>,
}

impl Short {
    fn of(data: &Path) -> io::Result<Self> {
        if data.as_os_str().len() + 1 + SOCKET_NAME.len() <= PATH_MAX_BYTES {
            return Ok(Self { path: data.to_owned(), _open: None });
        }
        let open = File::open(data)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        if !path.exists() {
            let message = format!("the path {} is too long for a socket on this system", data.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Self { path, _open: Some(open) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_path_longer_than_an_address_works() {
        let root = tempfile::tempdir().unwrap();
        let long = root.path().join("x".repeat(100)).join("y".repeat(100));
        std::fs::create_dir_all(&long).unwrap();
        let listener = listen(&long).unwrap();
        let (connected, accepted) = tokio::join!(connect(&long), listener.accept());
        connected.unwrap();
        accepted.unwrap();
        let mode = std::fs::metadata(long.join(SOCKET_NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, SOCKET_MODE);
    }

    #[tokio::test]
    async fn a_socket_left_behind_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        drop(listen(root.path()).unwrap());
        assert!(connect(root.path()).await.is_err(), "nobody listens");
        let listener = listen(root.path()).unwrap();
        let (connected, accepted) = tokio::join!(connect(root.path()), listener.accept());
        connected.unwrap();
        accepted.unwrap();
    }
}
