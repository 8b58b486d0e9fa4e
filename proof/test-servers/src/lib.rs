//! Where tests find the servers and programs they need, by one rule: what is missing fails the test, in words that say how to
//! get it. There is no variable that turns the failure into a pass. `cargo xtask test --no-stack` does not start the suites
//! that need servers: those that a `Cargo.toml` lists under `[package.metadata.madang] needs-servers`.

mod network;
mod pair;
pub mod ports;
mod relational;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use network::Cut;
pub use pair::Pair;
pub use relational::{PASSWORD, Relational};

/// Folders below the cache in which Kafka's jars are looked for.
const JARS_DEPTH_MAX: usize = 3;

/// The URLs of at least two MariaDB or MySQL servers.
#[must_use]
pub fn mysql() -> Vec<String> {
    let urls = list("MADANG_TEST_MYSQL");
    assert!(urls.len() >= 2, "MADANG_TEST_MYSQL must name two servers, separated by a comma, and names {}", urls.len());
    urls
}

/// The URL of a single Redis.
#[must_use]
pub fn redis() -> String {
    variable("MADANG_TEST_REDIS")
}

/// The URLs of the nodes of a Redis Cluster.
#[must_use]
pub fn redis_cluster() -> Vec<String> {
    list("MADANG_TEST_REDIS_CLUSTER")
}

/// The addresses of Kafka's brokers, separated by commas.
#[must_use]
pub fn kafka() -> String {
    variable("MADANG_TEST_KAFKA")
}

/// What an environment variable says about a server that the stack does not have.
#[must_use]
pub fn variable(name: &str) -> String {
    let found = std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    found.unwrap_or_else(|| missing(&format!("{name} is not set, and this test needs the server that it names.")))
}

/// A program that a test starts itself, such as nginx. Debian keeps servers where the paths of people often do not lead.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/local/sbin", "/usr/sbin"].map(PathBuf::from));
    let found = folders.map(|folder| folder.join(name)).find(|program| program.is_file());
    found.unwrap_or_else(|| missing(&format!("{name} is not installed, and this test starts it.")))
}

/// The folder with Kafka's jars: the one that `MADANG_TEST_KAFKA_LIB` names, or where `cargo xtask stack up` keeps them.
#[must_use]
pub fn kafka_jars() -> PathBuf {
    let named = std::env::var_os("MADANG_TEST_KAFKA_LIB").map(PathBuf::from);
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    let folders = named.into_iter().chain(cache.map(|cache| cache.join("madang")));
    let found = folders.into_iter().find_map(|folder| with_kafka(&folder, JARS_DEPTH_MAX));
    found.unwrap_or_else(|| missing("Kafka's jars are not here, and this test starts a broker of its own."))
}

/// The first directory at or under this one that holds Kafka itself.
fn with_kafka(directory: &Path, depth: usize) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path()).collect();
    let is_kafka = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("kafka_2.13-") && name.ends_with(".jar")
    };
    if entries.iter().any(is_kafka) {
        return Some(directory.to_owned());
    }
    let below = entries.iter().filter(|path| depth > 0 && path.is_dir());
    below.into_iter().find_map(|path| with_kafka(path, depth - 1))
}

/// Looks until something is seen, within a bound.
#[track_caller]
pub(crate) fn within<T>(limit: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        // Between two looks at the observable, not instead of one.
        std::thread::park_timeout(Duration::from_millis(25));
    }
}

fn list(name: &str) -> Vec<String> {
    variable(name).split(',').map(|item| item.trim().to_owned()).collect()
}

/// Fails the test; the only place that decides what happens when something is missing.
fn missing(what: &str) -> ! {
    panic!(
        "{what}\n`cargo xtask stack up` installs and starts everything that tests need, and `eval \"$(cargo xtask stack \
         env)\"` tells the tests of this shell where it is. `cargo xtask test` does both by itself; with `--no-stack` it \
         leaves out the suites that need servers."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "MADANG_TEST_NO_SUCH_SERVER is not set")]
    fn a_server_that_nobody_named_fails_the_test() {
        let _ = variable("MADANG_TEST_NO_SUCH_SERVER");
    }

    #[test]
    #[should_panic(expected = "no-such-program is not installed")]
    fn a_program_that_is_not_installed_fails_the_test() {
        assert!(program("sh").is_file());
        let _ = program("no-such-program");
    }
}
