//! Trains the network of moons.py from Rust.
use std::os::raw::c_int;

mod step;
include!("data.rs");

fn main() -> Result<(), c_int> {
    let mut training = step::Step::new();
    let mut loss = [0.0];
    for number in 1..=200 {
        training.call(&POINTS, &LABELS, &[0.01], &mut loss)?;
        if number % 10 == 0 {
            println!("{number} {:08x}", loss[0].to_bits());
        }
    }
    let before = training.state.weight;
    let mut wrong = LABELS;
    wrong[5] = 2;
    if let Err(check) = training.call(&POINTS, &wrong, &[0.01], &mut loss) {
        println!("step: check {check} failed: {}", before == training.state.weight);
    }
    Ok(())
}
