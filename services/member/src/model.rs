//! Members as values.

use madang_board::{MemberId, Role};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

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
