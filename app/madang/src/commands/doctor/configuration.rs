//! Settings that are right by themselves and wrong for a site that others can reach.

use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::finding::Report;
use crate::config::{Settings, Switch};

const PART: &str = "configuration";

/// Looks at settings, and at the file they are in.
pub(super) fn look(settings: &Settings, file: Option<&Path>, report: &mut Report) {
    let before = report.findings.len();
    let host = settings.listen.rsplit_once(':').map_or("", |(host, _)| host);
    let loopback =
        host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    let https = settings.site_url.starts_with("https://");
    if settings.rate_limit == Switch::Off {
        report.warning(
            PART,
            "rate_limit is off: nobody is slowed down, also not who guesses passwords",
            "set rate_limit = \"on\"",
        );
    }
    if settings.operations_are_public() && !loopback {
        report.warning(
            PART,
            "operations_listen is public: anybody can read /metrics and /readyz",
            "set operations_listen to an address of a private network",
        );
    }
    if !loopback && !settings.speaks_tls() && settings.trusted_proxies.is_empty() {
        report.warning(
            PART,
            format!("listen is {} without TLS, and trusted_proxies is empty", settings.listen),
            "set tls_certificate and tls_key, or name the proxy in front in trusted_proxies: without, passwords pass in \
             the clear, or every visitor has the address of the proxy",
        );
    }
    if https && !settings.speaks_tls() && !settings.cookies_secure {
        report.warning(
            PART,
            "site_url is https and cookies_secure is false: a browser sends the session over plain HTTP too",
            "set cookies_secure = true",
        );
    }
    if settings.site_url.is_empty() {
        report.warning(
            PART,
            "site_url is empty: pages name no address of their own, and feeds go by the host that was asked for",
            "set site_url = \"https://…\" once others link to the site",
        );
    }
    let exposed = file.and_then(|file| Some((file, file.metadata().ok()?.permissions().mode() & 0o777)));
    if let Some((file, mode)) = exposed
        && mode & 0o007 != 0
        && (settings.cluster.is_some() || !settings.admin_password.is_empty())
    {
        report.problem(
            PART,
            format!("everybody on this machine can read {} (mode {mode:03o}), which holds secrets", file.display()),
            format!("run `chmod 640 {}` and give it the group of the server", file.display()),
        );
    }
    if report.findings.len() == before {
        report.ok(PART, "nothing stands out");
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::super::finding::tests::told;
    use super::*;

    #[test]
    fn a_site_on_a_public_address_without_tls_is_warned_of() {
        let mut report = Report::default();
        let settings = Settings {
            listen: "0.0.0.0:80".to_owned(),
            site_url: "https://board.example".to_owned(),
            rate_limit: Switch::Off,
            ..Settings::default()
        };
        look(&settings, None, &mut report);
        let warned = told(&report, Level::Warning);
        for word in ["rate_limit", "without TLS", "cookies_secure"] {
            assert!(warned.contains(word), "{warned}");
        }
        let mut report = Report::default();
        let settings = Settings { site_url: "http://127.0.0.1:8080".to_owned(), ..Settings::default() };
        look(&settings, None, &mut report);
        assert_eq!(report.exit_code(), 0, "{}", report.in_words());
    }
}
