//! Asks of real and hostile recordings: answers are what `memtrail_profile` says, their sizes have
//! bounds, and whatever is asked there is an answer or an error.

mod agreement;
mod allocated;
mod exports;
mod gates;
mod growing;
mod heap;
mod hostile;
mod join;
mod live_sites;
mod recorded;
mod sizes;
mod source;
mod survivors;
mod threads;
