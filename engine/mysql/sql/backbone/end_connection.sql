-- Ends a connection of ours that nobody reads any more, and with it the locks it holds. Uses: no table.
KILL ?
