//! What an error of SQLite means to a caller: worth asking again, or a defect.

use madang_kernel::StoreError;
use madang_messaging::Outage;
use rusqlite::ErrorCode;

/// The name under which the database is reported.
pub const PART: &str = "database";

/// Full, failing or busy disks pass; everything else is a defect.
pub fn sql_error(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly,
        ) => StoreError::unavailable(PART, error.to_string()),
        _ => StoreError::broken(PART, error),
    }
}

/// To messaging every failure of the store is a part that is away: a message is never blamed for it.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
pub(crate) fn outage(error: StoreError) -> Outage {
    let reason = match &error {
        StoreError::Unavailable { reason, .. } => reason.clone(),
        StoreError::Broken { source, .. } => source.to_string(),
    };
    Outage::new(PART, reason)
}
