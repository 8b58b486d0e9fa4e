//! A member beside what they did: who they are, by id and name.

use madang_board::MemberId;
use madang_event::Writer;
use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::IdText;

/// A member by id and name.
#[derive(Serialize, ToSchema)]
pub(crate) struct NamedMember {
    #[schema(value_type = IdText)]
    member_id: MemberId,
    /// The name they had then.
    #[schema(example = "hana")]
    name: String,
}

impl From<Writer> for NamedMember {
    fn from(Writer { member_id, name }: Writer) -> Self {
        Self { member_id, name }
    }
}
