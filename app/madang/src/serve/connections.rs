//! Public connections: what one may cost, how many the system lets us have, and the certificate, renewed on SIGHUP.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use madang_messaging::{OnError, Stop, Supervisor};
use madang_server::{ConnectionLimits, Server, Tls};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

use crate::config::Settings;

/// Files that are open beside connections: databases, sockets to other servers, the log.
const OTHER_FILES: u64 = 256;

/// What the settings say about connections.
#[derive(Clone)]
pub(crate) struct PublicConnections {
    limits: ConnectionLimits,
    tls: Option<Arc<Tls>>,
}

impl PublicConnections {
    /// Reads the certificate, if there is to be one, and finds out how many connections there can be.
    pub(crate) fn prepare(settings: &Settings) -> anyhow::Result<Self> {
        let tls = match settings.speaks_tls() {
            true => Some(Tls::load(&settings.tls_certificate, &settings.tls_key).context("cannot speak TLS")?),
            false => None,
        };
        let limits = ConnectionLimits {
            connections: connections(settings.connections_max),
            head: Duration::from_millis(settings.head_timeout_ms),
            stall: Duration::from_millis(settings.write_timeout_ms),
            scheduling_delay: Duration::from_millis(settings.scheduling_delay_max_ms),
            ..ConnectionLimits::default()
        };
        Ok(Self { limits, tls: tls.map(Arc::new) })
    }

    /// What an address of this site begins with.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// The server on a socket.
    pub(crate) fn server(&self, listener: TcpListener) -> Server {
        Server::new(listener).with_limits(self.limits).with_tls(self.tls.clone())
    }

    /// Reads the certificate again whenever the process is sent SIGHUP.
    pub(crate) fn renew_on_hangup(&self, background: &Supervisor) -> anyhow::Result<()> {
        let Some(tls) = self.tls.clone() else { return Ok(()) };
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
                            Ok(()) => info!("read the certificate again"),
                            Err(error) => warn!("the certificate stays as it was: {error}"),
                        },
                    }
                }
            }
        });
        Ok(())
    }
}

/// Raises the bound on open files as far as the system allows, and takes no more connections than fit below it: to run
/// out of files would stop more than new connections.
fn connections(wanted: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = wanted as u64 + OTHER_FILES;
    let raised = maximum.map_or(needed, |maximum| needed.min(maximum));
    let files = match current {
        None => return wanted,
        Some(current) if current >= raised => current,
        Some(current) => match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
            Ok(()) => raised,
            Err(_) => current,
        },
    };
    let possible = usize::try_from(files.saturating_sub(OTHER_FILES)).unwrap_or(wanted).max(1);
    if possible < wanted {
        warn!("connections_max is {wanted}, but the system allows {files} open files: taking {possible} connections");
    }
    possible.min(wanted)
}
