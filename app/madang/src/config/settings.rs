//! Every setting with its default: the one list from which file keys, environment names and `madang config` follow.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use madang_comment::{DEPTH_LIMIT, DepthMax};
use madang_member::RESERVED_NAMES;
use madang_server::{RequestLog, TrustedProxies};
use madang_view::LiveLimits;
use serde::{Deserialize, Serialize};

use super::cluster::ClusterSettings;
use super::log_filter::LogFilter;

/// Declares each setting once: what it is for, its type, its default, and for a number its range.
macro_rules! settings {
    ($($(#[$doc:meta])* $key:ident: $type:ty = $default:expr $(, within $range:expr)?;)*) => {
        /// What an operator may set. A key is the same in the TOML file, as `MADANG_<KEY>` and as `--set key=value`.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct Settings {
            $($(#[$doc])* pub $key: $type,)*
            /// The servers of a cluster; absent on the embedded composition.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub cluster: Option<ClusterSettings>,
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($key: $default,)* cluster: None }
            }
        }

        impl Settings {
            fn out_of_range(&self) -> impl Iterator<Item = (&'static str, String)> {
                [$($(out_of_range(stringify!($key), &self.$key, &($range)),)?)*].into_iter().flatten()
            }

            /// The range of a setting that is a number, in words.
            pub(super) fn range_of(key: &str) -> Option<String> {
                let ranges = [$($((stringify!($key), in_words::<$type>(&($range))),)?)*];
                ranges.into_iter().find(|(known, _)| *known == key).map(|(_, range)| range)
            }
        }
    };
}

settings! {
    /// Where HTTP listens; port 0 picks a free one.
    listen: String = "127.0.0.1:8080".to_owned();
    /// Where `/readyz` and `/metrics` listen, for operators alone; `public` puts them beside everything else.
    operations_listen: String = OPERATIONS_LISTEN.to_owned();
    /// The data directory.
    data: PathBuf = PathBuf::from("./madang-data");
    /// `all`, or a comma-separated list of roles.
    roles: String = "all".to_owned();
    /// `error`, `warn`, `info`, `debug`, `trace`, or directives such as `info,madang_sqlite=debug`.
    log_level: String = "info".to_owned();
    /// `human` or `json`.
    log_format: LogFormat = LogFormat::Human;
    /// Which requests have a line in the log: `off`, `errors` (5xx, 401, 403 and slow ones) or `all`.
    request_log: RequestLog = RequestLog::Errors;
    /// The site's time zone, such as `Asia/Seoul`: when its day ends.
    time_zone: String = "UTC".to_owned();
    /// How deep comments may go on boards whose comments are trees.
    comment_depth_max: u32 = DepthMax::DEFAULT.get(), within 1..=DEPTH_LIMIT;
    /// Memory of the query model, in megabytes.
    read_model_mb: u64 = 256, within 1..=1_000_000;
    /// `on` or `off`; off is for load tests.
    rate_limit: Switch = Switch::On;
    /// Largest request body.
    body_limit_bytes: usize = 256 * 1_024, within 1_024..=64 * 1_024 * 1_024;
    /// How long the body of a request may take to arrive; one that takes longer is answered with 408.
    body_timeout_ms: u64 = 8_000, within 10..=600_000;
    /// Open connections; more are refused with 503 at once.
    connections_max: usize = 16_384, within 1..=1_000_000;
    /// How long a client may take for a TLS handshake and for the head of each request, and idle in between.
    head_timeout_ms: u64 = 10_000, within 10..=600_000;
    /// How long a client may take nothing of an answer before it is cut off.
    write_timeout_ms: u64 = 30_000, within 10..=600_000;
    /// TLS: a chain of certificates as PEM. Without it, plain HTTP is spoken, for a proxy in front.
    tls_certificate: PathBuf = PathBuf::new();
    /// TLS: the key of the certificate as PEM, readable by its owner alone. SIGHUP reads both files again.
    tls_key: PathBuf = PathBuf::new();
    /// How long a ready task may wait to run; while it is longer, a share of requests is refused with 503, writes before
    /// reads.
    scheduling_delay_max_ms: u64 = 75, within 8..=600_000;
    /// Requests answered at the same time; more are refused with 503.
    in_flight_max: usize = 512, within 1..=1_000_000;
    /// A request that takes longer is answered with 503.
    request_timeout_ms: u64 = 10_000, within 100..=600_000;
    /// Marks the session cookie `Secure`: set it behind TLS.
    cookies_secure: bool = false;
    /// `https://board.example`: under which the site is known, for canonical addresses, previews of links, feeds and the
    /// sitemap. If it is empty, pages name no address of their own, and feeds and the sitemap go by the one that was asked for.
    site_url: String = String::new();
    /// Addresses and networks, separated by commas, of proxies whose `X-Forwarded-For` is believed.
    trusted_proxies: String = String::new();
    /// Threads that read the database.
    readers: usize = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4), within 1..=64;
    /// Writes of requests that may wait; more are refused with 503.
    foreground_queue: usize = 4_096, within 1..=1_000_000;
    /// Writes of background work that may wait.
    background_queue: usize = 1_024, within 1..=1_000_000;
    /// Calls folded into one commit.
    batch_max: usize = 256, within 1..=10_000;
    /// Entries of the event log kept for groups that are not yet there.
    event_log_keep_rows: u64 = 500_000, within 0..=1_000_000_000;
    /// Entries of the event log younger than this are kept.
    event_log_keep_for_s: u64 = 60 * 60, within 0..=365 * 24 * 60 * 60;
    /// A consumer group further behind than this no longer holds the log back.
    event_log_hard_max_rows: u64 = 5_000_000, within 1_000..=10_000_000_000;
    /// How often old log entries, idempotency keys and revocations are removed.
    retention_interval_s: u64 = 60, within 1..=24 * 60 * 60;
    /// How long a sign-in is good for.
    session_ttl_s: u64 = 30 * 24 * 60 * 60, within 60..=10 * 365 * 24 * 60 * 60;
    /// How often sessions ended elsewhere are looked up.
    // Promised elsewhere: an ended session is refused everywhere within 60 s.
    revocation_poll_ms: u64 = 5_000, within 100..=50_000;
    /// argon2id: memory.
    hash_memory_kib: u32 = 19 * 1_024, within 8..=1_024 * 1_024;
    /// argon2id: passes.
    hash_passes: u32 = 2, within 1..=100;
    /// Passwords hashed at the same time.
    hash_concurrency: usize = 1, within 1..=64;
    /// Sign-ins and registrations that may wait for a hash.
    hash_queue: usize = 64, within 1..=100_000;
    /// Names, separated by commas, that only those who run the site may take, however they are written.
    reserved_names: String = RESERVED_NAMES.to_owned();
    /// Guests of one network (an IPv4 address, 64 bits of an IPv6 address) whose views of one article count within ten minutes.
    guest_views_per_network: u32 = LiveLimits::default().network_guests_max, within 1..=1_000_000;
    /// How long a stopping server waits for what is under way.
    drain_timeout_ms: u64 = 15_000, within 100..=600_000;
    /// Name of the first administrator, created at start while there is none.
    admin_name: String = String::new();
    /// Their password.
    admin_password: String = String::new();
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

/// Where operators ask unless told otherwise. Where this is taken, a server does without.
pub(crate) const OPERATIONS_LISTEN: &str = "127.0.0.1:9180";
/// In place of an address: on the public listener.
pub(crate) const OPERATIONS_PUBLIC: &str = "public";

/// Settings whose values are never printed.
pub(super) const SECRETS: [&str; 1] = ["admin_password"];

impl Settings {
    /// Whether this process speaks TLS itself.
    pub(crate) fn speaks_tls(&self) -> bool {
        !self.tls_certificate.as_os_str().is_empty()
    }

    /// Whether anybody may ask what operators do.
    pub(crate) fn operations_are_public(&self) -> bool {
        self.operations_listen == OPERATIONS_PUBLIC
    }

    /// Everything out of its range, as (setting, what it must be).
    pub(super) fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems: Vec<_> = self.out_of_range().collect();
        if !is_address(&self.listen) {
            problems.push(("listen", format!("must be HOST:PORT, such as 127.0.0.1:8080, not {:?}", self.listen)));
        }
        if !self.operations_are_public() && !is_address(&self.operations_listen) {
            let text = format!(
                "must be HOST:PORT, such as {OPERATIONS_LISTEN}, or {OPERATIONS_PUBLIC}, not {:?}",
                self.operations_listen
            );
            problems.push(("operations_listen", text));
        }
        if self.tls_certificate.as_os_str().is_empty() != self.tls_key.as_os_str().is_empty() {
            problems.push(("tls_certificate", "and `tls_key` go together: set both, or neither".to_owned()));
        }
        if self.data.as_os_str().is_empty() {
            problems.push(("data", "must name a directory".to_owned()));
        }
        if let Err(error) = TimeZone::get(&self.time_zone) {
            problems
                .push(("time_zone", format!("must be the name of a time zone, such as Asia/Seoul or UTC: {error}")));
        }
        if !self.site_url.is_empty() && !is_site_url(&self.site_url) {
            problems.push((
                "site_url",
                "must be the address of the site without a path, such as https://board.example".to_owned(),
            ));
        }
        if let Err(error) = self.trusted_proxies.parse::<TrustedProxies>() {
            problems.push((
                "trusted_proxies",
                format!("must be a list of addresses and networks, separated by commas: {error}"),
            ));
        }
        match (self.roles.parse::<crate::config::roles::Roles>(), &self.cluster) {
            (Err(error), _) => problems.push(("roles", error.to_string())),
            (Ok(roles), Some(cluster)) => problems.extend(cluster.problems(&roles)),
            (Ok(_), None) => {}
        }
        if let Err(error) = self.log_level.parse::<LogFilter>() {
            problems.push(("log_level", error.to_string()));
        }
        if self.admin_name.is_empty() != self.admin_password.is_empty() {
            problems.push(("admin_name", "and `admin_password` go together: set both, or neither".to_owned()));
        }
        problems
    }
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

/// What is said of a number outside of its range.
pub(super) fn out_of_range<N: PartialOrd + fmt::Display>(
    key: &'static str,
    value: &N,
    range: &RangeInclusive<N>,
) -> Option<(&'static str, String)> {
    (!range.contains(value)).then(|| (key, format!("must be {}, not {value}", in_words(range))))
}

/// A range as messages tell it.
pub(super) fn in_words<N: fmt::Display>(range: &RangeInclusive<N>) -> String {
    format!("a whole number from {} to {}", range.start(), range.end())
}

/// Scheme, host and port, and nothing behind them.
impl Settings {
    /// Scheme and host under which the site is known, without a slash behind them.
    pub(crate) fn base(&self) -> Option<&str> {
        Some(self.site_url.trim_end_matches('/')).filter(|url| !url.is_empty())
    }
}

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
    fn by_default_a_password_costs_what_asvs_asks_for() {
        let settings = Settings::default();
        assert!(settings.hash_memory_kib >= 15 * 1_024 && settings.hash_passes >= 2, "{settings:?}");
    }

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
