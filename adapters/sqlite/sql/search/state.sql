-- Which generation is asked, and which is filled. Uses: primary key of search_state.
SELECT active, building, number, cursor FROM search_state WHERE one = 1
