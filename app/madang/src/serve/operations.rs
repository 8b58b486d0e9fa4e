//! The listener for operators: on loopback unless told otherwise, because what `/readyz` and `/metrics` tell of a site is
//! not for everybody, and nobody but an operator needs it.

use std::io::ErrorKind;
use std::time::Duration;

use anyhow::Context as _;
use madang_server::{ConnectionLimits, Server};
use tokio::net::TcpListener;
use tracing::warn;

use crate::config::{OPERATIONS_LISTEN, Settings};

/// Open connections; whoever watches a process needs one or two.
const CONNECTIONS_MAX: usize = 64;

/// Listens, where there is to be a listener of its own. `None` when operators ask at the public one, or when the usual port
/// is taken and nobody asked for it: several servers on one machine must not keep one another from starting.
pub(super) async fn listener(settings: &Settings) -> anyhow::Result<Option<TcpListener>> {
    if settings.operations_are_public() {
        return Ok(None);
    }
    let listen = &settings.operations_listen;
    match TcpListener::bind(listen).await {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if error.kind() == ErrorKind::AddrInUse && listen == OPERATIONS_LISTEN => {
            warn!(
                "another program uses {listen}, so this server offers neither /readyz nor /metrics: set `operations_listen` \
                 to another address, or to \"public\""
            );
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| format!("cannot listen on {listen} (setting `operations_listen`)")),
    }
}

/// The server on that listener. It answers however much there is to do.
pub(super) fn server(listener: TcpListener) -> Server {
    let limits = ConnectionLimits {
        connections: CONNECTIONS_MAX,
        scheduling_delay: Duration::MAX,
        ..ConnectionLimits::default()
    };
    Server::new(listener).with_limits(limits)
}
