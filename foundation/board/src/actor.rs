//! Who acts: what a request carries through every service, without asking the member service again.

use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{BoardId, MemberId};

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

names!(Role { Member = "member", Moderator = "moderator", Admin = "admin" });

/// A signed-in member, as established from their token and from what is known beyond it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The member.
    pub member_id: MemberId,
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Until when they may only read, if they are suspended now.
    pub suspended_until: Option<Timestamp>,
    /// The boards on which they may do what a moderator may.
    pub moderates: Vec<BoardId>,
}

impl Actor {
    /// A member in good standing who moderates no board in particular.
    pub fn new(member_id: MemberId, name: impl Into<String>, role: Role) -> Self {
        Self { member_id, name: name.into(), role, suspended_until: None, moderates: Vec::new() }
    }
}
