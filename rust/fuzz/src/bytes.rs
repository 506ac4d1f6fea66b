//! Numbers from the bytes that a fuzzer generates.

/// Reads numbers from bytes. After the last byte, reads zero bytes.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        let number =
            if n > 256 { usize::from(self.byte()) << 8 | usize::from(self.byte()) } else { usize::from(self.byte()) };
        number % n.max(1)
    }

    /// Returns a float made from the next bytes. Most floats are small multiples of 1/4, so that equal floats are
    /// common. Some are huge, infinite, NaN, or have arbitrary bits.
    pub(crate) fn float(&mut self) -> f64 {
        match self.byte() {
            byte @ 0..=199 => (f64::from(byte) - 100.0) / 4.0,
            200..=229 => f64::from(self.byte()) * 0.1,
            230 => f64::MAX,
            231 => -f64::MAX,
            232 => f64::MIN_POSITIVE / 4.0,
            233 => -0.0,
            234 => f64::INFINITY,
            235 => f64::NAN,
            236..=239 => 1e300 * (f64::from(self.byte()) - 128.0),
            _ => {
                let bits: Vec<u8> = (0..8).map(|_| self.byte()).collect();
                f64::from_le_bytes(bits.try_into().expect("there are eight"))
            }
        }
    }
}
