//! Looking at an executable before it is run.
