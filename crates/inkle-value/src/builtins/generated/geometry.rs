//! Made from the registry by the test `builtins` of the crate `inkle`: geometry.

use super::*;

builtin! {
    /// Where the edge from `p1` to `q1` and the edge from `p2` to `q2` are closest to each other.
    ///
    /// The result is the fraction of the way along the first edge, along the second edge, and the distance between these
    /// points. Edges whose squared length is at most `epsilon` count as points.
    closest_point_edge_edge = "closest_point_edge_edge" (p1: A_, q1: B_, p2: C_, q2: D_, epsilon: E_);
    [] (Vector<3, f32>, Vector<3, f32>, Vector<3, f32>, Vector<3, f32>, f32) -> Vector<3, f32>;
}

builtin! {
    /// 1 if two triangles have a point in common, in one plane or not, else 0.
    intersect_tri_tri = "intersect_tri_tri" (v0: A_, v1: B_, v2: C_, u0: D_, u1: E_, u2: F_);
    [] (Vector<3, f32>, Vector<3, f32>, Vector<3, f32>, Vector<3, f32>, Vector<3, f32>, Vector<3, f32>) -> i32;
    [] (Vector<3, f64>, Vector<3, f64>, Vector<3, f64>, Vector<3, f64>, Vector<3, f64>, Vector<3, f64>) -> i32;
}
