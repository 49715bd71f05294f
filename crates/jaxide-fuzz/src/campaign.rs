//! Tests that choose at random, in rounds.

use std::process::Command;
use std::time::{Duration, Instant};

use jaxide_fuzz::Campaign;

use super::{Goal, Usage};

/// `cargo test` of a campaign.
fn cargo(campaign: &Campaign, profile: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let split = campaign.test.len() - 1;
    command
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["test", "--quiet", "--profile", profile])
        .args(&campaign.test[..split]);
    command
}

/// Builds it, so that its time is not spent on that.
pub(crate) fn build(campaign: &Campaign, profile: &str) -> Result<(), Usage> {
    let status = cargo(campaign, profile).arg("--no-run").status();
    let status = status.map_err(|error| format!("cargo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} cannot be built", campaign.name))
    }
}

/// Runs it until the time is over or the number of cases is reached, or something is found. How much.
pub(crate) fn run(
    campaign: &Campaign,
    goal: &Goal,
    time: Option<Duration>,
) -> Result<usize, Usage> {
    let start = Instant::now();
    let (mut done, mut seed) = (0, goal.seed);
    let count = goal.count.unwrap_or(u64::MAX);
    while done < count && time.is_none_or(|time| start.elapsed() < time || done == 0) {
        let cases = campaign.round.min(count - done);
        let filter = campaign.test.last().copied().unwrap_or_default();
        let output = cargo(campaign, &goal.profile)
            .args(["--", "--nocapture", filter])
            .env(campaign.count, cases.to_string())
            .env(campaign.seed, seed.to_string())
            .output()
            .map_err(|error| format!("cargo: {error}"))?;
        done += cases;
        if !output.status.success() {
            println!(
                "{}{}\n{}: found by\n    {}={cases} {}={seed} cargo test --profile {} {} -- --nocapture\n",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
                campaign.name,
                campaign.count,
                campaign.seed,
                goal.profile,
                campaign.test.join(" ")
            );
            return Ok(1);
        }
        seed = seed.wrapping_add(if campaign.seed_each { cases } else { 1 });
    }
    println!(
        "{}: {done} cases from seed {} in {:.1?}; 0 findings",
        campaign.name,
        goal.seed,
        start.elapsed()
    );
    Ok(0)
}
