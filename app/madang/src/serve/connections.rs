//! Connections: what one may cost, how many of people and of other processes the system lets us have, and the certificate,
//! renewed on SIGHUP.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use madang_messaging::{OnError, Stop, Supervisor};
use madang_server::{ConnectionLimits, Server, Tls};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

use super::certificate_end;
use crate::config::Settings;

/// Files that are open beside connections and those to databases: sockets to other servers, operators, the log.
const OTHER_FILES: u64 = 256;
/// Services with a database of their own.
const SERVICES: usize = 6;

/// What the settings say about connections.
#[derive(Clone)]
pub(crate) struct PublicConnections {
    limits: ConnectionLimits,
    /// Connections of other processes, which have a share of their own.
    internal: usize,
    tls: Option<Arc<Tls>>,
}

impl PublicConnections {
    /// Reads the certificate, if there is to be one, and finds out how many connections there can be.
    pub(crate) fn prepare(settings: &Settings) -> anyhow::Result<Self> {
        let tls = match settings.speaks_tls() {
            true => Some(Tls::load(&settings.tls_certificate, &settings.tls_key).context("cannot speak TLS")?),
            false => None,
        };
        let shares = shares(settings);
        let limits = ConnectionLimits {
            connections: shares.public,
            head: Duration::from_millis(settings.head_timeout_ms),
            stall: Duration::from_millis(settings.write_timeout_ms),
            scheduling_delay: Duration::from_millis(settings.scheduling_delay_max_ms),
            ..ConnectionLimits::default()
        };
        Ok(Self { limits, internal: shares.internal, tls: tls.map(Arc::new) })
    }

    /// What an address of this site begins with.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// The server on a socket.
    pub(crate) fn server(&self, listener: TcpListener) -> Server {
        Server::new(listener).with_limits(self.limits).with_tls(self.tls.clone())
    }

    /// The server for other processes. Whoever asks there was admitted by a public server already, or has not the secret: then
    /// they hold a connection no longer than the head of a request may take.
    pub(crate) fn internal_server(&self, listener: TcpListener) -> Server {
        let limits = ConnectionLimits {
            connections: self.internal,
            scheduling_delay: Duration::MAX,
            ..ConnectionLimits::default()
        };
        Server::new(listener).with_limits(limits)
    }

    /// Reads the certificate again whenever the process is sent SIGHUP.
    pub(crate) fn renew_on_hangup(&self, background: &Supervisor) -> anyhow::Result<()> {
        let Some(tls) = self.tls.clone() else { return Ok(()) };
        show_end(&tls);
        // Taken over here, not in the task: a signal that comes first would end the process.
        drop(signal(SignalKind::hangup()).context("cannot listen for SIGHUP")?);
        background.spawn("certificate", OnError::Restart, move |stop: Stop| {
            let tls = tls.clone();
            async move {
                let mut hangups = signal(SignalKind::hangup())?;
                loop {
                    tokio::select! {
                        () = stop.cancelled() => return Ok::<(), std::io::Error>(()),
                        _ = hangups.recv() => match tls.reload() {
                            Ok(()) => {
                                show_end(&tls);
                                info!("read the certificate again; new connections get it");
                            }
                            Err(error) => {
                                warn!("cannot read the certificate again, the one from before stays in use: {:#}", anyhow::Error::from(error));
                            }
                        },
                    }
                }
            }
        });
        Ok(())
    }
}

/// Shows when the certificate ends: one that ends unnoticed closes the site.
fn show_end(tls: &Tls) {
    if let Some(at_s) = certificate_end::ends_at_s(&tls.certificate()) {
        metrics::gauge!("madang_tls_certificate_end_timestamp_seconds").set(at_s as f64);
    }
}

/// Connections of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shares {
    public: usize,
    internal: usize,
}

/// Raises the bound on open files as far as the system allows, and takes no more connections than fit below it: to run
/// out of files would stop more than new connections.
fn shares(settings: &Settings) -> Shares {
    let cluster = settings.cluster.as_ref();
    let internal = cluster.filter(|cluster| !cluster.internal.listen.is_empty());
    let wanted = Shares {
        public: settings.connections_max,
        internal: internal.map_or(0, |cluster| cluster.internal.connections_max),
    };
    let to_databases = cluster.map_or(0, |cluster| SERVICES * cluster.mysql.len() * cluster.mysql_connections_max);
    let others = OTHER_FILES + to_databases as u64;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = (wanted.public + wanted.internal) as u64 + others;
    let raised = maximum.map_or(needed, |maximum| needed.min(maximum));
    let files = match current {
        None => return wanted,
        Some(current) if current >= raised => current,
        Some(current) => match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
            Ok(()) => raised,
            Err(_) => current,
        },
    };
    let possible = wanted.within(files.saturating_sub(others));
    if possible.public < wanted.public {
        let Shares { public, internal } = possible;
        warn!(
            "connections_max is {}, but the system allows {files} open files: accepting {public} connections at most{}",
            wanted.public,
            if wanted.internal == 0 { String::new() } else { format!(", and {internal} from other processes") }
        );
    }
    possible
}

impl Shares {
    /// The same within so many files. Strangers who fill one share leave the other as it is: of few files other processes have
    /// a quarter.
    fn within(self, files: u64) -> Self {
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        if self.public.saturating_add(self.internal) <= files {
            return self;
        }
        let internal = self.internal.min((files / 4).max(1));
        Self { public: self.public.min(files.saturating_sub(internal)).max(1), internal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_few_files_public_connections_keep_their_share() {
        let wanted = Shares { public: 16_384, internal: 512 };
        assert_eq!(wanted.within(20_000), wanted);
        assert_eq!(wanted.within(16_896), wanted);
        assert_eq!(wanted.within(10_000), Shares { public: 9_488, internal: 512 });
        assert_eq!(wanted.within(800), Shares { public: 600, internal: 200 });
        assert_eq!(wanted.within(0), Shares { public: 1, internal: 1 });
        assert_eq!(Shares { public: 100, internal: 0 }.within(40), Shares { public: 40, internal: 0 });
    }
}
