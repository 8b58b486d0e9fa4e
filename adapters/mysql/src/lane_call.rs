//! Calls to lanes, each answered by its kind.

use madang_engine_mysql::PART;
use madang_kernel::StoreError;

/// An answer to another call: cannot be, as each call is decided by its kind.
pub(crate) fn crossed() -> StoreError {
    StoreError::broken(PART, "a call was answered as another")
}

/// Puts a call into its lane, and waits for what it is answered.
macro_rules! lane_call {
    ($lanes:expr, $call:expr => $answer:path) => {
        match $lanes.call($call).await? {
            $answer(outcome) => Ok(outcome),
            _ => Err($crate::lane_call::crossed()),
        }
    };
}
pub(crate) use lane_call;
