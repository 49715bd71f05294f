//! Reductions, quantiles, histograms, sets and sorting of `numpy`.

use jaxide::numpy::{
    self, Average, Bincount, Corrcoef, Cov, Cumulative, Histogram, HistogramDd, IsIn, Method,
    Quantile, Reduction, Sets, Sort, TopK, Unique,
};
use jaxide::prelude::*;

use crate::Area;
use crate::case::{Case, Mode};
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/reductions.txt"),
    call,
    tolerance,
    written_differently: &[
        (
            "numpy.nanmedian axis=1 ; f32[0,2]",
            "JAX does not gather from nothing",
        ),
        (
            "numpy.histogram bins=3 ; f32[0]",
            "JAX adds nothing where there is nothing",
        ),
        (
            "numpy.histogram2d",
            "JAX finds the number of a box by `ravel_multi_index`",
        ),
        ("numpy.histogramdd", "as `histogram2d`"),
        (
            "numpy.cov ; f32[0,5]",
            "JAX's result of nothing is a constant",
        ),
        (
            "numpy.unique size=2 fill_value=7 ; f32[0]",
            "JAX's empty selection is no gather",
        ),
        (
            "numpy.unique_returning size=2 fill_value=7 ; f32[0]",
            "as `unique`",
        ),
        (
            "numpy.unique_all size=2 fill_value=7 ; f32[0]",
            "as `unique`",
        ),
        (
            "numpy.unique_counts size=2 fill_value=7 ; f32[0]",
            "as `unique`",
        ),
        (
            "numpy.unique_inverse size=2 fill_value=7 ; f32[0]",
            "as `unique`",
        ),
        (
            "numpy.unique_values size=2 fill_value=7 ; f32[0]",
            "as `unique`",
        ),
        (
            "numpy.setxor1d assume_unique=true",
            "JAX joins the arrays twice, and uses one",
        ),
        (
            "numpy.isin method=binary_search",
            "here what is beyond the end is kept inside",
        ),
        ("numpy.isin invert=true method=binary_search", "as above"),
        (
            "numpy.histogram+weights bins=4 ; c64",
            "JAX joins the last of complex edges to the others",
        ),
    ],
    different: &[],
    text,
};

/// Functions that take an array and one kind of options.
macro_rules! of_options {
    ($name:expr, $x:expr, $options:expr; $($function:ident)*) => {
        match $name {
            $(stringify!($function) => Some(vec![numpy::$function(&$x[0], $options)]),)*
            _ => None,
        }
    };
}

/// The options of a reduction, and of the arrays behind the first one those that the name of the function says.
fn reduction(case: &Case, x: &[Array]) -> Reduction {
    let mut options = Reduction::new().keepdims(case.flag("keepdims").unwrap_or(false));
    if let Some(axes) = case.list("axis") {
        options = options.axis(axes);
    }
    if let Some(dtype) = case.dtype() {
        options = options.dtype(dtype);
    }
    if let Some(ddof) = case.integer("ddof") {
        options = options.ddof(ddof);
    }
    if let Some(correction) = case.integer("correction") {
        options = options.correction(correction);
    }
    if case.flag("promote_integers") == Some(false) {
        options = options.promote_integers(false);
    }
    let keywords = case.function.split('+').skip(1);
    for (keyword, array) in keywords.zip(&x[1..]) {
        options = match keyword {
            "where" => options.where_(array),
            "initial" => options.initial(array),
            "mean" => options.mean(array),
            _ => options,
        };
    }
    options
}

fn quantile(case: &Case) -> Quantile {
    let mut options = Quantile::new().keepdims(case.flag("keepdims").unwrap_or(false));
    if let Some(axes) = case.list("axis") {
        options = options.axis(axes);
    }
    options.method(match case.parameter("method") {
        Some("lower") => Method::Lower,
        Some("higher") => Method::Higher,
        Some("midpoint") => Method::Midpoint,
        Some("nearest") => Method::Nearest,
        Some("inverted_cdf") => Method::InvertedCdf,
        _ => Method::Linear,
    })
}

/// The axis, where there is one.
fn axis_of(case: &Case) -> Option<i64> {
    match case.list("axis")?[..] {
        [axis] => Some(axis),
        _ => None,
    }
}

fn size(case: &Case, key: &str) -> Option<usize> {
    case.integer(key).map(|number| number as usize)
}

fn unique(case: &Case) -> Unique {
    let mut options = Unique::new().equal_nan(case.flag("equal_nan").unwrap_or(true));
    if let Some(axis) = axis_of(case) {
        options = options.axis(axis);
    }
    if let Some(size) = size(case, "size") {
        options = options.size(size);
    }
    if let Some(fill) = case.integer("fill_value") {
        options = options.fill_value(fill);
    }
    options
}

fn set(case: &Case) -> Sets {
    let mut options = Sets::new().assume_unique(case.flag("assume_unique").unwrap_or(false));
    if let Some(size) = size(case, "size") {
        options = options.size(size);
    }
    if let Some(fill) = case.integer("fill_value") {
        options = options.fill_value(fill);
    }
    options
}

fn sort(case: &Case) -> Sort {
    let mut options = Sort::new()
        .stable(case.flag("stable").unwrap_or(true))
        .descending(case.flag("descending").unwrap_or(false));
    if let Some(axis) = axis_of(case) {
        options = options.axis(axis);
    }
    if let Some(dtype) = case.dtype() {
        options = options.dtype(dtype);
    }
    if case.function.ends_with("+flat") {
        options = options.axis(());
    }
    options
}

fn histogram(case: &Case, x: &[Array]) -> Histogram {
    let mut options = Histogram::new().density(case.flag("density").unwrap_or(false));
    if let Some(bins) = case.integer("bins") {
        options = options.bins(bins);
    }
    match case.function.split_once('+') {
        Some((_, "bins")) => options.bins(&x[1]),
        Some((_, "range")) => options.range(&x[1]),
        Some((_, "weights")) => options.weights(&x[1]),
        _ => options,
    }
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let two = |(first, second): (Array, Array)| Some(vec![first, second]);
    let three = |(a, b, c): (Array, Array, Array)| Some(vec![a, b, c]);
    let four = |(a, b, c, d): (Array, Array, Array, Array)| Some(vec![a, b, c, d]);
    let name = case.function.strip_prefix("numpy.")?;
    let (base, with) = name.split_once('+').unwrap_or((name, ""));
    let folds = of_options! { base, x, reduction(case, x);
        sum prod max min amax amin all any mean var std ptp count_nonzero median nanmedian nansum nanprod nanmax nanmin nanmean
        nanvar nanstd argmax argmin nanargmax nanargmin
    };
    if folds.is_some() {
        return folds;
    }
    let mut cumulative =
        Cumulative::new().include_initial(case.flag("include_initial").unwrap_or(false));
    if let Some(axis) = axis_of(case) {
        cumulative = cumulative.axis(axis);
    }
    if let Some(dtype) = case.dtype() {
        cumulative = cumulative.dtype(dtype);
    }
    let running = of_options! { base, x, cumulative;
        cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod
    };
    if running.is_some() {
        return running;
    }
    let mut average = Average::new().keepdims(case.flag("keepdims").unwrap_or(false));
    if let Some(axes) = case.list("axis") {
        average = average.axis(axes);
    }
    if base == "average" && !with.is_empty() {
        average = average.weights(&x[1]);
    }
    let mut quantile = quantile(case);
    if with == "weights" && x.len() > 2 {
        quantile = quantile.weights(&x[2]);
    }
    let mut cov = Cov::new()
        .rowvar(case.flag("rowvar").unwrap_or(true))
        .bias(case.flag("bias").unwrap_or(false));
    let mut corrcoef = Corrcoef::new().rowvar(case.flag("rowvar").unwrap_or(true));
    if let Some(ddof) = case.integer("ddof") {
        cov = cov.ddof(ddof);
    }
    if let Some(dtype) = case.dtype() {
        cov = cov.dtype(dtype);
        corrcoef = corrcoef.dtype(dtype);
    }
    let mut bincount = Bincount::new().minlength(size(case, "minlength").unwrap_or(0));
    if let Some(length) = size(case, "length") {
        bincount = bincount.length(length);
    }
    if base == "bincount" && with == "weights" {
        bincount = bincount.weights(&x[1]);
    }
    let bins: Vec<Array> = case.integer("bins").map(Array::from).into_iter().collect();
    let mut boxes = HistogramDd::new().density(case.flag("density").unwrap_or(false));
    if !bins.is_empty() {
        boxes = boxes.bins(&bins);
    }
    let several = |(counts, edges): (Array, Vec<Array>)| {
        Some(std::iter::once(counts).chain(edges).collect::<Vec<Array>>())
    };
    let along = || match axis_of(case) {
        Some(axis) => numpy::SortAlong::new().axis(axis),
        None => numpy::SortAlong::new(),
    };
    let kth = || case.integer("kth").unwrap();
    let is_in = IsIn::new()
        .invert(case.flag("invert").unwrap_or(false))
        .assume_unique(case.flag("assume_unique").unwrap_or(false))
        .method(match case.parameter("method") {
            Some("binary_search") => numpy::Finding::BinarySearch,
            _ => numpy::Finding::CompareAll,
        });
    let mut top_k = TopK::new().smallest(with == "smallest");
    if let Some(axis) = axis_of(case) {
        top_k = top_k.axis(axis);
    }
    match (base, with) {
        ("minmax", _) => two(numpy::minmax(&x[0], reduction(case, x))),
        ("average", "returned") => two(numpy::average_returned(&x[0], average)),
        ("average", _) => one(numpy::average(&x[0], average)),
        ("quantile", _) => one(numpy::quantile(&x[0], &x[1], quantile)),
        ("nanquantile", _) => one(numpy::nanquantile(&x[0], &x[1], quantile)),
        ("percentile", _) => one(numpy::percentile(&x[0], &x[1], quantile)),
        ("nanpercentile", _) => one(numpy::nanpercentile(&x[0], &x[1], quantile)),
        ("histogram_bin_edges", _) => one(numpy::histogram_bin_edges(&x[0], histogram(case, x))),
        ("histogram", _) => two(numpy::histogram(&x[0], histogram(case, x))),
        ("histogram2d", _) => three(numpy::histogram2d(&x[0], &x[1], boxes)),
        ("histogramdd", "weights") => {
            let bins = [Array::from(3)];
            several(numpy::histogramdd(&x[0], boxes.bins(&bins).weights(&x[1])))
        }
        // A list of one bin is for one dimension, and one bin alone for all.
        ("histogramdd", _) if x.len() == 2 => None,
        ("histogramdd", _) => several(numpy::histogramdd(&x[0], boxes.bins(&x[1..]))),
        ("bincount", _) => one(numpy::bincount(&x[0], bincount)),
        ("cov", "y") => one(numpy::cov(&x[0], cov.y(&x[1]))),
        ("cov", "fweights") => one(numpy::cov(&x[0], cov.fweights(&x[1]))),
        ("cov", "aweights") => one(numpy::cov(&x[0], cov.aweights(&x[1]))),
        ("cov", "both") => one(numpy::cov(&x[0], cov.fweights(&x[1]).aweights(&x[2]))),
        ("cov", _) => one(numpy::cov(&x[0], cov)),
        ("corrcoef", "y") => one(numpy::corrcoef(&x[0], corrcoef.y(&x[1]))),
        ("corrcoef", _) => one(numpy::corrcoef(&x[0], corrcoef)),
        ("unique", _) => one(numpy::unique(&x[0], unique(case))),
        ("unique_returning", _) => four(numpy::unique_returning(&x[0], unique(case))),
        ("unique_all", _) => four(numpy::unique_all(&x[0], unique(case))),
        ("unique_counts", _) => two(numpy::unique_counts(&x[0], unique(case))),
        ("unique_inverse", _) => two(numpy::unique_inverse(&x[0], unique(case))),
        ("unique_values", _) => one(numpy::unique_values(&x[0], unique(case))),
        ("union1d", _) => one(numpy::union1d(&x[0], &x[1], set(case))),
        ("setdiff1d", _) => one(numpy::setdiff1d(&x[0], &x[1], set(case))),
        ("setxor1d", _) => one(numpy::setxor1d(&x[0], &x[1], set(case))),
        ("intersect1d", _) => one(numpy::intersect1d(&x[0], &x[1], set(case))),
        ("intersect1d_indices", _) => three(numpy::intersect1d_indices(&x[0], &x[1], set(case))),
        ("isin", _) => one(numpy::isin(&x[0], &x[1], is_in)),
        ("sort", _) => one(numpy::sort(&x[0], sort(case))),
        ("argsort", _) => one(numpy::argsort(&x[0], sort(case))),
        ("sort_complex", _) => one(numpy::sort_complex(&x[0])),
        ("lexsort", _) => one(numpy::lexsort(x, along())),
        ("partition", _) => one(numpy::partition(&x[0], kth(), along())),
        ("argpartition", _) => one(numpy::argpartition(&x[0], kth(), along())),
        ("top_k", _) => two(numpy::top_k(&x[0], size(case, "k").unwrap(), top_k)),
        _ => None,
    }
}

fn tolerance(case: &Case) -> Tolerance {
    let name = case.function.trim_start_matches("numpy.");
    let name = name.split('+').next().unwrap();
    match name {
        "max" | "min" | "amax" | "amin" | "all" | "any" | "count_nonzero" | "argmax" | "argmin"
        | "nanargmax" | "nanargmin" | "minmax" | "sort" | "argsort" | "partition" | "top_k"
        | "isin" | "lexsort"
            if case.mode != Mode::Grad =>
        {
            Tolerance::EXACT
        }
        // Of few elements that cancel.
        "quantile" | "nanquantile" | "percentile" | "nanpercentile" => Tolerance::of_largest(16.0),
        _ => Tolerance::of_largest(4.0),
    }
}

fn text(name: &str, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let two = |(first, second): (Array, Array)| Some(vec![first, second]);
    let x0 = x.first();
    let name = name.trim_end_matches("_x64");
    let axis = |axis: i64| Reduction::new().axis(axis);
    match name {
        "all" => one(numpy::all(x0?, ())),
        "all_axis" => one(numpy::all(x0?, 0)),
        "amax_keepdims" => one(numpy::amax(x0?, axis(1).keepdims(true))),
        "amin" => one(numpy::amin(x0?, ())),
        "any" => one(numpy::any(x0?, 0)),
        "argmax" => one(numpy::argmax(x0?, ())),
        "argmin_axis" => one(numpy::argmin(x0?, 1)),
        "argsort" => one(numpy::argsort(x0?, ())),
        "average_weights" => one(numpy::average(x0?, Average::new().weights(&x[1]))),
        "bincount" => one(numpy::bincount(x0?, Bincount::new().length(5))),
        "corrcoef" => one(numpy::corrcoef(x0?, ())),
        "count_nonzero" => one(numpy::count_nonzero(x0?, ())),
        "cov" => one(numpy::cov(x0?, ())),
        "cumprod" => one(numpy::cumprod(x0?, ())),
        "cumsum_axis" => one(numpy::cumsum(x0?, 1)),
        "cumulative_sum" => one(numpy::cumulative_sum(
            x0?,
            Cumulative::new().include_initial(true),
        )),
        "histogram" => {
            let range = Histogram::new().bins(4).range([-2.0f32, 2.0]);
            two(numpy::histogram(x0?, range))
        }
        "intersect1d" => one(numpy::intersect1d(x0?, &x[1], Sets::new().size(3))),
        "isin" => one(numpy::isin(x0?, &x[1], ())),
        "lexsort" => one(numpy::lexsort(x, ())),
        "max_nan" => one(numpy::max(x0?, ())),
        "mean" | "mean_int" => one(numpy::mean(x0?, ())),
        "mean_axis" => one(numpy::mean(x0?, 0)),
        "mean_where" => one(numpy::mean(x0?, Reduction::new().where_(&x[1]))),
        "median" => one(numpy::median(x0?, ())),
        "min_initial" => one(numpy::min(x0?, Reduction::new().initial(-0.1))),
        "nanargmax" => one(numpy::nanargmax(x0?, ())),
        "nancumsum" => one(numpy::nancumsum(x0?, ())),
        "nanmax" => one(numpy::nanmax(x0?, ())),
        "nanmean" => one(numpy::nanmean(x0?, ())),
        "nanmedian" => one(numpy::nanmedian(x0?, ())),
        "nanstd" => one(numpy::nanstd(x0?, ())),
        "nansum" => one(numpy::nansum(x0?, ())),
        "percentile" => one(numpy::percentile(x0?, [25.0f32, 75.0], ())),
        "prod_axis" => one(numpy::prod(x0?, 1)),
        "ptp" => one(numpy::ptp(x0?, ())),
        "quantile_axis" => one(numpy::quantile(x0?, 0.3, 0)),
        "setdiff1d" => {
            let own = Sets::new().size(3).fill_value(-1);
            one(numpy::setdiff1d(x0?, &x[1], own))
        }
        "sort_axis0" => one(numpy::sort(x0?, 0)),
        "sort_complex" => one(numpy::sort_complex(x0?)),
        "sort_desc" => one(numpy::sort(x0?, Sort::new().descending(true))),
        "std" => one(numpy::std(x0?, ())),
        "std_ddof" => one(numpy::std(x0?, axis(1).ddof(1))),
        "sum_dtype" => one(numpy::sum(x0?, DType::F32)),
        "sum_keepdims" => {
            let axes = Reduction::new().axis((0, 2)).keepdims(true);
            one(numpy::sum(x0?, axes))
        }
        "sum_where" => {
            let masked = Reduction::new().where_(&x[1]).initial(2.0);
            one(numpy::sum(x0?, masked))
        }
        "union1d" => {
            let own = Sets::new().size(6).fill_value(-1);
            one(numpy::union1d(x0?, &x[1], own))
        }
        "unique" => one(numpy::unique(x0?, Unique::new().size(5).fill_value(0))),
        "var" => one(numpy::var(x0?, ())),
        _ => None,
    }
}
