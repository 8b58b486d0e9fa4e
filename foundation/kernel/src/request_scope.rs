//! What belongs to one request while a process works on it: its id and who asks. Log lines and calls to other processes take
//! it from here, so that no service has to hand it on.
//!
//! It follows a future, not a thread: it is set while the future is polled, and only then. Work that is handed to another
//! task or thread does not have it, and need not: that works for many requests.

use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

/// The header in which a request's id travels.
pub const REQUEST_ID_HEADER: &str = "x-request-id";
/// Longer ids are not taken over: they would be repeated in every line.
const REQUEST_ID_BYTES_MAX: usize = 64;

thread_local! {
    static CURRENT: RefCell<Option<RequestScope>> = const { RefCell::new(None) };
}

/// The id of a request: 1 to 64 letters, digits and `-_.`, so that it can stand in a header and in a log line as it is.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// An id of 16 hexadecimal digits.
    pub fn from_number(number: u64) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 16];
        for (place, digit) in text.iter_mut().rev().enumerate() {
            *digit = DIGITS[(number >> (4 * place) & 0xf) as usize];
        }
        Self(std::str::from_utf8(&text).unwrap_or_default().into())
    }

    /// An id that somebody else chose, if it can be one.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let is_fit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let fits = (1..=REQUEST_ID_BYTES_MAX).contains(&text.len()) && text.iter().all(is_fit);
        std::str::from_utf8(text).ok().filter(|_| fits).map(|text| Self(text.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One request on its way through this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestScope {
    id: RequestId,
    caller: Option<i64>,
}

impl RequestScope {
    /// The scope of a request with this id, of whoever.
    pub fn new(id: RequestId) -> Self {
        Self { id, caller: None }
    }

    /// Does `work` in this scope.
    pub async fn around<T>(self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut scope = Some(self);
        poll_fn(|context| {
            let _entered = Entered::swap(&mut scope);
            work.as_mut().poll(context)
        })
        .await
    }
}

/// The id of the request that is being worked on here, if it is one.
pub fn current_request() -> Option<RequestId> {
    CURRENT.with_borrow(|scope| scope.as_ref().map(|scope| scope.id.clone()))
}

/// Notes who asks, once that is known, by a number that the program can tell people apart by.
pub fn note_caller(caller: i64) {
    CURRENT.with_borrow_mut(|scope| {
        if let Some(scope) = scope {
            scope.caller = Some(caller);
        }
    });
}

/// Who asks, if that was noted.
pub fn current_caller() -> Option<i64> {
    CURRENT.with_borrow(|scope| scope.as_ref()?.caller)
}

/// Has a scope in force until it is dropped, also by a panic, and puts back what was in force before.
struct Entered<'a>(&'a mut Option<RequestScope>);

impl<'a> Entered<'a> {
    fn swap(scope: &'a mut Option<RequestScope>) -> Self {
        CURRENT.with_borrow_mut(|current| std::mem::swap(current, scope));
        Self(scope)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| std::mem::swap(current, self.0));
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn scope(id: u64) -> RequestScope {
        RequestScope::new(RequestId::from_number(id))
    }

    fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    /// Is pending once.
    async fn pause() {
        let mut waited = false;
        poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    #[test]
    fn two_futures_polled_in_turn_keep_their_own_scopes() {
        let work = async |caller: i64| {
            note_caller(caller);
            pause().await;
            (current_request(), current_caller())
        };
        let mut first = pin!(scope(1).around(work(10)));
        let mut second = pin!(scope(2).around(work(20)));
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
        assert_eq!(current_request(), None, "nobody's, between polls");
        let expected = |id, caller| Poll::Ready((Some(RequestId::from_number(id)), Some(caller)));
        assert_eq!(poll(first.as_mut()), expected(1, 10));
        assert_eq!(poll(second.as_mut()), expected(2, 20));
    }

    #[test]
    fn a_scope_within_a_scope_ends_before_it_and_a_panic_leaves_none() {
        let nested = async {
            let inner = scope(2).around(async { current_request() }).await;
            (inner, current_request())
        };
        let mut nested = pin!(scope(1).around(nested));
        let ids = [2, 1].map(|id| Some(RequestId::from_number(id)));
        assert_eq!(poll(nested.as_mut()), Poll::Ready((ids[0].clone(), ids[1].clone())));

        let panics = std::panic::catch_unwind(|| poll(pin!(scope(3).around(async { panic!("on purpose") })).as_mut()));
        assert!(panics.is_err());
        assert_eq!(current_request(), None);
        note_caller(7);
        assert_eq!(current_caller(), None, "of no request");
    }

    #[test]
    fn an_id_is_what_can_stand_in_a_line() {
        assert_eq!(RequestId::from_number(0xabc).as_str(), "0000000000000abc");
        assert_eq!(RequestId::from_number(u64::MAX).as_str(), "ffffffffffffffff");
        for good in ["a", "4bf92f35-77b3.x_1", &"x".repeat(64)] {
            assert_eq!(RequestId::parse(good.as_bytes()).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a\nb", "a\"b", "a=b", "마당", "\u{1b}[31m", &"x".repeat(65)] {
            assert_eq!(RequestId::parse(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
