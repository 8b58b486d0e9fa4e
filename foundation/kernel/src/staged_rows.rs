//! Rows while the calls of a batch are decided: as they were loaded, then as each call leaves them, and in the end what
//! there is to write.

use std::collections::BTreeMap;

/// Rows of one table by their keys.
#[derive(Debug, Clone)]
pub struct StagedRows<K, T>(BTreeMap<K, Staged<T>>);

#[derive(Debug, Clone)]
enum Staged<T> {
    /// As it is stored.
    Stored(T),
    /// Stored, and to be updated.
    Updated(T),
    /// To be inserted.
    Inserted(T),
    /// Stored, and to be deleted.
    Deleted,
    /// Inserted and deleted within the batch.
    Dropped,
}

/// What a batch writes to a table, each in the order of the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowChanges<K, T> {
    /// Rows to insert.
    pub inserts: Vec<T>,
    /// Rows to update, as they are to be.
    pub updates: Vec<T>,
    /// Rows to delete.
    pub deletes: Vec<K>,
}

impl<K: Ord + Copy, T> StagedRows<K, T> {
    /// The rows as they are stored.
    pub fn stored(rows: impl IntoIterator<Item = (K, T)>) -> Self {
        Self(rows.into_iter().map(|(key, row)| (key, Staged::Stored(row))).collect())
    }

    /// The row as the calls so far have left it.
    pub fn find(&self, key: K) -> Option<&T> {
        match self.0.get(&key)? {
            Staged::Stored(row) | Staged::Updated(row) | Staged::Inserted(row) => Some(row),
            Staged::Deleted | Staged::Dropped => None,
        }
    }

    /// Every row as the calls so far have left it, in the order of the keys.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.values().filter_map(|staged| match staged {
            Staged::Stored(row) | Staged::Updated(row) | Staged::Inserted(row) => Some(row),
            Staged::Deleted | Staged::Dropped => None,
        })
    }

    /// Whether there is such a row or was one before a call of the batch deleted it.
    pub fn has_seen(&self, key: K) -> bool {
        self.0.contains_key(&key)
    }

    /// Inserts a row whose key the batch has not seen.
    pub fn insert(&mut self, key: K, row: T) {
        self.0.insert(key, Staged::Inserted(row));
    }

    /// Replaces a row.
    pub fn update(&mut self, key: K, row: T) {
        let is_new = matches!(self.0.get(&key), Some(Staged::Inserted(_)));
        self.0.insert(key, if is_new { Staged::Inserted(row) } else { Staged::Updated(row) });
    }

    /// Deletes a row.
    pub fn delete(&mut self, key: K) {
        if let Some(staged) = self.0.get_mut(&key) {
            let is_new = matches!(staged, Staged::Inserted(_) | Staged::Dropped);
            *staged = if is_new { Staged::Dropped } else { Staged::Deleted };
        }
    }

    /// What there is to write.
    pub fn into_changes(self) -> RowChanges<K, T> {
        let mut changes = RowChanges { inserts: Vec::new(), updates: Vec::new(), deletes: Vec::new() };
        for (key, staged) in self.0 {
            match staged {
                Staged::Inserted(row) => changes.inserts.push(row),
                Staged::Updated(row) => changes.updates.push(row),
                Staged::Deleted => changes.deletes.push(key),
                Staged::Stored(_) | Staged::Dropped => {}
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_leads_from_the_first_state_to_the_last(
            before in proptest::collection::btree_map(0u8..12, 0u32..9, 0..12),
            steps in proptest::collection::vec((0u8..12, proptest::option::of(10u32..99)), 0..60),
        ) {
            let mut staged = StagedRows::stored(before.clone());
            let mut model = before.clone();
            for (key, value) in steps {
                match value {
                    Some(value) if model.contains_key(&key) => {
                        staged.update(key, value);
                        model.insert(key, value);
                    }
                    Some(value) if !staged.has_seen(key) => {
                        staged.insert(key, value);
                        model.insert(key, value);
                    }
                    Some(_) => prop_assert_eq!(staged.find(key), None),
                    None => {
                        staged.delete(key);
                        model.remove(&key);
                    }
                }
                prop_assert_eq!(staged.find(key), model.get(&key));
            }
            let RowChanges { inserts, updates, deletes } = staged.into_changes();
            let new = model.keys().filter(|key| !before.contains_key(key));
            prop_assert_eq!(inserts.len(), new.count());
            prop_assert!(updates.len() <= before.len());
            let gone: Vec<u8> = before.keys().filter(|key| !model.contains_key(key)).copied().collect();
            prop_assert_eq!(deletes, gone);
        }
    }
}
