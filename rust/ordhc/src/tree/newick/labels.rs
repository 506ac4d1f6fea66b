//! Labels in Newick text: quoting, numbers, and their display in messages.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) is_quoted: bool,
}

impl Label {
    pub(super) fn is_missing(&self) -> bool {
        self.text.is_empty() && !self.is_quoted
    }

    pub(super) fn number(&self) -> Option<f64> {
        self.support().and_then(number)
    }

    pub(super) fn support(&self) -> Option<&str> {
        if self.is_quoted { None } else { support(&self.text) }
    }
}

/// Returns the whole text if it is a number. Returns the last of several numbers such as `95.2/98`, because this is the
/// bootstrap support in IQ-TREE's output.
fn support(text: &str) -> Option<&str> {
    if text.split('/').all(|part| number(part).is_some()) { text.rsplit('/').next() } else { None }
}

pub(super) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

pub(super) fn ends_label(byte: u8) -> bool {
    b"()[]:;,'".contains(&byte) || byte.is_ascii_whitespace()
}

/// Returns the name of a leaf as it must be written. Names with special characters are quoted. For example, `_` without
/// quotes would be read as a blank.
pub(super) fn leaf_label(name: &str) -> String {
    let special = |c: char| c.is_whitespace() || c.is_control() || "()[]{}:;,'\"=\\_".contains(c);
    if name.is_empty() || name.contains(special) { quoted(name) } else { name.to_string() }
}

/// Returns the name of an inner node as it must be written. Numbers are quoted, because a number without quotes would
/// be read as support.
pub(super) fn node_label(name: &str) -> String {
    if support(name).is_some() { quoted(name) } else { leaf_label(name) }
}

pub(super) fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}

/// Returns a share as a percentage without rounding, so that [`of_percent`] restores the same share.
pub(super) fn percent(share: f64) -> String {
    let scientific = format!("{share:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse::<i32>().unwrap_or(0) + 2;
    if share == 0.0 || exponent < -4 {
        return format!("{mantissa}e{exponent}").trim_end_matches("e2").to_string();
    }
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let before = exponent + 1;
    if before <= 0 {
        return format!("0.{}{digits}", "0".repeat(before.unsigned_abs() as usize));
    }
    let before = before as usize;
    if digits.len() <= before {
        return format!("{digits}{}", "0".repeat(before - digits.len()));
    }
    format!("{}.{}", &digits[..before], &digits[before..])
}

/// Returns the share of a percentage. Changes the decimal exponent instead of dividing by 100, because a division would
/// round a second time.
pub(super) fn of_percent(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    number(&format!("{mantissa}e{}", exponent.parse::<i64>().ok()?.saturating_sub(2)))
}

/// Returns the beginning of a name, without characters that could change the state of a terminal.
pub(super) fn shown(name: &str) -> String {
    const LIMIT: usize = 60;
    let mut shown = String::new();
    for c in name.chars().take(LIMIT) {
        match c {
            '\'' | '"' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    if name.chars().nth(LIMIT).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn percents_come_back(share in 0.0..=1.0f64, digits in 0u32..6) {
            let rounded = (share * 10f64.powi(digits as i32)).round() / 10f64.powi(digits as i32);
            for share in [share, rounded, share * 1e-7, f64::from_bits(share.to_bits() % 4096)] {
                prop_assert_eq!(of_percent(&percent(share)).map(f64::to_bits), Some(share.to_bits()), "{}", percent(share));
            }
        }
    }

    #[test]
    fn percents_are_plain() {
        let texts =
            [(0.93, "93"), (0.905, "90.5"), (1.0, "100"), (0.0, "0"), (0.07, "7"), (0.005, "0.5"), (0.57, "57")];
        for (share, text) in texts {
            assert_eq!(percent(share), text);
        }
        for (text, share) in [("1e2", Some(1.0)), ("+5.0E1", Some(0.5)), (".5", Some(0.005)), ("x", None)] {
            assert_eq!(of_percent(text), share);
        }
    }

    #[test]
    fn long_names_and_control_characters_are_shown_safely() {
        assert_eq!(shown("it's"), "it's");
        assert_eq!(shown("\u{1b}[31m\n"), "\\u{1b}[31m\\n");
        assert_eq!(shown(&"x".repeat(100_000)).chars().count(), 61);
    }
}
