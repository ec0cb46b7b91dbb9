//! Random numbers that depend on a seed alone.

/// A generator (`SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        (high - low).mul_add(self.unit(), low)
    }

    pub(crate) fn number(&mut self, low: usize, high: usize) -> usize {
        low + (self.unit() * (high - low + 1) as f64) as usize
    }

    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A number of the standard normal distribution.
    pub(crate) fn normal(&mut self) -> f64 {
        let angle = 2.0 * std::f64::consts::PI * self.unit();
        (2.0 * self.exponential()).sqrt() * angle.cos()
    }

    /// Noise over the work that forgets in so much of it.
    pub(crate) fn noise(&mut self, memory: f64) -> impl Fn(f64) -> f64 + use<> {
        const GRID: usize = 200;
        let keeps = (-1.0 / (GRID as f64 * memory)).exp();
        let mut values = Vec::with_capacity(GRID);
        let mut value = 0.0f64;
        for _ in 0..GRID {
            value = keeps.mul_add(value, (1.0 - keeps * keeps).sqrt() * self.normal());
            values.push(value);
        }
        move |x: f64| values[((x * GRID as f64) as usize).min(GRID - 1)]
    }
}
