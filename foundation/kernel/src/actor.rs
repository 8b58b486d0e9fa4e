//! Who acts: what a request carries through every service, without asking the member service again.

use serde::{Deserialize, Serialize};

use crate::MemberId;

/// What a member may do on the site; each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Writes, comments, likes.
    Member,
    /// Also edits and deletes what others wrote.
    Moderator,
    /// Also creates boards and gives roles.
    Admin,
}

/// A signed-in member, as established from their token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The member.
    pub member_id: MemberId,
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: Role,
}
