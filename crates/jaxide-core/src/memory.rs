//! How much memory may be taken: what is stated by `JAXIDE_MEMORY` or [`set_limit`], or else what the machine has free.
//!
//! A limit is for the data of one piece of work at a time, the reading of a file or the run of a program: sizes are added
//! up where the work is planned and [checked](check) before anything is taken. What lives between such pieces is counted
//! by nobody here, except that it is no longer free.
//!
//! ```
//! use jaxide_core::memory;
//! assert_eq!(memory::parse("64M")?, 64 << 20);
//! assert!(memory::check(1 << 10).is_ok());
//! let error = memory::check_within(2 << 30, 1 << 30).unwrap_err();
//! assert_eq!(error.message(), "2147483648 bytes of memory are needed, and 1073741824 may be taken");
//! # Ok::<(), jaxide_core::Error>(())
//! ```

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// The environment variable that states the limit, as [`parse`] reads it.
pub const VARIABLE: &str = "JAXIDE_MEMORY";

/// Requests below this are not held against what is free: asking would take longer than the work.
const SMALL: usize = 16 << 20;

/// No limit is set.
const UNSET: usize = usize::MAX;

static SET: AtomicUsize = AtomicUsize::new(UNSET);

/// The bytes that may be taken now: those of [`set_limit`], else those of `JAXIDE_MEMORY`, else what is [`free`].
pub fn limit() -> usize {
    stated().unwrap_or_else(free)
}

/// The limit that somebody stated, if anybody did. A `JAXIDE_MEMORY` that makes no sense states nothing; see
/// [`environment`].
pub fn stated() -> Option<usize> {
    match SET.load(Ordering::Relaxed) {
        UNSET => environment().ok().flatten(),
        bytes => Some(bytes),
    }
}

/// Sets the limit of the process in the place of `JAXIDE_MEMORY`; `None` takes it away again.
pub fn set_limit(bytes: Option<usize>) {
    SET.store(bytes.unwrap_or(UNSET), Ordering::Relaxed);
}

/// The limit that `JAXIDE_MEMORY` states; it is read once.
///
/// # Errors
/// When it is no number of bytes.
pub fn environment() -> Result<Option<usize>> {
    static STATED: OnceLock<Result<Option<usize>>> = OnceLock::new();
    let read = || {
        let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let bytes = parse(&text.to_string_lossy());
        bytes
            .map(Some)
            .map_err(|error| Error::new(error.kind(), format!("{VARIABLE}: {}", error.message())))
    };
    STATED.get_or_init(read).clone()
}

/// A number of bytes, at least 1, with a suffix `K`, `M`, `G` or `T` for powers of 1024 or without one.
///
/// # Errors
/// When the text is none, or the number cannot be addressed.
///
/// ```
/// use jaxide_core::memory::parse;
/// assert_eq!(parse("1000")?, 1000);
/// assert_eq!(parse("2k")?, 2048);
/// assert!(parse("-1").is_err() && parse("0").is_err() && parse("1.5G").is_err() && parse("9999999T").is_err());
/// # Ok::<(), jaxide_core::Error>(())
/// ```
pub fn parse(text: &str) -> Result<usize> {
    let shift = match text.as_bytes().last() {
        Some(b'K' | b'k') => 10,
        Some(b'M' | b'm') => 20,
        Some(b'G' | b'g') => 30,
        Some(b'T' | b't') => 40,
        _ => 0,
    };
    let digits = if shift == 0 {
        text
    } else {
        &text[..text.len() - 1]
    };
    let number = Some(digits)
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
        .ok_or_else(|| {
            Error::parameter(format!(
                "`{text}` is no number of bytes, such as 500M or 4G"
            ))
        })?;
    let bytes = number.parse::<usize>().ok().filter(|&number| number > 0);
    bytes
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|&bytes| bytes <= isize::MAX as usize)
        .ok_or_else(|| {
            Error::parameter(format!(
                "`{text}` is no possible number of bytes: from 1 to {} are",
                isize::MAX
            ))
        })
}

/// Refuses to take more than the [`limit`]. What is small is held against stated limits only, so that this costs nothing.
///
/// # Errors
/// When fewer than `bytes` may be taken: with both numbers.
pub fn check(bytes: usize) -> Result<()> {
    match stated() {
        Some(limit) => check_within(bytes, limit).map_err(|error| {
            error.note(format!(
                "the limit is stated: by `{VARIABLE}`, `--memory` or the program"
            ))
        }),
        None if bytes < SMALL => Ok(()),
        None => check_within(bytes, free()).map_err(|error| {
            error.note(format!(
                "so much is free now; `{VARIABLE}` states another limit"
            ))
        }),
    }
}

/// Refuses to take more than `limit`.
///
/// # Errors
/// When `bytes` are more: with both numbers.
pub fn check_within(bytes: usize, limit: usize) -> Result<()> {
    if bytes <= limit {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::TooLarge,
        format!("{bytes} bytes of memory are needed, and {limit} may be taken"),
    ))
}

/// Whether the allocator would give so many bytes now. Nothing is kept.
///
/// ```
/// use jaxide_core::memory::can_allocate;
/// assert!(can_allocate(1000) && !can_allocate(isize::MAX as usize));
/// ```
pub fn can_allocate(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// An empty vector with room for `count` elements, where a plain one would end the process when there is no memory.
///
/// # Errors
/// When the [limit](check) does not allow it or the allocator refuses: with the number of bytes.
pub fn reserved<T>(count: usize) -> Result<Vec<T>> {
    let bytes = count.saturating_mul(size_of::<T>());
    check(bytes)?;
    let mut vector = Vec::new();
    vector.try_reserve_exact(count).map_err(|_| {
        Error::new(
            ErrorKind::TooLarge,
            format!("out of memory: {bytes} bytes cannot be allocated"),
        )
    })?;
    Ok(vector)
}

/// The bytes that this process can still take: the least of what the machine has available, what the control groups around
/// the process leave, and what its own limits of address space and data leave. `isize::MAX` where nothing tells, as on
/// systems other than Linux.
pub fn free() -> usize {
    let own = |file: &str| std::fs::read_to_string(Path::new("/proc/self").join(file)).ok();
    let limits = own("limits").zip(own("status"));
    let resources = limits.map(|(limits, status)| below_resource_limits(&limits, &status));
    let machine = std::fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.and_then(|text| kilobytes(&text, "MemAvailable:"));
    let groups = own("cgroup").map(|groups| below_group_limits(&groups));
    [resources, machine, groups]
        .into_iter()
        .flatten()
        .fold(isize::MAX as usize, usize::min)
}

/// The number behind a name at the beginning of a line, `MemAvailable:  24093020 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<usize> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: usize = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// What the soft limits of `/proc/self/limits` leave beside what `/proc/self/status` says is used.
fn below_resource_limits(limits: &str, status: &str) -> usize {
    let left = |limit: &str, used: &str| {
        let rest = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let limit: usize = rest.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(kilobytes(status, used)?))
    };
    [
        left("Max address space", "VmSize:"),
        left("Max data size", "VmData:"),
    ]
    .into_iter()
    .flatten()
    .fold(usize::MAX, usize::min)
}

/// What the control groups of `/proc/self/cgroup`, and those they are in, leave: of version 2, and of the memory
/// controller of version 1.
fn below_group_limits(groups: &str) -> usize {
    let mut least = usize::MAX;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let (mount, files) = if controllers.is_empty() {
            ("/sys/fs/cgroup", &VERSION_2)
        } else if controllers.split(',').any(|name| name == "memory") {
            ("/sys/fs/cgroup/memory", &VERSION_1)
        } else {
            continue;
        };
        // Inside of a container the path may be that outside of it: what does not exist limits nothing.
        let mut group = PathBuf::from(path.trim_start_matches('/'));
        loop {
            if let Some(left) = left_in_group(&Path::new(mount).join(&group), files) {
                least = least.min(left);
            }
            if !group.pop() {
                break;
            }
        }
    }
    least
}

/// The files of a control group: its limit, what is used, and the name in `memory.stat` of what is given back when needed.
struct GroupFiles {
    limit: &'static str,
    used: &'static str,
    reclaimable: &'static str,
}

const VERSION_1: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file ",
};

const VERSION_2: GroupFiles = GroupFiles {
    limit: "memory.max",
    used: "memory.current",
    reclaimable: "inactive_file ",
};

/// The bytes that the limit of one group leaves; `None` if it has none (`max` in the place of a number).
fn left_in_group(group: &Path, files: &GroupFiles) -> Option<usize> {
    let text = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| text(name)?.trim().parse::<usize>().ok();
    let limit = number(files.limit)?;
    let used = number(files.used)?;
    let cached = text("memory.stat").and_then(|stat| {
        let value = stat
            .lines()
            .find_map(|line| line.strip_prefix(files.reclaimable))?;
        value.trim().parse().ok()
    });
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bytes_have_suffixes() {
        for (text, bytes) in [
            ("1", 1),
            ("123", 123),
            ("3K", 3 << 10),
            ("3m", 3 << 20),
            ("8G", 8 << 30),
            ("2t", 2 << 40),
        ] {
            assert_eq!(parse(text).unwrap(), bytes, "{text}");
        }
        for text in [
            "",
            "K",
            "0",
            "0G",
            "+1",
            "-1",
            "1.5G",
            "1e9",
            " 1",
            "1 G",
            "1GB",
            "nan",
            "é",
            "1é",
            "18446744073709551615",
            "18446744073709551616",
            "8388608T",
            "99999999999999999999G",
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message().contains(&format!("`{text}`")), "{error}");
        }
        assert_eq!(parse("8388607T").unwrap(), 8388607 << 40);
    }

    #[test]
    fn what_is_more_than_the_limit_is_refused() {
        assert!(check_within(10, 10).is_ok());
        let error = check_within(11, 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        // Nothing has so much memory, stated or free.
        assert!(check(isize::MAX as usize - 1).is_err());
        assert!(reserved::<u64>(usize::MAX / 2).is_err());
        assert!(reserved::<u64>(10).unwrap().capacity() >= 10);
    }

    #[test]
    fn the_kernels_tables_are_read() {
        let meminfo = "MemTotal:       24638900 kB\nMemFree:  1 kB\nMemAvailable:   22493020 kB\n";
        assert_eq!(kilobytes(meminfo, "MemAvailable:"), Some(22_493_020 << 10));
        assert_eq!(kilobytes(meminfo, "MemOdd:"), None);
        let limits = |space: &str, data: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max data size             {data}            unlimited            bytes     \n\
                 Max address space         {space}            unlimited            bytes     \n"
            )
        };
        let status = "Name:\tcat\nVmSize:\t    3060 kB\nVmData:\t     360 kB\n";
        let left = |space: &str, data: &str| below_resource_limits(&limits(space, data), status);
        assert_eq!(left("unlimited", "unlimited"), usize::MAX);
        assert_eq!(left("921600000", "unlimited"), 921_600_000 - (3060 << 10));
        assert_eq!(left("921600000", "1000000"), 1_000_000 - (360 << 10));
        assert_eq!(left("1000", "unlimited"), 0);
    }

    #[test]
    fn groups_leave_what_is_neither_used_nor_given_back() {
        let folder = std::env::temp_dir().join(format!("jaxide-group-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        assert_eq!(left_in_group(&folder, &VERSION_2), None);
        write("memory.max", "max\n");
        write("memory.current", "700\n");
        assert_eq!(left_in_group(&folder, &VERSION_2), None);
        write("memory.max", "1000\n");
        assert_eq!(left_in_group(&folder, &VERSION_2), Some(300));
        write("memory.stat", "anon 5\ninactive_file 600\nactive_file 3\n");
        assert_eq!(left_in_group(&folder, &VERSION_2), Some(900));
        write("memory.max", "50\n");
        assert_eq!(left_in_group(&folder, &VERSION_2), Some(0));
        write("memory.limit_in_bytes", "2000\n");
        write("memory.usage_in_bytes", "1500\n");
        assert_eq!(left_in_group(&folder, &VERSION_1), Some(500));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_machine_has_some_memory() {
        assert!((1 << 20..1 << 50).contains(&free()), "{}", free());
    }
}
