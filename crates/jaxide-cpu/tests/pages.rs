//! Large arguments that come often are put into huge pages. Alone in its process, whose memory it looks at.
#![cfg(target_os = "linux")]

use jaxide_core::{Tensor, parse};
use jaxide_cpu::{CompileOptions, compile};

/// Bytes that the process has in huge pages.
fn in_huge_pages() -> usize {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = rollup
        .lines()
        .find(|line| line.starts_with("AnonHugePages"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
    kilobytes.unwrap() << 10
}

/// Whether the system can be asked for them: Linux from 6.1 on, unless they are switched off.
fn can_be_asked() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release
        .split(['.', '-'])
        .map(|number| number.parse::<u32>());
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
        return false;
    };
    let enabled = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    (major, minor) >= (6, 1) && enabled.is_ok_and(|enabled| !enabled.contains("[never]"))
}

#[test]
fn large_arguments_that_come_often_are_put_into_huge_pages() {
    const LENGTH: usize = 1 << 23;
    let text = format!(
        "{{ lambda ; a:i32[{LENGTH}]. let b:i32[] = reduce_sum[axes=(0,) out_sharding=None] a in (b,) }}"
    );
    let program = compile(&parse(&text).unwrap(), &CompileOptions::default()).unwrap();
    let elements: Vec<i32> = (0..LENGTH as i32).map(|k| k % 1000 - 499).collect();
    let sum = elements.iter().fold(0i32, |sum, x| sum.wrapping_add(*x));
    let array = Tensor::from_vec(&[LENGTH], elements).unwrap();
    let before = in_huge_pages();
    for _ in 0..40 {
        let results = program.run(std::slice::from_ref(&array)).unwrap();
        assert_eq!(results[0].as_slice::<i32>().unwrap(), [sum]);
    }
    // One of them at either end may be missing, and another be used for something else.
    let bytes = LENGTH * size_of::<i32>();
    let has = in_huge_pages();
    assert!(
        !can_be_asked() || has >= bytes / 2,
        "{before} bytes before, {has} after, of {bytes}"
    );
}
