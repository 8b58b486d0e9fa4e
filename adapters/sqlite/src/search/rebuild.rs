//! A rebuild fills the generation that is not asked, and then changes places with the one that is.

use madang_engine_sqlite::{Statements as _, limit};
use madang_kernel::StoreError;
use madang_search::{Document, Rebuild};

use super::apply;
use super::generation::{Generation, State};
use crate::{Priority, Sqlite, Tx};

const CLEAR_DOCS: &str = include_str!("../../sql/search/clear_docs.sql");

/// Rows of an unused generation that one call removes; some of them are pages of the full-text index.
const CLEAR_SLICE: usize = 256;

/// Begins anew. While the other generation is emptied, the one that is asked counts as the one that is filled: should the
/// process end now, filling that once more does no harm.
pub(super) async fn begin(db: &Sqlite) -> Result<Rebuild, StoreError> {
    let begun = db.write(Priority::Background, |tx| {
        let state = State::read(tx)?;
        let state = State { building: Some(state.active), number: state.number + 1, cursor: None, ..state };
        state.store(tx)?;
        Ok(state)
    });
    let State { active, number, .. } = begun.await?;
    clear(db, active.other()).await?;
    let open = db.write(Priority::Background, move |tx| {
        let state = State::read(tx)?;
        // Somebody began another one meanwhile: that one is told of, and this one's maker stops at once.
        if state.number == number {
            State { building: Some(state.active.other()), ..state }.store(tx)?;
        }
        Ok(())
    });
    open.await?;
    Ok(Rebuild { number, cursor: None })
}

/// Adds documents, if this rebuild is still the one that is made.
pub(super) fn add(tx: &Tx, number: u64, documents: &[Document], cursor: Option<String>) -> Result<bool, StoreError> {
    let state = State::read(tx)?;
    let Some(building) = state.building.filter(|_| state.number == number) else { return Ok(false) };
    for document in documents {
        apply::put(tx, building, document)?;
    }
    if cursor.is_some() {
        State { cursor, ..state }.store(tx)?;
    }
    Ok(true)
}

/// Puts what was filled in its place, and empties what was there.
pub(super) async fn finish(db: &Sqlite, number: u64) -> Result<bool, StoreError> {
    let switch = db.write(Priority::Background, move |tx| {
        let state = State::read(tx)?;
        let Some(active) = state.building.filter(|_| state.number == number) else { return Ok(None) };
        State { active, building: None, cursor: None, ..state }.store(tx)?;
        Ok(Some(active))
    });
    let Some(active) = switch.await? else { return Ok(false) };
    clear(db, active.other()).await?;
    Ok(true)
}

/// Empties a generation that is neither asked nor filled, slice by slice.
async fn clear(db: &Sqlite, generation: Generation) -> Result<(), StoreError> {
    loop {
        if db.write(Priority::Background, move |tx| clear_slice(tx, generation)).await? {
            return Ok(());
        }
    }
}

/// Whether nothing is left to do. The pages of the full-text index are taken away by themselves: to empty it at once would hold
/// up everybody who writes.
fn clear_slice(tx: &Tx, generation: Generation) -> Result<bool, StoreError> {
    let state = State::read(tx)?;
    if state.active == generation || state.building == Some(generation) {
        return Ok(true);
    }
    let (sql, slice) = (generation.sql(), limit(CLEAR_SLICE));
    let removed = tx.run(CLEAR_DOCS, [generation.number(), slice])?
        + tx.run(sql.clear_sizes, [slice])?
        + tx.run(sql.clear_data, [slice])?;
    if removed >= CLEAR_SLICE {
        return Ok(false);
    }
    tx.run(sql.clear, [])?;
    Ok(true)
}
