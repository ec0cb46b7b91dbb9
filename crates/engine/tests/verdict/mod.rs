//! The verdict on owners of memory: simulated histories, and stored evidence of real programs.

mod births;
mod handed;
mod histories;
mod random;
mod replayed;
mod simulated;
