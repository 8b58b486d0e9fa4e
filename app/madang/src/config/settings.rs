//! Every setting with its default: the one list from which file keys, environment names and `madang config` follow.

use std::path::PathBuf;

use jiff::tz::TimeZone;
use madang_comment::{DEPTH_LIMIT, DepthMax};
use madang_server::TrustedProxies;
use serde::{Deserialize, Serialize};

use super::cluster::ClusterSettings;

/// What an operator may set. A key is the same in the TOML file, as `MADANG_<KEY>` and as `--set key=value`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Where HTTP listens; port 0 picks a free one.
    pub listen: String,
    /// The data directory.
    pub data: PathBuf,
    /// `all`, or a comma-separated list of roles.
    pub roles: String,
    /// `error`, `warn`, `info`, `debug`, `trace`, or directives such as `info,madang_sqlite=debug`.
    pub log_level: String,
    /// `human` or `json`.
    pub log_format: LogFormat,
    /// The site's time zone, such as `Asia/Seoul`: when its day ends.
    pub time_zone: String,
    /// How deep comments may go on boards whose comments are trees.
    pub comment_depth_max: u32,
    /// Memory of the query model, in megabytes.
    pub read_model_mb: u64,
    /// `on` or `off`; off is for load tests.
    pub rate_limit: Switch,
    /// Largest request body.
    pub body_limit_bytes: usize,
    /// How long the body of a request may take to arrive; one that takes longer is answered with 408.
    pub body_timeout_ms: u64,
    /// Open connections; more are refused with 503 at once.
    pub connections_max: usize,
    /// How long a client may take for a TLS handshake and for the head of each request, and idle in between.
    pub head_timeout_ms: u64,
    /// How long a client may take nothing of an answer before it is cut off.
    pub write_timeout_ms: u64,
    /// TLS: a chain of certificates as PEM. Without it, plain HTTP is spoken, for a proxy in front.
    pub tls_certificate: PathBuf,
    /// TLS: the key of the certificate as PEM, readable by its owner alone. SIGHUP reads both files again.
    pub tls_key: PathBuf,
    /// How long a ready task may wait to run; while it is longer, a share of requests is refused with 503, writes before
    /// reads.
    pub scheduling_delay_max_ms: u64,
    /// Requests answered at the same time; more are refused with 503.
    pub in_flight_max: usize,
    /// A request that takes longer is answered with 503.
    pub request_timeout_ms: u64,
    /// Marks the session cookie `Secure`: set it behind TLS.
    pub cookies_secure: bool,
    /// `https://board.example`: under which the site is known, for feeds, the sitemap and links to it. If it is empty, as
    /// readers ask for it.
    pub site_url: String,
    /// Addresses and networks, separated by commas, of proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: String,
    /// Threads that read the database.
    pub readers: usize,
    /// Writes of requests that may wait; more are refused with 503.
    pub foreground_queue: usize,
    /// Writes of background work that may wait.
    pub background_queue: usize,
    /// Calls folded into one commit.
    pub batch_max: usize,
    /// Entries of the event log kept for groups that are not yet there.
    pub event_log_keep_rows: u64,
    /// Entries of the event log younger than this are kept.
    pub event_log_keep_for_s: u64,
    /// A consumer group further behind than this no longer holds the log back.
    pub event_log_hard_max_rows: u64,
    /// How often old log entries, idempotency keys and revocations are removed.
    pub retention_interval_s: u64,
    /// How long a sign-in is good for.
    pub session_ttl_s: u64,
    /// How often sessions ended elsewhere are looked up.
    pub revocation_poll_ms: u64,
    /// argon2id: memory.
    pub hash_memory_kib: u32,
    /// argon2id: passes.
    pub hash_passes: u32,
    /// Passwords hashed at the same time.
    pub hash_concurrency: usize,
    /// Sign-ins and registrations that may wait for a hash.
    pub hash_queue: usize,
    /// How long a stopping server waits for what is under way.
    pub drain_timeout_ms: u64,
    /// Name of the first administrator, created at start while there is none.
    pub admin_name: String,
    /// Their password.
    pub admin_password: String,
    /// The servers of a cluster; absent on the embedded composition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterSettings>,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

/// Something that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switch {
    /// In force.
    On,
    /// Not in force.
    Off,
}

/// Settings whose values are never printed.
pub(super) const SECRETS: [&str; 1] = ["admin_password"];

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            data: PathBuf::from("./madang-data"),
            roles: "all".to_owned(),
            log_level: "info".to_owned(),
            log_format: LogFormat::Human,
            time_zone: "UTC".to_owned(),
            comment_depth_max: DepthMax::DEFAULT.get(),
            read_model_mb: 256,
            rate_limit: Switch::On,
            body_limit_bytes: 256 * 1_024,
            body_timeout_ms: 8_000,
            connections_max: 16_384,
            head_timeout_ms: 10_000,
            write_timeout_ms: 30_000,
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            scheduling_delay_max_ms: 75,
            in_flight_max: 512,
            request_timeout_ms: 10_000,
            cookies_secure: false,
            site_url: String::new(),
            trusted_proxies: String::new(),
            readers: std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4),
            foreground_queue: 4_096,
            background_queue: 1_024,
            batch_max: 256,
            event_log_keep_rows: 500_000,
            event_log_keep_for_s: 60 * 60,
            event_log_hard_max_rows: 5_000_000,
            retention_interval_s: 60,
            session_ttl_s: 30 * 24 * 60 * 60,
            revocation_poll_ms: 5_000,
            hash_memory_kib: 19 * 1_024,
            hash_passes: 2,
            hash_concurrency: 1,
            hash_queue: 64,
            drain_timeout_ms: 15_000,
            admin_name: String::new(),
            admin_password: String::new(),
            cluster: None,
        }
    }
}

impl Settings {
    /// Whether this process speaks TLS itself.
    pub(crate) fn speaks_tls(&self) -> bool {
        !self.tls_certificate.as_os_str().is_empty()
    }

    /// Everything out of its range, as (setting, what it must be).
    pub(super) fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let mut range = |key, value: u64, least: u64, most: u64| {
            if !(least..=most).contains(&value) {
                problems.push((key, format!("must be between {least} and {most}, not {value}")));
            }
        };
        range("comment_depth_max", u64::from(self.comment_depth_max), 1, u64::from(DEPTH_LIMIT));
        range("read_model_mb", self.read_model_mb, 1, 1_000_000);
        range("body_limit_bytes", self.body_limit_bytes as u64, 1_024, 64 * 1_024 * 1_024);
        range("body_timeout_ms", self.body_timeout_ms, 10, 600_000);
        range("connections_max", self.connections_max as u64, 1, 1_000_000);
        range("head_timeout_ms", self.head_timeout_ms, 10, 600_000);
        range("write_timeout_ms", self.write_timeout_ms, 10, 600_000);
        range("scheduling_delay_max_ms", self.scheduling_delay_max_ms, 8, 600_000);
        range("in_flight_max", self.in_flight_max as u64, 1, 1_000_000);
        range("request_timeout_ms", self.request_timeout_ms, 100, 600_000);
        range("readers", self.readers as u64, 1, 64);
        range("foreground_queue", self.foreground_queue as u64, 1, 1_000_000);
        range("background_queue", self.background_queue as u64, 1, 1_000_000);
        range("batch_max", self.batch_max as u64, 1, 10_000);
        range("event_log_keep_rows", self.event_log_keep_rows, 0, 1_000_000_000);
        range("event_log_keep_for_s", self.event_log_keep_for_s, 0, 365 * 24 * 60 * 60);
        range("event_log_hard_max_rows", self.event_log_hard_max_rows, 1_000, 10_000_000_000);
        range("retention_interval_s", self.retention_interval_s, 1, 24 * 60 * 60);
        range("session_ttl_s", self.session_ttl_s, 60, 10 * 365 * 24 * 60 * 60);
        // Promised elsewhere: an ended session is refused everywhere within 60 s.
        range("revocation_poll_ms", self.revocation_poll_ms, 100, 50_000);
        range("hash_memory_kib", u64::from(self.hash_memory_kib), 8, 1_024 * 1_024);
        range("hash_passes", u64::from(self.hash_passes), 1, 100);
        range("hash_concurrency", self.hash_concurrency as u64, 1, 64);
        range("hash_queue", self.hash_queue as u64, 1, 100_000);
        range("drain_timeout_ms", self.drain_timeout_ms, 100, 600_000);
        if !self.listen.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) {
            problems.push(("listen", format!("must be HOST:PORT, not {:?}", self.listen)));
        }
        if self.tls_certificate.as_os_str().is_empty() != self.tls_key.as_os_str().is_empty() {
            problems.push(("tls_certificate", "and tls_key go together: set both or neither".to_owned()));
        }
        if self.data.as_os_str().is_empty() {
            problems.push(("data", "must name a directory".to_owned()));
        }
        if let Err(error) = TimeZone::get(&self.time_zone) {
            problems.push(("time_zone", format!("must be the name of a time zone such as Asia/Seoul or UTC: {error}")));
        }
        if !self.site_url.is_empty() && !is_site_url(&self.site_url) {
            problems.push(("site_url", "must be http:// or https:// with a host, and a port if need be".to_owned()));
        }
        if let Err(error) = self.trusted_proxies.parse::<TrustedProxies>() {
            problems
                .push(("trusted_proxies", format!("must list addresses and networks, separated by commas: {error}")));
        }
        match (self.roles.parse::<crate::config::roles::Roles>(), &self.cluster) {
            (Err(error), _) => problems.push(("roles", error.to_string())),
            (Ok(roles), Some(cluster)) => problems.extend(cluster.problems(&roles)),
            (Ok(_), None) => {}
        }
        if let Err(error) = tracing_subscriber::EnvFilter::builder().parse(&self.log_level) {
            problems.push(("log_level", error.to_string()));
        }
        if self.admin_name.is_empty() != self.admin_password.is_empty() {
            problems.push(("admin_name", "and admin_password go together: set both or neither".to_owned()));
        }
        problems
    }
}

/// Scheme, host and port, and nothing behind them.
fn is_site_url(url: &str) -> bool {
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = host.map(|host| host.strip_suffix('/').unwrap_or(host));
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    host.is_some_and(|host| !host.is_empty() && host.len() <= 255 && host.bytes().all(is_fit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_url_is_a_scheme_and_a_host() {
        for url in ["https://board.example", "http://127.0.0.1:8080/", "https://[::1]:8443"] {
            assert!(is_site_url(url), "{url}");
        }
        for url in ["board.example", "https://", "https://a/b", "ftp://a", "https://a\"b", "https://a b"] {
            assert!(!is_site_url(url), "{url}");
        }
    }
}
