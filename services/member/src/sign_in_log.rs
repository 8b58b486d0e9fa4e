//! The lines of the log about sign-ins, for whoever looks for an intruder and for tools that shut one out by address.

use std::net::IpAddr;

use madang_board::MemberId;

use crate::MemberName;

/// Somebody signed in.
pub(crate) fn succeeded(address: Option<IpAddr>, member: MemberId) {
    tracing::info!(%member, "signed in from {}", shown(address));
}

/// A name and a password did not belong together. The address stands before anything that was typed, so that nobody can
/// write another one in its place. The password is never here, and so a name is told only if an account could have it:
/// people type one in place of the other.
pub(crate) fn failed(address: Option<IpAddr>, name: &str) {
    let address = shown(address);
    match MemberName::of_account(name) {
        Ok(name) => tracing::warn!("sign-in failed from {address}: {:?}", name.as_str()),
        Err(_) => tracing::warn!("sign-in failed from {address}: no account can have the name that was typed"),
    }
}

fn shown(address: Option<IpAddr>) -> String {
    address.map_or_else(|| "an unknown address".to_owned(), |address| address.to_canonical().to_string())
}
