//! Fabric arrays in kernels: their elements lie in buckets, which library functions search.

use inkle_diag::Span;
use inkle_ir::{ArrayType, CmpOp, Constant, OpKind, Scalar, Type, Value};

use super::function::FunctionCx;
use super::val::{R, Val};

/// The fields of a Fabric array, as `extract` numbers them.
const BUCKETS: u32 = 0;
const INDICES: u32 = 1;
const SIZE: u32 = 2;

/// The columns of the table of buckets.
const ADDRESSES: i32 = 1;
const LENGTHS: i32 = 2;

impl FunctionCx<'_, '_> {
    /// The number of elements.
    pub(super) fn fabric_size(&mut self, array: Value) -> Value {
        self.builder().extract(array, SIZE)
    }

    /// The address of an array, or of its table of buckets; zero when no array was passed.
    pub(super) fn address(&mut self, array: Value) -> Value {
        let holder = match self.function.ty(array) {
            Type::Array(a) if a.kind.is_fabric() => self.builder().extract(array, BUCKETS),
            _ => array,
        };
        self.builder().value(OpKind::Address, [holder], Type::U64)
    }

    /// The address of an element: one index, or two of an array of arrays.
    pub(super) fn fabric_element(
        &mut self,
        array: Value,
        ty: &ArrayType,
        indices: &[Value],
        span: Span,
    ) -> R<Value> {
        if let [row, column] = *indices {
            let row = self.fabric_row(array, ty, row, span)?;
            return Ok(self.builder().elem(row, &[column]));
        }
        let index = self.fabric_index(array, ty, indices[0]);
        self.bucket_element(array, ADDRESSES, index, ty.elem, span)
    }

    /// The array that an element of an array of arrays is.
    pub(super) fn fabric_row(&mut self, array: Value, ty: &ArrayType, index: Value, span: Span) -> R<Value> {
        let index = self.fabric_index(array, ty, index);
        let [address, length] = [ADDRESSES, LENGTHS].map(|column| {
            let element = self.bucket_element(array, column, index, Type::U64, span)?;
            Ok(self.builder().load(element))
        });
        let length = self.builder().cast(length?, Type::I32);
        Ok(self.builder().value(OpKind::ArrayAt, [address?, length], Type::array(ty.elem, 1)))
    }

    /// An index among all elements, u64: looked up in the list if there is one.
    fn fabric_index(&mut self, array: Value, ty: &ArrayType, index: Value) -> Value {
        let size = self.fabric_size(array);
        let [wide, extent] = [index, size].map(|v| self.builder().cast(v, Type::I64));
        let is_inside = self.builder().cmp(CmpOp::Lt, wide, extent);
        let message = "an index of a Fabric array is out of range".to_owned();
        self.builder().effect(OpKind::Assert(message), [is_inside]);
        let mut index = index;
        if ty.kind.is_indexed() {
            let list = self.builder().extract(array, INDICES);
            let entry = self.builder().elem(list, &[index]);
            index = self.builder().load(entry);
        }
        self.builder().cast(index, Type::U64)
    }

    /// The address of the element of type `ty` that a column of the table of buckets leads to.
    fn bucket_element(&mut self, array: Value, column: i32, index: Value, ty: Type, span: Span) -> R<Value> {
        let buckets = self.builder().extract(array, BUCKETS);
        let column = self.builder().i32(column);
        let size = self.builder().constant(Constant::Int(ty.size().into()), Scalar::U64);
        let args = [buckets, column, index, size].map(|v| (Val::Ir(v), span));
        let Some(address) = self.call_library("_fabric_element", &args, span)? else {
            unreachable!("the library has the function for these arguments")
        };
        let address = self.value_of(&address, span)?;
        let [one, zero] = [1, 0].map(|i| self.builder().i32(i));
        let element = self.builder().value(OpKind::ArrayAt, [address, one], Type::array(ty, 1));
        Ok(self.builder().elem(element, &[zero]))
    }
}
