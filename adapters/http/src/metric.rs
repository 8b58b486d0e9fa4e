//! Names of the figures this adapter reports.

/// Calls to peers, by role and outcome.
pub(crate) const CALLS: &str = "madang_peer_calls_total";
/// Calls that were tried again, by role.
pub(crate) const RETRIES: &str = "madang_peer_retries_total";
/// How long a call took until its answer was read, by role.
pub(crate) const CALL_SECONDS: &str = "madang_peer_call_seconds";
/// 1 while the circuit to a peer is open, 0 while calls pass.
pub(crate) const OPEN: &str = "madang_peer_circuit_open";
/// Look-ups of articles that were answered from memory.
pub(crate) const FACTS_REMEMBERED: &str = "madang_peer_facts_remembered_total";
/// Internal calls that were refused for want of the secret.
pub(crate) const REFUSED: &str = "madang_internal_refused_total";
