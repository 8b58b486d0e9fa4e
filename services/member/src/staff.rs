//! Who runs the site, for the badge beside their names: known without asking the store, because every name on a page wants
//! to know.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use madang_board::{MemberId, Role};

use crate::{Member, MemberService};

/// Those with a role above a member's.
#[derive(Default)]
pub(crate) struct Staff(RwLock<HashMap<MemberId, Role>>);

impl Staff {
    /// Takes over what is known of one of them.
    pub(crate) fn note(&self, member: &Member) {
        let mut staff = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if member.role == Role::Member {
            staff.remove(&member.member_id);
        } else {
            staff.insert(member.member_id, member.role);
        }
    }

    /// Takes over who they are now.
    pub(crate) fn replace(&self, all: Vec<Member>) {
        let all = all.into_iter().map(|member| (member.member_id, member.role)).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = all;
    }

    fn role(&self, member: MemberId) -> Option<Role> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&member).copied()
    }
}

impl MemberService {
    /// The role to show beside a member's name: at once right for changes made here, within the polling interval for those
    /// made elsewhere. Asks no database.
    pub fn shown_role(&self, member: MemberId) -> Role {
        self.sessions.changed_role(member).or_else(|| self.staff.role(member)).unwrap_or(Role::Member)
    }
}
