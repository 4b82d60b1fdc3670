//! What names and annotations of a file mean to [`FileEnvironment`].

use inkle_diag::SourceFile;
use inkle_frontend::env::{Binding, ConstValue, Environment, FunctionKey};
use inkle_ir::{Constant, Scalar, Type};
use inkle_python::{FileEnvironment, Library};

fn environment(text: &str) -> FileEnvironment {
    let library = Library { functions: |_| Vec::new(), names: Vec::new };
    FileEnvironment::new(&SourceFile::register("env.py", text), library)
}

fn constant(env: &FileEnvironment, name: &str) -> ConstValue {
    match env.resolve(FunctionKey(0), name) {
        Some(Binding::Const(value)) => value,
        other => panic!("`{name}` is {other:?}"),
    }
}

#[test]
fn constants_are_evaluated_as_python_does() {
    let env = environment(
        "import inkle as wp\nimport numpy as np\nfrom math import tau as TURN\n\nN = 7 // -2\nR = -7 % 3\nH = 1 / 4\n\
         A, B = 1, 2.5\nT = (N, (A, B))\nLAST = T[-1][0]\nD = wp.constant(wp.float64(0.1))\nU = wp.uint8(300)\n\
         V = wp.vec3d(1, 2, 3)\nP: float = 2 * np.pi\nBIG = 5_000_000_001\nFLAG = not N and 1 < 2 <= 2\n",
    );
    assert_eq!(constant(&env, "N"), ConstValue::Int(-4));
    assert_eq!(constant(&env, "R"), ConstValue::Int(2));
    assert_eq!(constant(&env, "H"), ConstValue::Float(0.25));
    assert_eq!(constant(&env, "B"), ConstValue::Float(2.5));
    assert_eq!(constant(&env, "LAST"), ConstValue::Int(1));
    assert_eq!(constant(&env, "D"), ConstValue::Typed(Constant::Float(0.1), Scalar::F64));
    assert_eq!(constant(&env, "U"), ConstValue::Typed(Constant::Int(44), Scalar::U8));
    assert_eq!(constant(&env, "P"), ConstValue::Float(std::f64::consts::TAU));
    assert_eq!(constant(&env, "TURN"), ConstValue::Float(std::f64::consts::TAU));
    assert_eq!(constant(&env, "BIG"), ConstValue::Int(5_000_000_001));
    assert_eq!(constant(&env, "FLAG"), ConstValue::Bool(false));
    let components = [1.0, 2.0, 3.0].map(Constant::Float).to_vec();
    assert_eq!(constant(&env, "V"), ConstValue::Composite { ty: Type::vec(3, Scalar::F64), components });
    assert!(env.resolve(FunctionKey(0), "missing").is_none());
}

#[test]
fn annotations_give_the_types_of_kernels() {
    let env = environment(
        "import inkle as wp\nfrom typing import Any\n\nvec5 = wp.types.vector(length=5, dtype=wp.float16)\n\n\
         @wp.struct\nclass S:\n    a: float\n    v: wp.array(dtype=wp.vec3)\n\n\
         @wp.kernel\ndef k(a: int, b: wp.array2d(dtype=float), c: wp.array[wp.quat], d: \"wp.mat33\", e: S, f: vec5,\n\
         \x20     g: wp.array(dtype=S, ndim=3), h: wp.spatial_vector):\n    pass\n\n\
         @wp.kernel(module=\"unique\")\ndef open(a: Any, b: wp.array(dtype=Any)):\n    pass\n\n\
         @wp.kernel\ndef wrong(a: nothing):\n    pass\n",
    );
    let kernels = env.kernels();
    assert_eq!(kernels.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["k", "open", "wrong"]);
    let types = env.kernel_types(kernels[0].1).expect("it is right").expect("it is not generic");
    let s = types[4];
    assert_eq!(s.as_struct().expect("a struct").fields[1].ty, Type::array(Type::vec(3, Scalar::F32), 1));
    let expected = [
        Type::I32,
        Type::array(Type::F32, 2),
        Type::array(Type::Quat(Scalar::F32), 1),
        Type::mat(3, 3, Scalar::F32),
        s,
        Type::vec(5, Scalar::F16),
        Type::array(s, 3),
        Type::vec(6, Scalar::F32),
    ];
    assert_eq!(types, expected);
    assert_eq!(env.kernel_types(kernels[1].1), Ok(None));
    assert!(env.kernel_types(kernels[2].1).expect_err("a wrong annotation").render().contains("`nothing`"));
    assert_eq!(env.type_of_annotation("wp.array(dtype=wp.int64)"), Some(Type::array(Type::I64, 1)));
    assert_eq!(env.type_of_annotation("wp.array(dtype=Any)"), None);
}

#[test]
fn definitions_of_one_name_are_overloads_or_replace_each_other() {
    let env = environment(
        "import inkle as wp\n\n@wp.func\ndef f(x: float):\n    return 1\n\n@wp.func\ndef f(x: int):\n    return 2\n\n\
         @wp.func\ndef f(x: float):\n    return 3\n\n@wp.kernel\ndef k(a: int):\n    pass\n\n\
         @wp.kernel\ndef k(a: float):\n    pass\n\ndef plain(x):\n    return x\n",
    );
    let Some(Binding::Function(key)) = env.resolve(FunctionKey(0), "f") else { panic!("`f` is a function") };
    let lines = |key| {
        let sources = env.function(key).expect("it is right");
        let file = SourceFile::get(sources[0].def.span.file).expect("it is registered");
        sources.iter().map(|s| file.line_column(s.def.name_span.start).0).collect::<Vec<_>>()
    };
    assert_eq!(lines(key), [8, 12]);
    let kernels = env.kernels();
    assert_eq!(kernels.len(), 1);
    assert_eq!(env.kernel_types(kernels[0].1), Ok(Some(vec![Type::F32])));
    assert!(
        matches!(env.resolve(key, "plain"), Some(Binding::Unsupported(what)) if what.contains("@wp.func"))
    );
    assert!(matches!(env.resolve(key, "k"), Some(Binding::Unsupported(_))));
}

#[test]
fn structs_of_one_name_stay_apart() {
    let env = environment(
        "import inkle as wp\n\n@wp.struct\nclass S:\n    a: float\n\nOne = S\n\n@wp.struct\nclass S:\n    a: int\n",
    );
    let ty = |name| match env.resolve(FunctionKey(0), name) {
        Some(Binding::Type(ty)) => ty,
        other => panic!("`{name}` is {other:?}"),
    };
    assert_eq!(ty("One").as_struct().map(|s| s.name.as_str()), Some("S"));
    assert_eq!(ty("S").as_struct().map(|s| s.name.as_str()), Some("S_2"));
}
