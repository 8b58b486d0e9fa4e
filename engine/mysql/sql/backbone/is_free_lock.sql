-- Whether nobody holds a lock. Uses: no table.
SELECT IS_FREE_LOCK(?)
