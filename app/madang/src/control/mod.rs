//! The control socket: how a command reaches the server that holds the data directory.
//!
//! One request a connection: a line of JSON in, lines of JSON out, the last of which says how it ended.

mod client;
mod protocol;
mod server;
mod socket;

pub use client::{ControlError, ask};
pub use protocol::{ControlRequest, Ending, ReplyLine};
pub use server::{ControlServer, Executor};
pub use socket::{connect, listen};

/// The socket's name in the data directory.
pub const SOCKET_NAME: &str = "madang.sock";
