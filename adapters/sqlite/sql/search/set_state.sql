-- Uses: primary key of search_state.
UPDATE search_state SET active = ?1, building = ?2, number = ?3, cursor = ?4 WHERE one = 1
