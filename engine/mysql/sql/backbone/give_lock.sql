-- The next process may look. Uses: no table.
DO RELEASE_LOCK(?)
