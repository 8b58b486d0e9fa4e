//! A store in memory that is just enough to try the rules of the use cases on; adapters have their own suite.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use madang_board::{MemberId, Role, SessionId};
use madang_kernel::{StoreError, Timestamp};
use madang_member::{
    Change, ChangeMember, ChangeOutcome, ChangeRefused, CreateMember, Member, MemberRecord, MemberStore, NewMember,
    PasswordReset, ResetDigest, Revocation, RevocationCursor, SessionRecord, Standing,
};

#[derive(Default)]
pub(crate) struct MemoryMembers {
    kept: Mutex<Kept>,
    /// While true, nothing is answered.
    pub(crate) away: AtomicBool,
}

#[derive(Default)]
struct Kept {
    members: Vec<(String, MemberRecord)>,
    skeletons: Vec<String>,
    sessions: Vec<SessionRecord>,
    revocations: Vec<Revocation>,
    resets: Vec<PasswordReset>,
}

impl MemoryMembers {
    fn kept(&self) -> Result<MutexGuard<'_, Kept>, StoreError> {
        if self.away.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("members", "switched off"));
        }
        Ok(self.kept.lock().unwrap())
    }
}

impl Kept {
    fn create(&mut self, new: NewMember) -> CreateMember {
        let is_taken = self.members.iter().any(|(name_key, _)| *name_key == new.name_key);
        if is_taken || self.skeletons.contains(&new.skeleton) {
            return CreateMember::NameTaken;
        }
        let NewMember { member, name_key, skeleton, password_hash } = new;
        self.skeletons.push(skeleton);
        self.members.push((name_key, MemberRecord { member, password_hash, standing: Standing::default() }));
        CreateMember::Created
    }
}

#[async_trait]
impl MemberStore for MemoryMembers {
    async fn create(&self, new: NewMember) -> Result<CreateMember, StoreError> {
        Ok(self.kept()?.create(new))
    }

    async fn create_many(&self, new: Vec<NewMember>) -> Result<u64, StoreError> {
        let mut kept = self.kept()?;
        Ok(new.into_iter().filter(|new| kept.create(new.clone()) == CreateMember::Created).count() as u64)
    }

    async fn give_skeletons(&self, _limit: usize) -> Result<usize, StoreError> {
        Ok(0)
    }

    async fn staff(&self, limit: usize) -> Result<Vec<Member>, StoreError> {
        let kept = self.kept()?;
        let staff = kept.members.iter().filter(|(_, known)| known.member.role > Role::Member);
        Ok(staff.take(limit).map(|(_, known)| known.member.clone()).collect())
    }

    async fn find(&self, member: MemberId) -> Result<Option<Member>, StoreError> {
        let kept = self.kept()?;
        let found = kept.members.iter().find(|(_, known)| known.member.member_id == member);
        Ok(found.map(|(_, known)| known.member.clone()))
    }

    async fn find_credentials(&self, name_key: &str) -> Result<Option<MemberRecord>, StoreError> {
        let kept = self.kept()?;
        Ok(kept.members.iter().find(|(known, _)| known == name_key).map(|(_, record)| record.clone()))
    }

    async fn change(&self, change: ChangeMember) -> Result<ChangeOutcome, StoreError> {
        let mut kept = self.kept()?;
        let member_id = change.member_id;
        let is_other_admin = |known: &Member| known.role == Role::Admin && known.member_id != member_id;
        let has_other_admin = kept.members.iter().any(|(_, known)| is_other_admin(&known.member));
        let reset = kept.resets.iter().find(|reset| reset.member_id == member_id).copied();
        let Some((_, found)) = kept.members.iter_mut().find(|(_, known)| known.member.member_id == member_id) else {
            return Ok(ChangeOutcome::Absent);
        };
        let is_refused = matches!(&change.change, Change::UseReset { digest, .. }
            if !reset.is_some_and(|reset| reset.digest == *digest && reset.expires_at > change.changed_at));
        if is_refused {
            return Ok(ChangeOutcome::Refused(ChangeRefused::NoSuchReset));
        }
        let before = found.member.role;
        match found.clone().changed(&change.change, change.changed_at, has_other_admin) {
            Err(refused) => Ok(ChangeOutcome::Refused(refused)),
            Ok(changed) => {
                *found = changed.clone();
                if let Change::IssueReset(..) | Change::UseReset { .. } | Change::Password { .. } = &change.change {
                    kept.resets.retain(|reset| reset.member_id != member_id);
                }
                if change.change.voids_links(before) {
                    kept.resets.clear();
                }
                if let Change::IssueReset(reset, _) = change.change {
                    kept.resets.push(reset);
                }
                let (role, standing) = (changed.member.role, changed.standing.clone());
                kept.revocations.push(Revocation::MemberChanged { member_id, role, standing });
                Ok(ChangeOutcome::Changed(changed))
            }
        }
    }

    async fn find_reset(&self, digest: ResetDigest) -> Result<Option<PasswordReset>, StoreError> {
        Ok(self.kept()?.resets.iter().find(|reset| reset.digest == digest).copied())
    }

    async fn has_admin(&self) -> Result<bool, StoreError> {
        Ok(self.kept()?.members.iter().any(|(_, known)| known.member.role == Role::Admin))
    }

    async fn add_session(&self, session: SessionRecord) -> Result<(), StoreError> {
        self.kept()?.sessions.insert(0, session);
        Ok(())
    }

    async fn sessions(&self, member: MemberId, limit: usize) -> Result<Vec<SessionRecord>, StoreError> {
        let kept = self.kept()?;
        Ok(kept.sessions.iter().filter(|session| session.member_id == member).take(limit).cloned().collect())
    }

    async fn find_session(&self, session: SessionId) -> Result<Option<SessionRecord>, StoreError> {
        Ok(self.kept()?.sessions.iter().find(|kept| kept.session_id == session).cloned())
    }

    async fn note_seen(&self, seen: Vec<(SessionId, Timestamp)>) -> Result<(), StoreError> {
        for (session, at) in seen {
            for kept in self.kept()?.sessions.iter_mut().filter(|kept| kept.session_id == session) {
                kept.last_seen_at = kept.last_seen_at.max(at);
            }
        }
        Ok(())
    }

    async fn end_session(&self, session_id: SessionId, expires_at: Timestamp) -> Result<(), StoreError> {
        self.kept()?.revocations.push(Revocation::SessionEnded { session_id, expires_at });
        Ok(())
    }

    async fn revocations(
        &self,
        after: RevocationCursor,
        limit: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
        let kept = self.kept()?;
        let page: Vec<Revocation> = kept.revocations.iter().skip(after.0 as usize).take(limit).cloned().collect();
        let next = RevocationCursor(after.0 + page.len() as i64);
        Ok((page, next))
    }

    async fn forget_expired(&self, _now: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }
}
