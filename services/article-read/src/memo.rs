//! A place beside a text where a front keeps what it made of it, so that a list of thirty is not rendered anew for each
//! reader. It lives and goes with the text, and says nothing that the text does not say.

use std::fmt;
use std::sync::OnceLock;

/// What a front made of a text, made once. Two texts are equal whatever their memos hold.
#[derive(Clone, Default)]
pub struct Memo(OnceLock<Box<[u8]>>);

impl Memo {
    /// What was made before, or what `make` makes now.
    pub fn get_or_make(&self, make: impl FnOnce() -> Vec<u8>) -> &[u8] {
        self.0.get_or_init(|| make().into_boxed_slice())
    }
}

impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Memo {}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memo({} bytes)", self.0.get().map_or(0, |made| made.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_once() {
        let memo = Memo::default();
        assert_eq!(memo.get_or_make(|| b"one".to_vec()), b"one");
        assert_eq!(memo.get_or_make(|| b"two".to_vec()), b"one");
    }
}
