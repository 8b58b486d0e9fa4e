//! Library half of the binary.
