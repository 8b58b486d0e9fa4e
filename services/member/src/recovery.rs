//! A forgotten password: an administrator, or whoever runs the site, gives out a link by which the member chooses a new one.
//! It is good for an hour and once. Only its digest is stored, so whoever reads the database cannot use it.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use madang_board::rules::{About, Action, may};
use madang_board::{ActKind, Actor, MemberId};
use madang_kernel::Timestamp;
use sha2::{Digest, Sha256};

use crate::device::DeviceId;
use crate::password::Password;
use crate::{Change, ChangeMember, Member, MemberError, MemberService, Proof};

/// How long a link is good for.
pub const RESET_TTL: Duration = Duration::from_secs(60 * 60);
/// Random bytes in a token.
const TOKEN_BYTES: usize = 32;

/// The digest of a token, as it is stored.
pub type ResetDigest = [u8; 32];

/// A link that was given out, as it is stored. A member has one at a time: a new one takes the place of the one before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PasswordReset {
    /// Whose password it resets.
    pub member_id: MemberId,
    /// The digest of its token.
    pub digest: ResetDigest,
    /// When it is no longer good.
    pub expires_at: Timestamp,
}

/// Without the digest: logs need not help anybody to try tokens.
impl fmt::Debug for PasswordReset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("PasswordReset");
        shown.field("member_id", &self.member_id).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// A link, the only time that its token is told.
pub struct ResetLink {
    /// What the link ends with.
    pub token: String,
    /// Whose password it resets.
    pub member: Member,
    /// When it is no longer good.
    pub expires_at: Timestamp,
}

impl ResetLink {
    /// Its address on the site.
    pub fn path(&self) -> String {
        format!("/password-reset/{}", self.token)
    }
}

/// Without the token: whoever reads it in a log could use it.
impl fmt::Debug for ResetLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ResetLink");
        shown.field("member", &self.member).field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

impl MemberService {
    /// Makes a link by which a member chooses a new password (administrators), with its line in the log of moderation.
    pub async fn issue_reset(&self, actor: &Actor, member: MemberId, proof: Proof) -> Result<ResetLink, MemberError> {
        may(actor, Action::ResetPassword, About::NOTHING)?;
        let act = self.act(actor, ActKind::PasswordResetIssued, member)?;
        self.new_reset(member, proof, Some(act)).await
    }

    /// The same for whoever runs the site, by the member's name.
    pub async fn issue_reset_by_name(&self, name: &str) -> Result<ResetLink, MemberError> {
        let member = self.find_by_name(name).await?.ok_or(MemberError::NotFound)?;
        self.new_reset(member.member_id, Proof::Session, None).await
    }

    async fn new_reset(
        &self,
        member_id: MemberId,
        proof: Proof,
        act: Option<madang_board::Act>,
    ) -> Result<ResetLink, MemberError> {
        let token = URL_SAFE_NO_PAD.encode(rand::random::<[u8; TOKEN_BYTES]>());
        let changed_at = self.clock.now();
        let expires_at = changed_at.plus(RESET_TTL);
        let reset = PasswordReset { member_id, digest: digest(&token), expires_at };
        let change = ChangeMember { member_id, change: Change::IssueReset(reset, proof), changed_at, act };
        let member = self.change(change).await?.member;
        Ok(ResetLink { token, member, expires_at })
    }

    /// Whose password a link resets, while it is good.
    pub async fn member_of_reset(&self, token: &str) -> Result<Member, MemberError> {
        let reset = self.find_reset(token).await?;
        self.store.find(reset.member_id).await?.ok_or(MemberError::NoSuchReset)
    }

    /// Gives a member the password they chose by a link. Every session of theirs ends, and so does the link. Returns the note
    /// of the device: whoever has the link is the owner, and signs in here whatever strangers guess meanwhile.
    pub async fn use_reset(&self, token: &str, password: &str) -> Result<String, MemberError> {
        // Looked up before anything is hashed: guesses at tokens cost no hash. The transaction decides in the end.
        let member = self.member_of_reset(token).await?;
        let password = Password::chosen(password, &self.known_words(&member.name))
            .map_err(|error| madang_kernel::Invalid(vec![error]))?;
        let change = Change::UseReset { digest: digest(token), hash: self.passwords.hash(password).await? };
        let (member_id, changed_at) = (member.member_id, self.clock.now());
        let member = self.change(ChangeMember { member_id, change, changed_at, act: None }).await?.member;
        Ok(self.sessions.device_note(DeviceId::random(), &member.name, changed_at))
    }

    async fn find_reset(&self, token: &str) -> Result<PasswordReset, MemberError> {
        // Nothing else was ever given out.
        if URL_SAFE_NO_PAD.decode(token).is_ok_and(|bytes| bytes.len() == TOKEN_BYTES) {
            let found = self.store.find_reset(digest(token)).await?;
            return found.filter(|reset| reset.expires_at > self.clock.now()).ok_or(MemberError::NoSuchReset);
        }
        Err(MemberError::NoSuchReset)
    }
}

fn digest(token: &str) -> ResetDigest {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use madang_board::Role;
    use madang_kernel::Id;

    use super::*;

    #[test]
    fn no_debug_text_helps_to_use_a_link() {
        let (member_id, at) = (MemberId::from_raw(1), Timestamp::from_millis(1));
        let member = Member { member_id, name: "anna".into(), role: Role::Member, created_at: at };
        let link = ResetLink { token: "secret".into(), member, expires_at: at };
        let reset = PasswordReset { member_id, digest: [77; 32], expires_at: at };
        let change = Change::UseReset { digest: [77; 32], hash: "secret".into() };
        let texts = format!("{link:?} {reset:?} {change:?} {:?}", Change::IssueReset(reset, Proof::Session));
        assert!(!texts.contains("secret") && !texts.contains("77"), "{texts}");
        assert_eq!(link.path(), "/password-reset/secret");
    }
}
