//! Members as values.

use madang_kernel::{MemberId, Timestamp};
use serde::{Deserialize, Serialize};

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

/// A member as others see them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Names the member.
    pub member_id: MemberId,
    /// The name as they write it.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// When they registered.
    pub created_at: Timestamp,
}
