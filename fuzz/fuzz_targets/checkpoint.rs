#![no_main]

use std::path::Path;

use kolmo::config::parse;
use kolmo::io::checkpoint::Head;
use libfuzzer_sys::fuzz_target;

// Damaged metadata are rejected. The input stored in the metadata is parsed, whether valid or not.
fuzz_target!(|text: &[u8]| {
    let _ = Head::parse(text, Path::new("zarr.json"));
    if let Ok(head) = serde_json::from_slice::<Head>(text) {
        let _ = parse(&head.config, "config", &[]);
        let again = serde_json::to_vec(&head).unwrap();
        assert!(serde_json::from_slice::<Head>(&again).unwrap() == head);
    }
});
