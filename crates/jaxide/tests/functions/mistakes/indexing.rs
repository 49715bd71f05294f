//! Wrong calls: indices.

use jaxide::idx;
use jaxide::numpy;

use super::{b, f, i, rows};

rows! {
    "getitem(f(3))[5]" => f([3]).index(5);
    "getitem(f(3))[-5]" => f([3]).index(-5);
    "getitem(f(3))[0, 0]" => f([3]).index(idx![0, 0]);
    "getitem(f(3))[0.5]" => f([3]).index(0.5);
    "getitem(f(3))[f(2)]" => f([3]).index(&f([2]));
    "getitem(f(3))[b(2)]" => f([3]).index(&b([2]));
    "getitem(f(3, 2))[b(3, 3)]" => f([3, 2]).index(&b([3, 3]));
    "getitem(f(3))[2:9]" => f([3]).index(idx![2..9]);
    "getitem(f(3))[::0]" => f([3]).index(idx![..; 0]);
    "getitem(f(3))[..., ...]" => f([3]).index(idx![..., ...]);
    "getitem(f(3, 3))[i(2), i(3)]" => f([3, 3]).index(idx![&i([2]), &i([3])]);
    "getitem(f())[0]" => f([]).index(0);
    "getitem(f(0))[0]" => f([0]).index(0);
    "at(f(3))[0].set(f(2))" => f([3]).at(0).set(f([2]));
    "at(f(3))[5].set(1.0)" => f([3]).at(5).set(1.0);
    "at(f(3))[0, 0].add(1.0)" => f([3]).at(idx![0, 0]).add(1.0);
    "at(f(3, 2))[0].set(f(3))" => f([3, 2]).at(0).set(f([3]));
    "at(f(3, 2))[:, 0].multiply(f(2))" => f([3, 2]).at(idx![.., 0]).multiply(f([2]));
    "at(f(3))[b(3)].set(f(2))" => f([3]).at(&b([3])).set(f([2]));
    "at(i(3))[0].set(1.5)" => i([3]).at(0).set(1.5);
    "at(f(3))[f(1)].set(1.5)" => f([3]).at(&f([1])).set(1.5);
    "at(f(3))[i(2)].get(mode=\"fill\", fill_value=f(2))" => f([3]).at(&i([2])).mode(numpy::IndexMode::Fill).fill_value(f([2])).get();
}
