//! Whether sizes grow, from snapshot to snapshot, when some are smaller than the one before.
//!
//! What leaks need not be larger each time: a snapshot may catch it while it is being rebuilt, or
//! after a part was dropped. So it is asked (Mann and Kendall) of how many pairs of snapshots the
//! later is the larger, and whether sizes in no order would have as many, or more, once in a hundred
//! times at most. Equal sizes are half of each. With fewer than five snapshots, each has to be larger
//! than the one before.

/// How likely it may be that sizes in no order look as if they grew.
const CHANCE: f64 = 0.01;
/// With fewer, any order is more likely than that.
const MIN_SNAPSHOTS: usize = 5;
/// With more, the distribution is as good as normal.
const MAX_EXACT: usize = 100;
/// `1 - CHANCE` of a normal distribution lies below so many deviations.
const DEVIATIONS: f64 = 2.326;

/// Tells growth in series of one length.
#[derive(Clone, Copy, Debug)]
pub struct Trend {
    count: usize,
    /// How many pairs may have the larger first; twice, as equal ones are half of it.
    most: usize,
}

impl Trend {
    /// For series of so many snapshots.
    pub fn new(count: usize) -> Self {
        let most = match count {
            0..MIN_SNAPSHOTS => 0,
            MIN_SNAPSHOTS..=MAX_EXACT => by_distribution(count),
            _ => by_deviation(count),
        };
        Self { count, most: 2 * most }
    }

    /// By how much sizes grew: their median at the end, less that at the start, each of a quarter of
    /// the snapshots. `None` if they did not.
    pub fn growth(&self, sizes: &[u64]) -> Option<u64> {
        if sizes.len() != self.count || sizes.len() < 2 {
            return None;
        }
        let growth = Some(rise(sizes)).filter(|growth| *growth > 0)?;
        let mut wrong = 0;
        for (place, later) in sizes.iter().enumerate() {
            for earlier in &sizes[..place] {
                wrong += match earlier.cmp(later) {
                    std::cmp::Ordering::Less => 0,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Greater => 2,
                };
                if wrong > self.most {
                    return None;
                }
            }
        }
        Some(growth)
    }
}

/// Returns the median of the last quarter of sizes, less that of the first quarter; 0 if it is smaller.
pub(super) fn rise(sizes: &[u64]) -> u64 {
    let some = (sizes.len() / 4).max(1).min(sizes.len());
    let (first, last) = (median(&sizes[..some]), median(&sizes[sizes.len() - some..]));
    last.saturating_sub(first)
}

fn median(sizes: &[u64]) -> u64 {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

/// The largest number of pairs out of order that so many numbers in no order have, or fewer, with
/// the chance.
fn by_distribution(count: usize) -> usize {
    // How likely each number of such pairs is, for one number more each time.
    let mut likely = vec![1.0];
    for numbers in 2..=count {
        let mut next = vec![0.0; likely.len() + numbers - 1];
        let mut sum = 0.0;
        for (pairs, chance) in next.iter_mut().enumerate() {
            sum += likely.get(pairs).copied().unwrap_or(0.0);
            if pairs >= numbers {
                sum -= likely.get(pairs - numbers).copied().unwrap_or(0.0);
            }
            *chance = sum / numbers as f64;
        }
        likely = next;
    }
    let mut sum = 0.0;
    let within = likely.iter().take_while(|chance| {
        sum += **chance;
        sum <= CHANCE
    });
    within.count().saturating_sub(1)
}

/// The same of many numbers.
fn by_deviation(count: usize) -> usize {
    let n = count as f64;
    let pairs = n * (n - 1.0) / 2.0;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    ((pairs - DEVIATIONS * deviation) / 2.0).max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(sizes: &[u64]) -> Option<u64> {
        Trend::new(sizes.len()).growth(sizes)
    }

    /// Of all orders of so many numbers, how many pairs of each are in the wrong one.
    fn orders(count: usize) -> Vec<usize> {
        let mut all = vec![Vec::new()];
        for _ in 0..count {
            let longer = all.iter().flat_map(|way: &Vec<usize>| {
                let next = (0..count).filter(|next| !way.contains(next));
                next.map(|next| way.iter().copied().chain([next]).collect())
            });
            all = longer.collect();
        }
        all.iter()
            .map(|order| {
                let pairs = (0..count).flat_map(|b| (0..b).map(move |a| (a, b)));
                pairs.filter(|(a, b)| order[*a] > order[*b]).count()
            })
            .collect()
    }

    #[test]
    fn the_limit_is_that_of_all_orders_counted() {
        for count in MIN_SNAPSHOTS..=8 {
            let orders = orders(count);
            let share = |most: usize| {
                orders.iter().filter(|wrong| **wrong <= most).count() as f64 / orders.len() as f64
            };
            let most = by_distribution(count);
            assert!(share(most) <= CHANCE && share(most + 1) > CHANCE, "{count}: {most}");
        }
        assert!(by_distribution(MAX_EXACT).abs_diff(by_deviation(MAX_EXACT)) < 20);
    }

    #[test]
    fn brief_dips_do_not_hide_growth() {
        let module = [1, 9, 17, 24, 3, 38, 46, 52, 60, 5, 75, 81, 88, 95];
        assert_eq!(growth(&module), Some(79));
        // The last snapshot, of all, caught a dip.
        let module = [1, 9, 17, 24, 30, 38, 46, 52, 60, 69, 75, 81, 88, 2];
        assert_eq!(growth(&module), Some(72));
    }

    #[test]
    fn what_goes_up_and_down_does_not_grow() {
        assert_eq!(growth(&[10, 90, 10, 90, 10, 90, 10, 90, 10, 95]), None);
        assert_eq!(growth(&[50; 12]), None);
        assert_eq!(growth(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 95]), None);
        assert_eq!(growth(&[9, 8, 7, 6, 5, 4, 3]), None);
    }

    #[test]
    fn few_snapshots_have_to_grow_each_time() {
        assert_eq!(growth(&[1, 2]), Some(1));
        assert_eq!(growth(&[1, 2, 5]), Some(4));
        assert_eq!(growth(&[1, 3, 2, 5]), None);
        assert_eq!(growth(&[1, 2, 2]), None);
        assert_eq!(growth(&[1]), None);
        assert_eq!(growth(&[]), None);
        assert_eq!(growth(&[1, 2, 3, 4, 5]), Some(4));
        assert_eq!(growth(&[1, 3, 2, 4, 5, 6]), Some(5));
    }
}
