#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ordhc_fuzz::replay(data));
