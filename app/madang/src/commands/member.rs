//! `madang member create`.

use madang_board::Role;

use super::output::Output;
use crate::composition::site::Site;

/// Registers a member with a role.
pub(super) async fn create(site: &Site, name: &str, password: &str, role: Role, output: &Output) -> anyhow::Result<u8> {
    let member = site.services.members()?.register_with_role(name, password, role).await?;
    output.text(format!("created member {} ({}) with id {}", member.name, word(role), member.member_id)).await?;
    Ok(0)
}

fn word(role: Role) -> &'static str {
    match role {
        Role::Member => "member",
        Role::Moderator => "moderator",
        Role::Admin => "admin",
    }
}
