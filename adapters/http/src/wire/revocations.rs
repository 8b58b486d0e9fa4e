//! What is asked of the owner of members: which sessions ended and how members stand.

use madang_member::Revocation;

message! {
    /// Revocations after a cursor.
    RevocationsAfter { after: i64, limit: u32 } at "/internal/v1/members/revocations" => RevocationsAnswer
}
message! {
    /// In the order of their commits, with the cursor after them.
    RevocationsAnswer { revocations: Vec<Revocation>, next: i64 }
}
