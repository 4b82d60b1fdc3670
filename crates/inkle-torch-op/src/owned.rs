//! One owner for each handle of PyTorch's.

use std::ffi::c_void;
use std::ptr;
use std::slice;

use inkle_ir::Scalar;

use crate::sys::{ListHandle, StableIValue, StringHandle, TensorHandle, Torch};

/// Fails unless a call of PyTorch's succeeded.
fn checked(what: &str, status: i32) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("PyTorch cannot {what} (see its message above)")) }
}

/// A reference to a tensor.
pub struct Tensor {
    torch: &'static Torch,
    handle: TensorHandle,
}

// SAFETY: a handle is a counted reference, and tensors may be used from any thread.
unsafe impl Send for Tensor {}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: this is the owner of the handle, which goes here.
        unsafe { (self.torch.delete_tensor)(self.handle) };
    }
}

impl Tensor {
    /// The tensor of a value of the stack.
    ///
    /// # Safety
    /// The value is a tensor's handle, and its owner gives it up.
    pub unsafe fn from_value(torch: &'static Torch, value: StableIValue) -> Tensor {
        Tensor { torch, handle: ptr::with_exposed_provenance_mut(value as usize) }
    }

    /// A new contiguous tensor of anything.
    ///
    /// # Errors
    /// When PyTorch has no memory for it.
    pub fn empty(
        torch: &'static Torch,
        scalar: Scalar,
        shape: &[i64],
        device: (i32, i32),
    ) -> Result<Tensor, String> {
        let mut strides = vec![1i64; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim] * shape[dim].max(1);
        }
        let mut handle = ptr::null_mut();
        // SAFETY: there are as many extents and strides as dimensions, and the place is valid.
        let status = unsafe {
            (torch.empty_strided)(
                shape.len() as i64,
                shape.as_ptr(),
                strides.as_ptr(),
                torch.dtype(scalar),
                device.0,
                device.1,
                &mut handle,
            )
        };
        checked("allocate a tensor", status)?;
        Ok(Tensor { torch, handle })
    }

    /// The value for the stack, or for a list; whoever takes it owns the tensor.
    pub fn into_value(self) -> StableIValue {
        let handle = self.handle;
        std::mem::forget(self);
        handle.expose_provenance() as StableIValue
    }

    /// The type of the elements; `None` for one that inkle does not have.
    ///
    /// # Errors
    /// When PyTorch does not know.
    pub fn scalar(&self) -> Result<Option<Scalar>, String> {
        let mut dtype = 0;
        // SAFETY: the handle is alive and the place valid.
        checked("tell a tensor's dtype", unsafe { (self.torch.get_dtype)(self.handle, &mut dtype) })?;
        Ok(self.torch.scalar(dtype))
    }

    /// Type and index of the device.
    ///
    /// # Errors
    /// When PyTorch does not know.
    pub fn device(&self) -> Result<(i32, i32), String> {
        let (mut kind, mut index) = (0, 0);
        // SAFETY: the handle is alive and the places valid.
        let status = unsafe {
            (self.torch.get_device_type)(self.handle, &mut kind)
                | (self.torch.get_device_index)(self.handle, &mut index)
        };
        checked("tell a tensor's device", status)?;
        Ok((kind, index))
    }

    /// Whether elements lie in memory with strides, rather than being sparse.
    ///
    /// # Errors
    /// When PyTorch does not know.
    pub fn is_strided(&self) -> Result<bool, String> {
        let mut layout = 0;
        // SAFETY: the handle is alive and the place valid.
        checked("tell a tensor's layout", unsafe { (self.torch.get_layout)(self.handle, &mut layout) })?;
        Ok(layout == self.torch.strided)
    }

    /// The extents.
    ///
    /// # Errors
    /// When PyTorch does not know.
    pub fn shape(&self) -> Result<&[i64], String> {
        self.extents(self.torch.get_sizes)
    }

    /// Whether the elements follow one another in row-major order without gaps.
    ///
    /// # Errors
    /// When PyTorch does not know.
    pub fn is_contiguous(&self) -> Result<bool, String> {
        let (shape, strides) = (self.shape()?, self.extents(self.torch.get_strides)?);
        let mut expected = 1;
        for (&extent, &stride) in shape.iter().zip(strides).rev() {
            if extent == 0 {
                return Ok(true);
            }
            if extent != 1 && stride != expected {
                return Ok(false);
            }
            expected *= extent;
        }
        Ok(true)
    }

    fn extents(
        &self,
        get: unsafe extern "C" fn(TensorHandle, *mut *mut i64) -> i32,
    ) -> Result<&[i64], String> {
        let (mut dim, mut first) = (0, ptr::null_mut());
        // SAFETY: the handle is alive and the places valid.
        let status = unsafe { (self.torch.get_dim)(self.handle, &mut dim) | get(self.handle, &mut first) };
        checked("tell a tensor's shape", status)?;
        if dim == 0 || first.is_null() {
            return Ok(&[]);
        }
        // SAFETY: the tensor, whose handle lives as long as the result, has that many extents, and nothing changes them
        // while a kernel has it.
        Ok(unsafe { slice::from_raw_parts(first, dim as usize) })
    }

    /// The address of the first element.
    ///
    /// # Errors
    /// For tensors without memory.
    pub fn data(&self) -> Result<*mut c_void, String> {
        let mut data = ptr::null_mut();
        // SAFETY: the handle is alive and the place valid.
        checked("give a tensor's memory", unsafe { (self.torch.get_data_ptr)(self.handle, &mut data) })?;
        Ok(data)
    }

    /// Copies all elements of a tensor of the same shape here; on a GPU the copy is queued.
    ///
    /// # Errors
    /// PyTorch's.
    pub fn copy_from(&self, other: &Tensor) -> Result<(), String> {
        // SAFETY: both handles are alive.
        checked("copy a tensor", unsafe { (self.torch.copy)(self.handle, other.handle, 0) })
    }
}

/// A list of values.
struct List {
    torch: &'static Torch,
    handle: ListHandle,
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: this is the owner of the handle, which goes here. The values' own handles are not the list's.
        unsafe { (self.torch.delete_list)(self.handle) };
    }
}

/// The tensors of a list on the stack.
///
/// # Errors
/// PyTorch's.
///
/// # Safety
/// The value is the handle of a list of tensors, and its owner gives both up.
pub unsafe fn tensors(torch: &'static Torch, value: StableIValue) -> Result<Vec<Tensor>, String> {
    let list = List { torch, handle: ptr::with_exposed_provenance_mut(value as usize) };
    let mut size = 0;
    // SAFETY: the handle is alive and the place valid.
    checked("count a list", unsafe { (torch.list_size)(list.handle, &mut size) })?;
    (0..size)
        .map(|index| {
            let mut value = 0;
            // SAFETY: the handle is alive, the index in the list, the place valid.
            checked("read a list", unsafe { (torch.list_get_item)(list.handle, index, &mut value) })?;
            // SAFETY: the list's values are tensors' handles, which the list does not give back.
            Ok(unsafe { Tensor::from_value(torch, value) })
        })
        .collect()
}

/// A list of tensors for the stack.
///
/// # Errors
/// PyTorch's.
pub fn into_list(torch: &'static Torch, tensors: Vec<Tensor>) -> Result<StableIValue, String> {
    let mut handle = ptr::null_mut();
    // SAFETY: the place is valid.
    checked("make a list", unsafe { (torch.new_list)(tensors.len(), &mut handle) })?;
    let list = List { torch, handle };
    for tensor in tensors {
        let value = tensor.into_value();
        // SAFETY: the handle is alive; the list has the value from now on.
        checked("fill a list", unsafe { (torch.list_push_back)(list.handle, value) })?;
    }
    let handle = list.handle;
    std::mem::forget(list);
    Ok(handle.expose_provenance() as StableIValue)
}

/// The text of a string on the stack.
///
/// # Errors
/// PyTorch's; text that is not UTF-8.
///
/// # Safety
/// The value is a string's handle, and its owner gives it up.
pub unsafe fn text(torch: &'static Torch, value: StableIValue) -> Result<String, String> {
    struct Owned(&'static Torch, StringHandle);
    impl Drop for Owned {
        fn drop(&mut self) {
            // SAFETY: this is the owner of the handle, which goes here.
            unsafe { (self.0.delete_string)(self.1) };
        }
    }
    let string = Owned(torch, ptr::with_exposed_provenance_mut(value as usize));
    let (mut length, mut first) = (0, ptr::null());
    // SAFETY: the handle is alive and the places valid.
    let status =
        unsafe { (torch.string_length)(string.1, &mut length) | (torch.string_c_str)(string.1, &mut first) };
    checked("read a string", status)?;
    if length == 0 || first.is_null() {
        return Ok(String::new());
    }
    // SAFETY: the string has that many bytes and is alive.
    let bytes = unsafe { slice::from_raw_parts(first.cast::<u8>(), length) };
    String::from_utf8(bytes.to_vec()).map_err(|_| "a text is not UTF-8".into())
}
