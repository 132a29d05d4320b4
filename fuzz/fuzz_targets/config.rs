#![no_main]

use kolmo::config::parse;
use libfuzzer_sys::fuzz_target;

// An input is rejected, or its resolved form has the same meaning.
fuzz_target!(|text: &str| {
    if let Ok(config) = parse(text, "input", &[]) {
        let resolved = config.to_toml();
        match parse(&resolved, "resolved", &[]) {
            Ok(again) => assert!(again == config, "{resolved}"),
            Err(error) => panic!("{error}\n{resolved}"),
        }
    }
});
