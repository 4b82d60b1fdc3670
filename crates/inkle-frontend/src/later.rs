//! Built-ins of the reference API that inkle does not have yet, by the beginning of their names: using one says so.

const GROUPS: &[(&str, &str)] = &[
    ("bvh_", "bounding volume hierarchies"),
    ("hash_grid_", "hash grids"),
    ("mesh_", "meshes"),
    ("texture_", "textures"),
    ("tile_", "tiles"),
    ("untile", "tiles"),
    ("volume_", "sparse volumes"),
];

/// What the built-in `name` is about, when it is one that comes later.
pub(crate) fn group(name: &str) -> Option<&'static str> {
    GROUPS.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, group)| *group)
}
