//! What a method cannot do is said in a sentence.

use super::*;

fn compact6() -> Formula {
    Formula { scheme: COMPACT6, shift: Shift::None }
}

#[test]
fn neighbour_names_its_reach_and_the_shortest_block() {
    let operator = compact6().operator::<f64>(60, true);
    let message = distribute(&operator, &[31, 29], 0, Method::Neighbour).unwrap_err();
    for words in ["needs blocks of 41 points", "the shortest has 29", "`pcr`"] {
        assert!(message.contains(words), "{message}");
    }
}
