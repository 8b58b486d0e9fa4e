//! `madang member create` and `madang member reset`.

use madang_board::Role;
use madang_member::MemberError;

use super::output::Output;
use crate::composition::site::Site;

/// Registers a member with a role.
pub(super) async fn create(site: &Site, name: &str, password: &str, role: Role, output: &Output) -> anyhow::Result<u8> {
    let member = site.services.members()?.register_with_role(name, password, role).await?;
    output.text(format!("created member {} ({}) with id {}", member.name, word(role), member.member_id)).await?;
    Ok(0)
}

/// Makes a link by which a member chooses a new password.
pub(super) async fn reset(site: &Site, name: &str, output: &Output) -> anyhow::Result<u8> {
    let link = match site.services.members()?.issue_reset_by_name(name).await {
        Ok(link) => link,
        Err(MemberError::NotFound) => anyhow::bail!("there is no member named {name:?}"),
        Err(error) => return Err(error.into()),
    };
    output.text(format!("{}{}", site.site_url.as_deref().unwrap_or_default(), link.path())).await?;
    let place = if site.site_url.is_some() { "" } else { " It starts with the address of your site." };
    let text = format!(
        "This link lets {} choose a new password, once, until {}.{place} Whoever has it takes over the account.",
        link.member.name, link.expires_at
    );
    output.text(text).await?;
    Ok(0)
}

fn word(role: Role) -> &'static str {
    match role {
        Role::Member => "member",
        Role::Moderator => "moderator",
        Role::Admin => "admin",
    }
}
