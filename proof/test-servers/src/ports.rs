//! Ports for processes that must know one another's before they start, and keep them over a restart.

use std::collections::HashSet;
use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};

/// Below what systems hand out by themselves, so that nobody gets one by chance.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

static TAKEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);

/// A port that nobody listens on now, and that is handed out once.
#[must_use]
pub fn free() -> u16 {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = taken.get_or_insert_default();
    let start = RANGE.start + rand::random::<u16>() % (RANGE.end - RANGE.start);
    let all = (start..RANGE.end).chain(RANGE.start..start);
    let port = all.into_iter().find(|port| !taken.contains(port) && TcpListener::bind(("127.0.0.1", *port)).is_ok());
    let port = port.unwrap_or_else(|| panic!("no port between {} and {} is free", RANGE.start, RANGE.end));
    taken.insert(port);
    port
}
