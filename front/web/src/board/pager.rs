//! Page numbers in tens: which ones can be pressed, from the capped count that a page comes with.

use madang_kernel::{PageNumber, PageSize};
use maud::{Markup, html};

use crate::texts::Texts;

/// Numbers in a window.
const WINDOW: u64 = 10;

/// The window around a page.
pub(crate) struct Pager {
    present: u64,
    /// The first and the last number of the window.
    window: (u64, u64),
    has_more: bool,
}

impl Pager {
    /// The window of ten around `page`; `known_count` reaches one past the window's end.
    pub(crate) fn new(page: PageNumber, size: PageSize, known_count: u64) -> Self {
        let (present, size) = (u64::from(page.get()), u64::from(size.get()));
        let last_page = known_count.div_ceil(size).max(1);
        // Past the end there is nothing to press; the last numbers that there are lead back.
        let first = (present.min(last_page) - 1) / WINDOW * WINDOW + 1;
        let last = (first + WINDOW - 1).min(last_page);
        Self { present, window: (first, last), has_more: last_page > first + WINDOW - 1 }
    }

    /// The last page, for one who is past it.
    pub(crate) fn last_page(&self, path: &str) -> (u64, String) {
        (self.window.1, address(path, self.window.1))
    }

    /// The numbers as links.
    pub(crate) fn show(&self, t: &Texts, path: &str) -> Markup {
        let (first, last) = self.window;
        let link = |page: u64| address(path, page);
        html! {
            nav.pager aria-label=(t.pages) {
                @if first > 1 {
                    a href=(link(first - 1)) rel="prev" aria-label=(t.previous_ten) { "«" }
                }
                @for page in first..=last {
                    @if page == self.present { a.present href=(link(page)) aria-current="page" { (page) } }
                    @else { a href=(link(page)) { (page) } }
                }
                @if self.has_more {
                    a href=(link(last + 1)) rel="next" aria-label=(t.next_ten) { "»" }
                }
            }
        }
    }
}

fn address(path: &str, page: u64) -> String {
    if page == 1 { path.to_owned() } else { format!("{path}?page={page}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pager(page: i64, known_count: u64) -> (u64, u64, bool) {
        let pager = Pager::new(PageNumber::new("page", page).unwrap(), PageSize::DEFAULT, known_count);
        (pager.window.0, pager.window.1, pager.has_more)
    }

    #[test]
    fn a_window_holds_ten_numbers_and_says_whether_there_are_more() {
        assert_eq!(pager(1, 0), (1, 1, false));
        assert_eq!(pager(1, 31), (1, 2, false));
        assert_eq!(pager(3, 300), (1, 10, false));
        assert_eq!(pager(10, 301), (1, 10, true));
        assert_eq!(pager(11, 301), (11, 11, false));
        assert_eq!(pager(20, 601), (11, 20, true));
    }

    #[test]
    fn past_the_end_the_last_numbers_that_there_are_lead_back() {
        assert_eq!(pager(1_000_000_000, 5), (1, 1, false));
        assert_eq!(pager(9, 31), (1, 2, false));
        assert_eq!(pager(1_000, 400), (11, 14, false));
    }
}
