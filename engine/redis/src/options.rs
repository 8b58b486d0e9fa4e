//! How Redis is reached: one server or a cluster, under which prefix, and how long anybody waits for it.

use std::fmt;

/// How long a command waits for its answer, unless configured.
const RESPONSE_TIMEOUT_MS: u64 = 500;
/// How long a connection may take, unless configured.
const CONNECT_TIMEOUT_MS: u64 = 500;
/// Longest prefix, because every key carries it.
const PREFIX_MAX_BYTES: usize = 64;

/// One server, or Redis Cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// One server; what replicates it is its own business.
    #[default]
    Single,
    /// Redis Cluster: keys are spread by their hash tags.
    Cluster,
}

/// How Redis is reached.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisOptions {
    /// One server or a cluster.
    pub mode: Mode,
    /// `redis://[user:password@]host:port[/database]`: the server, or some nodes of the cluster.
    pub urls: Vec<String>,
    /// Starts every key, so that several programs, and tests, can share a server. Visible ASCII without braces.
    pub prefix: String,
    /// How long a command waits for its answer.
    pub response_timeout_ms: u64,
    /// How long a connection may take.
    pub connect_timeout_ms: u64,
}

/// Why options cannot be used, whatever the server does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// No address.
    #[error("no Redis server is given")]
    NoUrl,
    /// More than one address where one server is meant.
    #[error("{0} addresses are given for a single Redis server: give one, or set the mode of a cluster")]
    ManyUrls(usize),
    /// An address that cannot be read. It may hold a password, so it is not repeated.
    #[error("address {number} of Redis is not valid: {reason}")]
    Url {
        /// Its number in the list, from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A prefix that would break hash tags or grow every key.
    #[error("the prefix of Redis keys must be 1 to {PREFIX_MAX_BYTES} visible ASCII characters without braces")]
    Prefix,
}

impl RedisOptions {
    /// One server, with a program's prefix.
    pub fn single(prefix: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(Mode::Single, prefix.into(), vec![url.into()])
    }

    /// A cluster, by some of its nodes, with a program's prefix.
    pub fn cluster(prefix: impl Into<String>, urls: Vec<String>) -> Self {
        Self::new(Mode::Cluster, prefix.into(), urls)
    }

    fn new(mode: Mode, prefix: String, urls: Vec<String>) -> Self {
        Self { mode, urls, prefix, response_timeout_ms: RESPONSE_TIMEOUT_MS, connect_timeout_ms: CONNECT_TIMEOUT_MS }
    }

    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        match (self.mode, self.urls.len()) {
            (_, 0) => return Err(OptionsError::NoUrl),
            (Mode::Single, many @ 2..) => return Err(OptionsError::ManyUrls(many)),
            (Mode::Single | Mode::Cluster, _) => {}
        }
        for (number, url) in (1..).zip(&self.urls) {
            if !url.starts_with("redis://") {
                let reason = "it must start with redis:// (TLS is not built in)".to_owned();
                return Err(OptionsError::Url { number, reason });
            }
        }
        let is_fit = |byte: u8| byte.is_ascii_graphic() && byte != b'{' && byte != b'}';
        let fits = (1..=PREFIX_MAX_BYTES).contains(&self.prefix.len()) && self.prefix.bytes().all(is_fit);
        if fits { Ok(()) } else { Err(OptionsError::Prefix) }
    }
}

/// Shows no password.
impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls: Vec<_> = self.urls.iter().map(|url| without_credentials(url)).collect();
        f.debug_struct("RedisOptions")
            .field("mode", &self.mode)
            .field("urls", &urls)
            .field("prefix", &self.prefix)
            .field("response_timeout_ms", &self.response_timeout_ms)
            .field("connect_timeout_ms", &self.connect_timeout_ms)
            .finish()
    }
}

/// The address without who signs in. The last `@` counts: a password that was not escaped may hold others.
fn without_credentials(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    match rest.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://…@{host}"),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_shows() {
        for url in
            ["redis://user:secret@host:6379/0", "redis://:secret@host", "user:secret@host", "redis://a:b@secret@h"]
        {
            let shown = format!("{:?}", RedisOptions::single("p", url));
            assert!(!shown.contains("secret"), "{shown}");
        }
        assert!(format!("{:?}", RedisOptions::single("p", "redis://host:1")).contains("redis://host:1"));
    }

    #[test]
    fn options_that_cannot_work_are_refused() {
        assert_eq!(RedisOptions::cluster("p", vec![]).check(), Err(OptionsError::NoUrl));
        let two = RedisOptions {
            mode: Mode::Single,
            ..RedisOptions::cluster("p", vec!["redis://a".into(), "redis://b".into()])
        };
        assert_eq!(two.check(), Err(OptionsError::ManyUrls(2)));
        for url in ["rediss://h", "unix:///tmp/s", "h", ""] {
            assert!(
                matches!(RedisOptions::single("p", url).check(), Err(OptionsError::Url { number: 1, .. })),
                "{url}"
            );
        }
        for prefix in ["", "a{b}", "a b", "é", &"x".repeat(65)] {
            let options = RedisOptions::single(prefix, "redis://h");
            assert_eq!(options.check(), Err(OptionsError::Prefix), "{prefix}");
        }
        assert_eq!(RedisOptions::single("p", "redis://h").check(), Ok(()));
    }
}
