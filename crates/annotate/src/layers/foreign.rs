//! Code-switching.
