//! Every function of the library passes the checker, for every kind of scalar its signature admits.

use std::sync::Arc;

use inkle_diag::{Diagnostics, SourceFile};
use inkle_frontend::env::{
    Binding, ConstValue, Environment, FunctionKey, FunctionSource, LibraryFunction, ObjectKey, ParamSpec,
};
use inkle_frontend::pattern::{Constraint, Pattern, ScalarPattern, SizePattern};
use inkle_frontend::tree::{Expr, ExprKind};
use inkle_frontend::{CheckOptions, check_kernel};
use inkle_ir::{Scalar, Type, verify};
use inkle_prelude::{PreludeFn, functions, lookup, names};

/// One kernel that calls one function.
struct OneKernel(Arc<FunctionSource>);

impl Environment for OneKernel {
    fn function(&self, _: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        Ok(vec![self.0.clone()])
    }

    fn resolve(&self, _: FunctionKey, name: &str) -> Option<Binding> {
        (!lookup(name).is_empty()).then(|| Binding::Builtin(name.to_owned()))
    }

    fn attribute(&self, _: ObjectKey, _: &str) -> Option<Binding> {
        None
    }

    fn describe(&self, _: ObjectKey) -> String {
        unreachable!("no name means an object here")
    }

    fn static_value(&self, _: FunctionKey, _: &Expr, _: &[(String, ConstValue)]) -> Result<Binding, String> {
        Err("no source language here".into())
    }

    fn library(&self, name: &str) -> Vec<LibraryFunction> {
        let key = |f: &PreludeFn| std::ptr::from_ref(f) as u64;
        lookup(name).iter().map(|f| LibraryFunction { key: key(f), def: f.def().clone() }).collect()
    }

    fn library_names(&self) -> Vec<String> {
        names().map(str::to_owned).collect()
    }
}

/// The annotation inside `ref[..]`.
fn by_value(annotation: &Expr) -> &Expr {
    match &*annotation.kind {
        ExprKind::Subscript { value, indices } if value.path() == Some(vec!["ref"]) => &indices[0],
        _ => annotation,
    }
}

fn scalar(pattern: &ScalarPattern, variable: Scalar) -> Option<Scalar> {
    match pattern {
        ScalarPattern::Exact(s) => Some(*s),
        ScalarPattern::Var(_, constraint) => {
            let admitted = match constraint {
                Constraint::Any => true,
                Constraint::Float => variable.is_float(),
                Constraint::Int => variable.is_int(),
                Constraint::Bits => variable.is_int() || variable == Scalar::Bool,
                Constraint::Number => variable != Scalar::Bool,
            };
            admitted.then_some(variable)
        }
    }
}

fn size(pattern: &SizePattern) -> u32 {
    match pattern {
        SizePattern::Exact(n) => *n,
        // All different, so that a mix-up cannot pass.
        SizePattern::Var(name) => match name.as_str() {
            "N" => 3,
            "M" => 2,
            _ => 4,
        },
    }
}

/// The type a pattern stands for when its scalar variable is `variable`; `None` when that is not admitted.
fn instantiate(pattern: &Pattern, variable: Scalar) -> Option<Type> {
    Some(match pattern {
        Pattern::Exact(ty) => *ty,
        Pattern::Scalar(s) => Type::Scalar(scalar(s, variable)?),
        Pattern::Vec(n, s) => Type::vec(size(n), scalar(s, variable)?),
        Pattern::Mat(n, m, s) => Type::mat(size(n), size(m), scalar(s, variable)?),
        Pattern::Quat(s) => Type::Quat(scalar(s, variable)?),
        Pattern::Transform(s) => Type::Transform(scalar(s, variable)?),
        Pattern::Array(elem, n, kind) => Type::array_of_kind(instantiate(elem, variable)?, size(n), *kind),
        Pattern::Any(_) | Pattern::Callable | Pattern::Tuple(_) | Pattern::TupleOf(_) => {
            unreachable!("the library has no such parameter")
        }
    })
}

/// A kernel that calls `function` with arguments of its patterns' types.
fn check(function: &'static PreludeFn, variable: Scalar) -> Option<Result<(), String>> {
    let def = function.def();
    let annotations =
        def.params.iter().map(|p| by_value(p.annotation.as_ref().expect("checked by the build")));
    let patterns = annotations.map(|a| Pattern::from_annotation(a).expect("a pattern"));
    let args = patterns.map(|p| instantiate(&p, variable)).collect::<Option<Vec<Type>>>()?;
    let params: Vec<_> = (0..args.len()).map(|i| format!("a{i}")).collect();
    let copies: String = params.iter().map(|p| format!("    {p}_ = {p}\n")).collect();
    let variables: Vec<_> = params.iter().map(|p| format!("{p}_")).collect();
    let text =
        format!("def k({}):\n{copies}    {}({})\n", params.join(", "), function.name(), variables.join(", "));
    let file = inkle_python::parse_file(&SourceFile::register("<test>", &text));
    let kernel = FunctionSource {
        key: FunctionKey(1),
        name: "k".into(),
        def: file.function_at_line(1, "k").expect("parses"),
        params: args
            .iter()
            .map(|ty| ParamSpec { pattern: Some(Pattern::Exact(*ty)), default: None, by_reference: false })
            .collect(),
        returns: None,
        native: None,
    };
    let checked = check_kernel(&OneKernel(Arc::new(kernel)), FunctionKey(1), &args, CheckOptions::default());
    Some(match checked {
        Ok(module) => verify(&module).map_err(|e| e.to_string()),
        Err(diagnostics) => Err(diagnostics.render()),
    })
}

#[test]
fn every_function_passes_the_checker() {
    let scalars = [
        Scalar::F32,
        Scalar::F64,
        Scalar::F16,
        Scalar::BF16,
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::Bool,
    ];
    let mut failures = Vec::new();
    let mut checked = 0;
    // Gradients are no functions to be called; they are checked with the functions whose they are, in the gradients
    // of every built-in (tests/python/test_builtin_gradients.py).
    for function in functions().iter().filter(|f| !f.name().starts_with("_adj_")) {
        let mut admitted = 0;
        for variable in scalars {
            if let Some(result) = check(function, variable) {
                admitted += 1;
                if let Err(text) = result {
                    failures.push(format!("{} for {variable:?}:\n{text}", function.name()));
                }
            }
        }
        assert!(admitted > 0, "{}", function.name());
        checked += admitted;
    }
    let shown = failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {checked} fail, the first are\n{shown}", failures.len());
}
