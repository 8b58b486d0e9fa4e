//! Pages and cursors: values that cannot be out of range, and the count that tells which page buttons to enable.

use serde::{Deserialize, Serialize};

use crate::Invalid;

/// How many items a page or a scroll step holds: 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageSize(u32);

impl PageSize {
    /// The most items one answer carries.
    pub const MAX: u32 = 100;
    /// Taken when the caller does not say.
    pub const DEFAULT: Self = Self(30);

    /// Checks the range; `field` is the caller's name for the value.
    pub fn new(field: &'static str, value: i64) -> Result<Self, Invalid> {
        match u32::try_from(value) {
            Ok(size @ 1..=Self::MAX) => Ok(Self(size)),
            _ => Err(Invalid::field(field, format!("must be from 1 to {}", Self::MAX))),
        }
    }

    /// The number of items.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// The number of a page, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageNumber(u32);

impl PageNumber {
    /// Far past any board, and far from overflow.
    pub const MAX: u32 = 1_000_000_000;
    /// The first page.
    pub const FIRST: Self = Self(1);

    /// Checks the range; `field` is the caller's name for the value.
    pub fn new(field: &'static str, value: i64) -> Result<Self, Invalid> {
        match u32::try_from(value) {
            Ok(number @ 1..=Self::MAX) => Ok(Self(number)),
            _ => Err(Invalid::field(field, format!("must be from 1 to {}", Self::MAX))),
        }
    }

    /// The number itself.
    pub fn get(self) -> u32 {
        self.0
    }

    /// How many items come before the page.
    pub fn offset(self, size: PageSize) -> u64 {
        u64::from(self.0 - 1) * u64::from(size.0)
    }
}

/// One page of a numbered list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// What the page holds; empty past the end.
    pub items: Vec<T>,
    /// The exact count, capped at what the next ten page buttons need.
    pub known_count: u64,
}

/// One step of a cursor list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scroll<T, C> {
    /// What the step holds.
    pub items: Vec<T>,
    /// Where the next step starts; `None` at the end.
    pub next: Option<C>,
}

impl<T, C> Scroll<T, C> {
    /// Makes a step of `size` from up to `size + 1` fetched items: the surplus one tells that there is more.
    pub fn from_surplus(mut items: Vec<T>, size: PageSize, cursor: impl FnOnce(&T) -> C) -> Self {
        let size = size.get() as usize;
        let more = items.len() > size;
        items.truncate(size);
        let next = if more { items.last().map(cursor) } else { None };
        Self { items, next }
    }
}

/// The count to show beside a page: exact up to the end of the present window of ten pages, plus one item beyond it.
pub fn known_count(count: u64, page: PageNumber, size: PageSize) -> u64 {
    let window = u64::from((page.0 - 1) / 10 + 1);
    count.min(window * u64::from(size.0) * 10 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_numbers_out_of_range_say_so() {
        for value in [0, -1, 101, i64::MAX] {
            assert!(PageSize::new("page_size", value).is_err(), "{value}");
        }
        for value in [0, -1, 1_000_000_001, i64::MAX] {
            assert!(PageNumber::new("page", value).is_err(), "{value}");
        }
        assert_eq!(PageNumber::new("page", 1_000_000_000).unwrap().offset(PageSize(100)), 99_999_999_900);
    }

    #[test]
    fn the_known_count_reaches_one_past_the_window_of_ten_pages() {
        let known = |count, page, size| known_count(count, PageNumber(page), PageSize(size));
        assert_eq!(known(1_000_000, 1, 30), 301);
        assert_eq!(known(1_000_000, 10, 30), 301);
        assert_eq!(known(1_000_000, 11, 30), 601);
        assert_eq!(known(299, 1, 30), 299);
    }

    #[test]
    fn a_surplus_item_means_there_is_more() {
        let two = PageSize(2);
        let step = Scroll::from_surplus(vec![9, 8, 7], two, |item| *item);
        assert_eq!((step.items, step.next), (vec![9, 8], Some(8)));
        let step = Scroll::from_surplus(vec![9, 8], two, |item| *item);
        assert_eq!((step.items, step.next), (vec![9, 8], None));
    }
}
