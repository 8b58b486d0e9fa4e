//! Likes of one article by many members, so that every call changes something.

use anyhow::{Result, ensure};

/// Who calls next, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// The member's number.
    pub(super) member: usize,
    /// False when the like is taken back.
    pub(super) likes: bool,
}

/// Members shared out among callers. Each caller lets all of its members like, then all of them take it back, and so on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Population {
    members_each: usize,
}

impl Population {
    /// So many members for so many callers.
    pub(super) fn new(members: usize, callers: usize) -> Result<Self> {
        ensure!(callers <= members, "{members} members are too few for {callers} callers");
        Ok(Self { members_each: members / callers })
    }

    /// What a caller does after `done` calls.
    pub(super) fn step(self, caller: usize, done: u64) -> Step {
        let each = self.members_each as u64;
        let member = caller * self.members_each + (done % each) as usize;
        Step { member, likes: done % (2 * each) < each }
    }

    /// How many members like the article after each caller has done so many calls.
    pub(super) fn likes_after(self, done: &[u64]) -> u64 {
        let each = self.members_each as u64;
        let of_caller = |done: &u64| match done % (2 * each) {
            rising if rising <= each => rising,
            falling => 2 * each - falling,
        };
        done.iter().map(of_caller).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_changes_something_and_the_likes_are_known() {
        let population = Population::new(10, 3).unwrap();
        for caller in 0..3 {
            let mut likes = std::collections::BTreeSet::new();
            for done in 0..20 {
                assert_eq!(population.likes_after(&[done]), likes.len() as u64);
                let Step { member, likes: gives } = population.step(caller, done);
                assert!(if gives { likes.insert(member) } else { likes.remove(&member) });
                assert_eq!(member / 3, caller, "nobody else's member");
            }
        }
        assert!(Population::new(2, 3).is_err());
    }
}
