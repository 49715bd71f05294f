//! Why a function is traced again, in words.

use jaxide_core::Aval;
use jaxide_tree::TreeDef;

use super::cache::Cache;
use crate::array::Array;
use crate::trace::aval_of;

/// So many differences are named.
const MOST: usize = 3;

/// What is different about a call from the call before that is most like it.
pub(super) fn reason(cache: &Cache, treedef: &TreeDef, leaves: &[Array]) -> String {
    let same_structure = cache
        .keys()
        .filter(|(known, _)| *known == treedef)
        .map(|(_, avals)| type_differences(treedef, avals, leaves))
        .min_by_key(Vec::len);
    let differences = match same_structure {
        Some(differences) if differences.is_empty() => {
            return "the named axes around the call are others".to_owned();
        }
        Some(differences) => differences,
        None => {
            let structures = cache.keys().map(|(known, _)| {
                let errors = known.differences(treedef);
                errors.iter().map(ToString::to_string).collect()
            });
            match structures.min_by_key(Vec::len) {
                Some(differences) => differences,
                None => return "it has not been traced before".to_owned(),
            }
        }
    };
    let more = differences.len().saturating_sub(MOST);
    let mut text = differences[..differences.len().min(MOST)].join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

fn type_differences(treedef: &TreeDef, before: &[Aval], now: &[Array]) -> Vec<String> {
    let paths = treedef.key_paths();
    let pairs = before.iter().zip(now).zip(paths);
    pairs
        .filter_map(|((before, now), path)| {
            let now = aval_of(now);
            let weak = |aval: &Aval| if aval.weak_type { " (weak)" } else { "" };
            (now != *before).then(|| {
                format!(
                    "argument {path} is {now}{}, and was {before}{}",
                    weak(&now),
                    weak(before)
                )
            })
        })
        .collect()
}
