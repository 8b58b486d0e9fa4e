//! SIGTERM and SIGINT: the first asks for an orderly end, a second ends at once.

use std::fmt;

use anyhow::Context as _;
use tokio::signal::unix::{self, SignalKind};

/// A request to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// From a service manager.
    Terminate,
    /// From a person at a terminal.
    Interrupt,
}

impl Signal {
    /// Ends the process without waiting, with the exit code that shells know: 128 and the signal's number.
    pub(crate) fn exit_at_once(self) -> ! {
        let code = match self {
            Self::Terminate => 128 + 15,
            Self::Interrupt => 128 + 2,
        };
        std::process::exit(code)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Terminate => "SIGTERM",
            Self::Interrupt => "SIGINT",
        })
    }
}

/// The signals as they come.
pub(crate) struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
}

impl Signals {
    /// Takes the signals over from the system's defaults.
    pub(crate) fn install() -> anyhow::Result<Self> {
        let install = |kind| unix::signal(kind).context("cannot listen for signals");
        Ok(Self { terminate: install(SignalKind::terminate())?, interrupt: install(SignalKind::interrupt())? })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.interrupt.recv() => Signal::Interrupt,
        }
    }
}
