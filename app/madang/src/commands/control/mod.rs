//! The control socket: how a command reaches the server that holds the data directory.
//!
//! One request a connection: a line of JSON in, lines of JSON out, the last of which says how it ended.

mod client;
mod protocol;
mod server;
mod socket;

pub(crate) use client::{ControlError, ask};
pub(crate) use protocol::{ControlRequest, Ending};
pub(crate) use server::ControlServer;
pub(crate) use socket::listen;

/// The socket's name in the data directory.
pub(crate) const SOCKET_NAME: &str = "madang.sock";
