//! Arrays that a kernel does nothing to but add: each thread of a CPU may add to a copy of its own.
//!
//! Which arrays these are is a constant in the code of CPU kernels, so that whatever loads the code has it
//! ([`inkle_ir::SumArray`]).

use inkle_ir::{
    ArrayKind, AtomicOp, Function, Module, OpData, OpKind, ParamLayout, Scalar, SumArray, Type, Value,
};

use crate::value::{Part, parts};

/// Where memory comes from that an array or an address leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    /// An argument's elements, or their gradients.
    Param { index: usize, gradient: bool },
    /// An array of the thread's own.
    Own,
}

/// What is done to the memory of one root.
#[derive(Clone, Copy, Default)]
struct Uses {
    added: bool,
    others: bool,
}

/// The words of the table for a kernel in which every atomic update adds to such an array; `None` for others.
pub(crate) fn table(module: &Module) -> Option<Vec<u32>> {
    let kernel = module.kernel()?;
    if module.has_native() {
        return None;
    }
    for param in &kernel.params {
        let plain = match param.ty.as_array() {
            Some(array) => array.kind == ArrayKind::Strided && !holds_addresses(array.elem),
            None => !holds_addresses(param.ty),
        };
        if !plain {
            return None;
        }
    }
    let mut uses = Walk { module, uses: vec![[Uses::default(); 2]; kernel.params.len()] };
    let roots: Vec<Option<Root>> =
        (0..kernel.params.len()).map(|index| Some(Root::Param { index, gradient: false })).collect();
    uses.function(kernel, &roots)?;

    let layout = ParamLayout::new(kernel.params.iter().map(|p| p.ty));
    let (mut sums, mut others) = (Vec::new(), Vec::new());
    for ((param, place), uses) in kernel.params.iter().zip(&layout.args).zip(&uses.uses) {
        let Some(array) = param.ty.as_array() else { continue };
        let [ndim, bytes] = [array.ndim, array.elem.size()];
        others.extend([place.offset, ndim, bytes]);
        for (uses, pointer) in uses.iter().zip([place.offset, place.offset + 8]) {
            if !uses.added {
                continue;
            }
            if uses.others {
                return None;
            }
            let scalar = SumArray::code(array.elem.scalar()?)?;
            sums.extend([pointer, place.offset, ndim, bytes, scalar]);
        }
    }
    if sums.is_empty() {
        return None;
    }
    let lengths = [sums.len() / SumArray::WORDS, others.len() / SumArray::OTHER_WORDS];
    Some(lengths.into_iter().map(|n| n as u32).chain(sums).chain(others).collect())
}

/// Whether what a kernel leaves in memory, or an update gives back, depends on the order of its atomic updates.
pub(crate) fn depends_on_order(module: &Module) -> bool {
    module.functions.iter().any(|function| {
        (0..function.block_count())
            .flat_map(|block| &function.block(inkle_ir::Block::new(block)).ops)
            .any(|&op| op_depends_on_order(function, function.op(op)))
    })
}

fn op_depends_on_order(function: &Function, data: &OpData) -> bool {
    let seen = || data.results.iter().any(|&r| is_used(function, r));
    match data.kind {
        OpKind::AtomicCas | OpKind::Atomic(AtomicOp::Exch) => true,
        OpKind::Atomic(AtomicOp::Add | AtomicOp::Sub) => {
            let scalar = data.operands.get(1).and_then(|&v| function.ty(v).scalar());
            scalar.is_none_or(Scalar::is_float) || seen()
        }
        OpKind::Atomic(_) => seen(),
        _ => false,
    }
}

fn holds_addresses(ty: Type) -> bool {
    parts(ty).iter().any(|&(part, _)| part == Part::Pointer)
}

struct Walk<'m> {
    module: &'m Module,
    /// Per parameter of the kernel, of the elements and of their gradients.
    uses: Vec<[Uses; 2]>,
}

impl Walk<'_> {
    /// Follows the arguments through a function; `None` where one cannot be followed.
    fn function(&mut self, function: &Function, args: &[Option<Root>]) -> Option<()> {
        let mut roots = vec![None; function.value_count()];
        for (&param, &root) in function.block(function.body).params.iter().zip(args) {
            roots[param.index()] = root.filter(|_| is_memory(function.ty(param)));
        }
        self.block(function, function.body, &mut roots)
    }

    fn block(
        &mut self,
        function: &Function,
        block: inkle_ir::Block,
        roots: &mut [Option<Root>],
    ) -> Option<()> {
        for &op in &function.block(block).ops {
            let data = function.op(op);
            self.op(function, data, roots)?;
            for &inner in &data.blocks {
                let carried = &function.block(inner).params;
                if carried.iter().any(|&v| is_memory(function.ty(v))) {
                    return None;
                }
                self.block(function, inner, roots)?;
            }
        }
        Some(())
    }

    fn op(&mut self, function: &Function, data: &OpData, roots: &mut [Option<Root>]) -> Option<()> {
        let of = |v: &Value| roots[v.index()];
        let first = data.operands.first();
        let root = match data.kind {
            OpKind::Local(_) => Some(Root::Own),
            OpKind::Elem | OpKind::View(_) | OpKind::Window(_) | OpKind::Field(_) | OpKind::Comp => {
                Some(of(first?)?)
            }
            OpKind::GradArray => match of(first?)? {
                Root::Param { index, gradient: false } => Some(Root::Param { index, gradient: true }),
                _ => return None,
            },
            OpKind::Shape(_) | OpKind::Stride(_) => None,
            OpKind::Load | OpKind::Store => {
                self.note(of(first?)?, |uses| uses.others = true);
                // An address that is stored can no longer be followed.
                if data.operands[1..].iter().any(|&v| is_memory(function.ty(v))) {
                    return None;
                }
                None
            }
            OpKind::Atomic(op) => {
                let root = of(first?)?;
                let unseen = !data.results.iter().any(|&r| is_used(function, r));
                if root != Root::Own && !(unseen && matches!(op, AtomicOp::Add | AtomicOp::Sub)) {
                    return None;
                }
                self.note(root, |uses| uses.added = true);
                None
            }
            OpKind::Call(callee) => {
                let args: Vec<Option<Root>> = data.operands.iter().map(of).collect();
                let callee = self.module.functions.get(callee.index())?;
                self.function(callee, &args)?;
                None
            }
            _ if data.operands.iter().any(|&v| is_memory(function.ty(v))) => return None,
            _ => None,
        };
        for &result in data.results.iter().filter(|&&r| is_memory(function.ty(r))) {
            roots[result.index()] = Some(root?);
        }
        Some(())
    }

    fn note(&mut self, root: Root, note: impl FnOnce(&mut Uses)) {
        if let Root::Param { index, gradient } = root {
            note(&mut self.uses[index][usize::from(gradient)]);
        }
    }
}

fn is_memory(ty: Type) -> bool {
    match ty {
        Type::Array(_) | Type::Ref(_) => true,
        Type::Struct(_) => holds_addresses(ty),
        _ => false,
    }
}

fn is_used(function: &Function, value: Value) -> bool {
    (0..function.block_count())
        .flat_map(|block| &function.block(inkle_ir::Block::new(block)).ops)
        .any(|&op| function.op(op).operands.contains(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table_of(body: &str) -> Option<Vec<u32>> {
        let text = format!(
            "kernel @k(%x: array<f32, 1>, %sums: array<i32, 1>) {{
               %i = tid 0 : i32
               %one = const 1 : i32
               %e = elem %sums, %i : ref<i32>
               {body}
               return
             }}"
        );
        let module = inkle_ir::parse(&text).expect("valid text");
        table(&module)
    }

    #[test]
    fn arrays_that_are_only_added_to_are_found() {
        let words = table_of("%old = atomic_add %e, %one : i32").expect("a table");
        // One array of sums at the second argument, and both arrays.
        assert_eq!(words[..2], [1, 2]);
        assert_eq!(words[2..7], [88, 88, 1, 4, SumArray::code(Scalar::I32).expect("a code")]);
        assert_eq!(words[7..], [24, 1, 4, 88, 1, 4]);
    }

    #[test]
    fn sums_of_integers_do_not_depend_on_the_order() {
        let depends = |ty: &str, op: &str, then: &str| {
            let text = format!(
                "kernel @k(%sums: array<{ty}, 1>, %v: {ty}) {{
                   %i = tid 0 : i32
                   %e = elem %sums, %i : ref<{ty}>
                   %old = {op} %e, %v : {ty}
                   {then}
                   return
                 }}"
            );
            depends_on_order(&inkle_ir::parse(&text).expect("valid text"))
        };
        assert!(!depends("i32", "atomic_add", ""));
        assert!(!depends("f32", "atomic_max", ""));
        assert!(depends("f32", "atomic_add", ""));
        assert!(depends("f64", "atomic_sub", ""));
        assert!(depends("i32", "atomic_exch", ""));
        // A place in a list, given out in the order of arrival.
        assert!(depends("i32", "atomic_add", "store %e, %old"));
    }

    #[test]
    fn what_is_read_or_written_too_is_not_summed() {
        for body in [
            "%v = load %e : i32\n %old = atomic_add %e, %one : i32",
            "store %e, %one\n %old = atomic_add %e, %one : i32",
            "%old = atomic_add %e, %one : i32\n store %e, %old",
            "%old = atomic_max %e, %one : i32",
            "%a = address %sums : u64\n %old = atomic_add %e, %one : i32",
            "",
        ] {
            assert_eq!(table_of(body), None, "{body}");
        }
    }
}
