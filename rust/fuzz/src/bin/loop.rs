//! Fuzzing on the stable toolchain: runs each target for some seconds on random changes of the inputs in its corpus.
//!
//! Usage: `loop SECONDS [TARGET ...]`. `loop 0` runs only the inputs in the corpus. The environment variable
//! `FUZZ_SEED` sets the seed. If a target panics on an input, or takes longer than ten seconds, the input is written
//! to `found/TARGET-HASH`, and the exit code is 1.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ordhc_fuzz::{TARGETS, Target};

const MOST_BYTES: usize = 1024;
const SLOW: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(seconds) = arguments.next().and_then(|text| text.parse().ok()) else {
        eprintln!("usage: loop SECONDS [TARGET ...]");
        return ExitCode::from(2);
    };
    let wanted: Vec<String> = arguments.collect();
    if let Some(unknown) = wanted.iter().find(|name| TARGETS.iter().all(|target| target.0 != name.as_str())) {
        eprintln!("there is no target {unknown}");
        return ExitCode::from(2);
    }
    let seed = std::env::var("FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut fine = true;
    for (name, target) in TARGETS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            fine &= fuzz(name, target, Duration::from_secs_f64(seconds), seed);
        }
    }
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns true if no input makes the target panic or take too long.
fn fuzz(name: &str, target: Target, time: Duration, seed: u64) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut inputs = corpus(&folder.join("corpus").join(name));
    assert!(!inputs.is_empty(), "the corpus of {name} is empty");
    for input in &inputs {
        if !holds(name, target, input, folder) {
            return false;
        }
    }
    let mut random = Random(seed ^ 0x9e37_79b9_7f4a_7c15);
    let n_seeds = inputs.len();
    let (start, mut runs) = (Instant::now(), 0u64);
    while start.elapsed() < time {
        let input = random.changed(&inputs);
        if !holds(name, target, &input, folder) {
            return false;
        }
        runs += 1;
        // The code coverage of inputs is not measured, so simply keep every 64th input for further changes.
        if runs % 64 == 0 {
            if inputs.len() < n_seeds + 512 {
                inputs.push(input);
            } else {
                let at = n_seeds + random.below(512);
                inputs[at] = input;
            }
        }
    }
    println!("{name:12} {runs:9} inputs, nothing found");
    true
}

fn holds(name: &str, target: Target, input: &[u8], folder: &Path) -> bool {
    let start = Instant::now();
    let panicked = catch_unwind(AssertUnwindSafe(|| target(input))).is_err();
    if !panicked && start.elapsed() < SLOW {
        return true;
    }
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let file = folder.join("found").join(format!("{name}-{:016x}", hasher.finish()));
    let written = std::fs::create_dir_all(folder.join("found")).and_then(|()| std::fs::write(&file, input));
    let why = if panicked { "panics" } else { "takes long" };
    println!("{name}: {why} on {} ({written:?}): {input:?}", file.display());
    false
}

fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read(file).ok()).collect()
}

/// Pseudo-random numbers (splitmix64, Steele, Lea & Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn changed(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut input = inputs[self.below(inputs.len())].clone();
        for _ in 0..=self.below(6) {
            let at = self.below(input.len() + 1);
            let end = (at + 1 + self.below(8)).min(input.len());
            match self.below(8) {
                0 => input.insert(at, self.next() as u8),
                1 if at < end => _ = input.drain(at..end),
                2 if at < input.len() => input[at] ^= 1 << self.below(8),
                3 if at < input.len() => input[at] = self.next() as u8,
                4 if at < end => {
                    let part = input[at..end].to_vec();
                    let to = self.below(input.len() + 1);
                    input.splice(to..to, part);
                }
                5 => {
                    let other = &inputs[self.below(inputs.len())];
                    let from = self.below(other.len() + 1);
                    let to = (from + 1 + self.below(32)).min(other.len());
                    input.splice(at..at, other[from.min(to)..to].iter().copied());
                }
                6 => input.extend((0..self.below(32)).map(|_| self.next() as u8).collect::<Vec<_>>()),
                _ if at < input.len() => input[at] = [0, 1, 255, b'0', b'(', b',', b'"', b'\n'][self.below(8)],
                _ => {}
            }
        }
        input.truncate(MOST_BYTES);
        input
    }
}
