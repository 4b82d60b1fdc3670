//! Functions written in C++: only their signature is checked.
//!
//! C++ changes what is in memory, so a parameter that is passed by reference is an address to it. Where the caller has
//! a variable, a function around the native one keeps it in memory meanwhile.

use inkle_diag::Diagnostic;
use inkle_ir::{ArrayKind, Builder, Function, FunctionId, FunctionKind, OpKind, Param, Type, Value};

use super::function::{Arg, Instance};
use super::val::{R, Reported};
use super::{Checker, codes};
use crate::env::NativeText;

/// How a native function takes an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    /// By value: what the caller has, and what C++ has.
    Value(Type),
    /// An address that the caller has.
    Address(Type),
    /// The value of a variable of the caller, which is an address for C++ and has a last value.
    Variable(Type),
}

impl Passed {
    /// The type of the parameter that the caller fills in.
    fn outside(self) -> Type {
        match self {
            Passed::Value(ty) | Passed::Variable(ty) => ty,
            Passed::Address(ty) => Type::reference(ty),
        }
    }

    /// The type of the parameter in C++.
    fn inside(self) -> Type {
        match self {
            Passed::Value(ty) => ty,
            Passed::Address(ty) | Passed::Variable(ty) => Type::reference(ty),
        }
    }
}

/// One call of C++ text.
struct Wrapped<'a> {
    name: String,
    text: &'a str,
    /// Names and ways of the parameters.
    params: Vec<(String, Passed)>,
    /// What the text returns.
    result: Option<Type>,
}

impl Checker<'_> {
    /// Appends the native function of an instance to the module, with those that a backward pass calls.
    pub(super) fn native(&mut self, instance: &Instance, text: &NativeText) -> R<(FunctionId, Vec<Type>)> {
        let params = self.native_params(instance)?;
        let result = self.native_result(instance)?;
        let name = &instance.name;
        let wrapped = |text| Wrapped { name: name.clone(), text, params: params.clone(), result };
        let (id, results) = self.wrapped(instance, wrapped(&text.forward));
        // Without a result there is nothing to compute again; and nothing but the whole text computes it.
        if !results.is_empty() {
            let replay = match &text.replay {
                Some(replay) => self.wrapped(instance, wrapped(replay)).0,
                None => id,
            };
            self.module.functions[id.index()].links.replay = Some(replay);
        }
        if let Some(adjoint) = &text.adjoint {
            let gradient = self.native_gradient(instance, adjoint, &params, result);
            self.module.functions[id.index()].links.gradient = Some(gradient);
        }
        Ok((id, results))
    }

    fn native_params(&mut self, instance: &Instance) -> R<Vec<(String, Passed)>> {
        let name = &instance.name;
        let mut params = Vec::new();
        for (param, arg) in instance.def.params.iter().zip(&instance.args) {
            let is_fabric = |ty: &Type| {
                ty.as_array().is_some_and(|a| matches!(a.kind, ArrayKind::Fabric | ArrayKind::IndexedFabric))
            };
            let passed = match arg {
                Arg::Value(ty) if !is_fabric(ty) => Passed::Value(*ty),
                Arg::Address(ty) => Passed::Address(*ty),
                Arg::Variable(ty) => Passed::Variable(*ty),
                Arg::Value(_) | Arg::Tuple(_) | Arg::Static(_) => {
                    let message = format!(
                        "native function `{name}`: the argument for `{}` is nothing that C++ can take",
                        param.name
                    );
                    return Err(self.report(
                        Diagnostic::new(codes::NATIVE_SIGNATURE, param.span, message)
                            .help("it takes numbers, vectors, matrices, structs and arrays"),
                    ));
                }
            };
            if !param.name.is_ascii() {
                let message = format!("native function `{name}`: `{}` is no name in C++", param.name);
                return Err(self.report(
                    Diagnostic::new(codes::NATIVE_SIGNATURE, param.span, message)
                        .help("use letters of the English alphabet, digits and underscores"),
                ));
            }
            params.push((param.name.clone(), passed));
        }
        Ok(params)
    }

    fn native_result(&mut self, instance: &Instance) -> R<Option<Type>> {
        let patterns = instance.returns.as_deref().unwrap_or_default();
        match patterns {
            [] => Ok(None),
            [pattern] => match pattern.instantiate(&instance.bindings) {
                Some(ty @ (Type::Struct(_) | Type::Ref(_))) => {
                    Err(self.unsupported_result(instance, &ty.python_name()))
                }
                Some(ty) => Ok(Some(ty)),
                None => Err(self.unsupported_result(instance, "not a definite type")),
            },
            several => Err(self.unsupported_result(instance, &format!("{} values", several.len()))),
        }
    }

    fn unsupported_result(&mut self, instance: &Instance, what: &str) -> Reported {
        let span = instance.def.returns.as_ref().map_or(instance.def.name_span, |r| r.span);
        let message = format!("native function `{}` has an unsupported return type: {what}", instance.name);
        self.report(
            Diagnostic::new(codes::NATIVE_SIGNATURE, span, message).help(
                "give back a number, a vector, a matrix or an array, and write anything else to an array",
            ),
        )
    }

    fn push_native(&mut self, instance: &Instance, wrapped: &Wrapped<'_>) -> FunctionId {
        let params =
            wrapped.params.iter().map(|(name, passed)| Param { name: name.clone(), ty: passed.inside() });
        let kind = FunctionKind::Native(wrapped.text.into());
        let name = self.unique_name(&wrapped.name);
        let mut function = Function::new(name, kind, params.collect(), wrapped.result.into_iter().collect());
        function.span = instance.def.name_span;
        self.module.functions.push(function);
        FunctionId::new(self.module.functions.len() - 1)
    }

    /// The function that calls C++ text as its caller passes the arguments: gives the result, then the last values of
    /// variables.
    fn wrapped(&mut self, instance: &Instance, wrapped: Wrapped<'_>) -> (FunctionId, Vec<Type>) {
        let native = self.push_native(instance, &wrapped);
        let own: Vec<Type> = wrapped.result.into_iter().collect();
        let is_variable = |passed: &Passed| matches!(passed, Passed::Variable(_));
        if !wrapped.params.iter().any(|(_, passed)| is_variable(passed)) {
            return (native, own);
        }
        let params = wrapped.params.iter().map(|(name, p)| Param { name: name.clone(), ty: p.outside() });
        let lasts = wrapped.params.iter().filter(|(_, p)| is_variable(p)).map(|(_, p)| p.outside());
        let results: Vec<Type> = own.iter().copied().chain(lasts).collect();
        let name = self.unique_name(&wrapped.name);
        let mut function = Function::new(name, FunctionKind::Func, params.collect(), results.clone());
        function.span = instance.def.name_span;
        let body = function.body;
        let values: Vec<Value> = function.block(body).params.to_vec();
        let mut builder = Builder::new(&mut function, body);
        builder.span = instance.def.name_span;
        let mut kept = Vec::new();
        let mut passed = Vec::new();
        for (&value, (_, how)) in values.iter().zip(&wrapped.params) {
            passed.push(match how {
                Passed::Variable(_) => {
                    let address = in_memory(&mut builder, value);
                    kept.push(address);
                    address
                }
                _ => value,
            });
        }
        let call = call(&mut builder, native, &passed, &own);
        let lasts: Vec<Value> = kept.into_iter().map(|address| builder.load(address)).collect();
        builder.effect(OpKind::Return, call.into_iter().chain(lasts));
        self.module.functions.push(function);
        (FunctionId::new(self.module.functions.len() - 1), results)
    }

    /// The function that gives the gradients, as [`inkle_ir::Links::gradient`] wants it: from C++ text that changes
    /// `adj_x` for each parameter `x`.
    fn native_gradient(
        &mut self,
        instance: &Instance,
        text: &str,
        params: &[(String, Passed)],
        result: Option<Type>,
    ) -> FunctionId {
        let name = format!("{}.adjoint", instance.name);
        // In C++: the parameters, the result's gradient, and what is changed for each parameter.
        let mut inner: Vec<(String, Passed)> = params.to_vec();
        inner.extend(result.map(|ty| ("adj_ret".to_owned(), Passed::Value(ty))));
        for (param, passed) in params {
            let adjoint = match *passed {
                Passed::Value(ty @ Type::Array(_)) => Passed::Value(ty),
                Passed::Value(ty) | Passed::Variable(ty) => Passed::Variable(ty),
                Passed::Address(ty) => Passed::Address(ty),
            };
            inner.push((format!("adj_{param}"), adjoint));
        }
        let wrapped = Wrapped { name: name.clone(), text, params: inner, result: None };
        let native = self.push_native(instance, &wrapped);

        // Outside: the parameters, the gradients of the result and of variables' last values, and for each parameter the
        // gradient so far.
        let mut outer: Vec<Param> =
            params.iter().map(|(name, p)| Param { name: name.clone(), ty: p.outside() }).collect();
        outer.extend(result.map(|ty| Param { name: "adj_ret".into(), ty }));
        let is_variable = |passed: &Passed| matches!(passed, Passed::Variable(_));
        for (param, passed) in params.iter().filter(|(_, p)| is_variable(p)) {
            outer.push(Param { name: format!("adj_last_{param}"), ty: passed.outside() });
        }
        for (param, passed) in params {
            outer.push(Param { name: format!("adj_{param}"), ty: passed.outside() });
        }
        let is_value = |ty: &Type| !matches!(ty, Type::Array(_) | Type::Ref(_));
        let results: Vec<Type> = params.iter().map(|(_, p)| p.outside()).filter(is_value).collect();
        let name = self.unique_name(&name);
        let mut function = Function::new(name, FunctionKind::Func, outer, results);
        function.span = instance.def.name_span;
        let body = function.body;
        let values: Vec<Value> = function.block(body).params.to_vec();
        let (own, rest) = values.split_at(params.len());
        let (adj_result, rest) = rest.split_at(usize::from(result.is_some()));
        let (lasts, so_far) = rest.split_at(rest.len() - params.len());
        let mut lasts = lasts.iter();
        let mut builder = Builder::new(&mut function, body);
        builder.span = instance.def.name_span;
        let mut passed: Vec<Value> = Vec::new();
        for (&value, (_, how)) in own.iter().zip(params) {
            passed.push(match how {
                Passed::Variable(_) => in_memory(&mut builder, value),
                _ => value,
            });
        }
        passed.extend(adj_result);
        let mut gradients = Vec::new();
        for (&adjoint, (_, how)) in so_far.iter().zip(params) {
            // A variable's gradient before the call follows from that of its last value.
            let start = match (how, lasts.as_slice()) {
                (Passed::Variable(_), [last, ..]) => {
                    lasts.next();
                    *last
                }
                _ => adjoint,
            };
            passed.push(match how {
                Passed::Value(Type::Array(_)) | Passed::Address(_) => start,
                Passed::Value(_) | Passed::Variable(_) => {
                    let address = in_memory(&mut builder, start);
                    gradients.push(address);
                    address
                }
            });
        }
        call(&mut builder, native, &passed, &[]);
        let given: Vec<Value> = gradients.into_iter().map(|address| builder.load(address)).collect();
        builder.effect(OpKind::Return, given);
        self.module.functions.push(function);
        FunctionId::new(self.module.functions.len() - 1)
    }
}

/// The address of memory of the thread's own that holds a value.
fn in_memory(builder: &mut Builder<'_>, value: Value) -> Value {
    let ty = builder.ty(value);
    let memory = builder.local(ty, &[1]);
    let zero = builder.i32(0);
    let address = builder.elem(memory, &[zero]);
    builder.store(address, value);
    address
}

/// A call's results.
fn call(builder: &mut Builder<'_>, callee: FunctionId, args: &[Value], results: &[Type]) -> Vec<Value> {
    match results {
        [] => {
            builder.effect(OpKind::Call(callee), args.iter().copied());
            Vec::new()
        }
        [only] => vec![builder.value(OpKind::Call(callee), args.iter().copied(), *only)],
        _ => unreachable!("C++ text gives one result"),
    }
}
