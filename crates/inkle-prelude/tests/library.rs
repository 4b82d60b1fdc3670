//! The library as an index: what is in it, and that stored trees are what the sources say.

use std::sync::Arc;

use inkle_diag::SourceFile;
use inkle_prelude::{functions, lookup, names};

#[test]
fn stored_trees_equal_parsed_ones() {
    for function in functions() {
        let def = function.def();
        let source = SourceFile::get(def.span.file).expect("the source is registered");
        assert!(Arc::ptr_eq(&source, function.source()));
        // Equality includes every span, so this also tests that all of them were moved into the source.
        let line = source.line_column(def.span.start).0;
        let parsed = inkle_python::parse_file(&source).function_at_line(line, function.name());
        assert_eq!(**def, *parsed.expect("parses"), "{}", function.name());
    }
}

#[test]
fn names_are_sorted_and_overloads_keep_their_order() {
    let all: Vec<_> = functions().iter().map(|f| f.name()).collect();
    assert!(all.is_sorted());
    for name in names() {
        assert!(!name.starts_with('_'));
        let overloads = lookup(name);
        assert!(!overloads.is_empty() && overloads.iter().all(|f| f.name() == name));
        // `lerp` and `sign` stand in one file; those of `dot` do too.
        let places: Vec<_> = overloads.iter().map(|f| (f.source().name(), f.def().span.start)).collect();
        assert!(places.is_sorted(), "{name}: {places:?}");
    }
    assert_eq!(lookup("lerp").len(), 5);
    assert_eq!(lookup("inverse").len(), 3);
    assert_eq!(
        lookup("dot").iter().map(|f| f.group()).collect::<Vec<_>>(),
        ["Vector Math", "Quaternion Math"]
    );
}

#[test]
fn unknown_names_have_no_overloads() {
    for name in ["", "a", "zzz", "dot ", "Dot", "_"] {
        assert!(lookup(name).is_empty(), "{name}");
    }
}

#[test]
fn functions_for_users_are_documented_in_a_known_group() {
    let groups = [
        "Geometry",
        "Operators",
        "Other",
        "Quaternion Math",
        "Random",
        "Scalar Math",
        "Spatial Math",
        "Transformations",
        "Utility",
        "Vector Math",
    ];
    for function in functions() {
        assert_eq!(function.is_internal(), function.name().starts_with('_'));
        if !function.is_internal() {
            assert!(groups.contains(&function.group()), "{}: {}", function.name(), function.group());
            assert!(function.doc().ends_with('.'), "{}", function.name());
        }
    }
}

#[test]
fn operators_find_their_helpers() {
    for name in [
        "_mat_mul",
        "_mat_vec",
        "_vec_mat",
        "_quat_mul",
        "_transform_mul",
        "_vec_eq",
        "_mat_eq",
        "_quat_eq",
        "_transform_eq",
    ] {
        assert_eq!(lookup(name).len(), 1, "{name}");
    }
}
