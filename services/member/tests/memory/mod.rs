//! A store in memory that is just enough to try the rules of the use cases on; adapters have their own suite.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use madang_kernel::{MemberId, Role, SessionId, StoreError, Timestamp};
use madang_member::{CreateMember, Credentials, Member, MemberStore, NewMember, Revocation, RevocationCursor};

#[derive(Default)]
pub(crate) struct MemoryMembers {
    kept: Mutex<Kept>,
    /// While true, nothing is answered.
    pub(crate) away: AtomicBool,
}

#[derive(Default)]
struct Kept {
    members: Vec<NewMember>,
    revocations: Vec<Revocation>,
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
        if self.members.iter().any(|known| known.name_key == new.name_key) {
            return CreateMember::NameTaken;
        }
        self.members.push(new);
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

    async fn find(&self, member: MemberId) -> Result<Option<Member>, StoreError> {
        let kept = self.kept()?;
        Ok(kept.members.iter().find(|known| known.member.member_id == member).map(|known| known.member.clone()))
    }

    async fn find_credentials(&self, name_key: &str) -> Result<Option<Credentials>, StoreError> {
        let kept = self.kept()?;
        let found = kept.members.iter().find(|known| known.name_key == name_key);
        Ok(found.map(|found| Credentials { member: found.member.clone(), password_hash: found.password_hash.clone() }))
    }

    async fn set_role(&self, member: MemberId, role: Role) -> Result<Option<Member>, StoreError> {
        let mut kept = self.kept()?;
        let Some(found) = kept.members.iter_mut().find(|known| known.member.member_id == member) else {
            return Ok(None);
        };
        found.member.role = role;
        let changed = found.member.clone();
        kept.revocations.push(Revocation::RoleChanged { member_id: member, role });
        Ok(Some(changed))
    }

    async fn has_admin(&self) -> Result<bool, StoreError> {
        Ok(self.kept()?.members.iter().any(|known| known.member.role == Role::Admin))
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
