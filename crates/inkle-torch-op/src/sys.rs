//! PyTorch's stable C interface, as its headers `aoti_torch/c/shim.h` and `stable/c/shim.h` declare it, found in the
//! libraries that the process has loaded.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use inkle_ir::Scalar;

/// A value on the stack between PyTorch and a kernel: a number, or the address of what a handle names.
pub type StableIValue = u64;
/// A kernel: it takes its arguments, which it then owns, from the stack, and leaves its results there.
pub type Kernel = unsafe extern "C-unwind" fn(stack: *mut StableIValue, arguments: u64, results: u64);
/// A tensor that somebody owns.
pub type TensorHandle = *mut c_void;
/// A list of values that somebody owns.
pub type ListHandle = *mut c_void;
/// A string that somebody owns.
pub type StringHandle = *mut c_void;
type LibraryHandle = *mut c_void;

/// The version of the interface that this is written for, 2.10, which PyTorch adapts values to.
const BUILT_FOR: u64 = (2 << 56) | (10 << 48);

macro_rules! torch {
    ($($symbol:ident fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        /// The functions. Each returns zero unless it failed.
        pub struct Torch {
            $(pub $name: unsafe extern "C" fn($($ty),*) -> c_int,)*
            /// The numbers that stand for types of elements.
            dtypes: [(c_int, Scalar); Scalar::ALL.len()],
            pub cpu: c_int,
            pub cuda: c_int,
            pub strided: c_int,
        }

        impl Torch {
            fn from_libraries() -> Result<Torch, String> {
                if symbol(CORE, c"aoti_torch_abi_version").is_none() {
                    return Err(not_loaded());
                }
                $(
                    let Some($name) = function(concat!(stringify!($symbol), "\0")) else {
                        return Err(too_old(stringify!($symbol)));
                    };
                    // SAFETY: PyTorch's headers declare the function of that name like this.
                    let $name = unsafe {
                        std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn($($ty),*) -> c_int>($name)
                    };
                )*
                let dtypes = dtypes()?;
                let [cpu, cuda, strided] = [
                    constant(c"aoti_torch_device_type_cpu")?,
                    constant(c"aoti_torch_device_type_cuda")?,
                    constant(c"aoti_torch_layout_strided")?,
                ];
                Ok(Torch { $($name,)* dtypes, cpu, cuda, strided })
            }
        }
    };
}

torch! {
    aoti_torch_library_init_fragment fn library_init_fragment(namespace: *const c_char, file: *const c_char, line: u32, library: *mut LibraryHandle);
    aoti_torch_library_init_impl fn library_init_impl(namespace: *const c_char, key: *const c_char, file: *const c_char, line: u32, library: *mut LibraryHandle);
    aoti_torch_library_def fn library_def(library: LibraryHandle, schema: *const c_char);
    torch_library_impl fn library_impl(library: LibraryHandle, name: *const c_char, kernel: Kernel, version: u64);

    aoti_torch_delete_tensor_object fn delete_tensor(tensor: TensorHandle);
    aoti_torch_get_data_ptr fn get_data_ptr(tensor: TensorHandle, data: *mut *mut c_void);
    aoti_torch_get_dim fn get_dim(tensor: TensorHandle, dim: *mut i64);
    aoti_torch_get_sizes fn get_sizes(tensor: TensorHandle, sizes: *mut *mut i64);
    aoti_torch_get_strides fn get_strides(tensor: TensorHandle, strides: *mut *mut i64);
    aoti_torch_get_dtype fn get_dtype(tensor: TensorHandle, dtype: *mut i32);
    aoti_torch_get_layout fn get_layout(tensor: TensorHandle, layout: *mut i32);
    aoti_torch_get_device_type fn get_device_type(tensor: TensorHandle, device: *mut i32);
    aoti_torch_get_device_index fn get_device_index(tensor: TensorHandle, index: *mut i32);
    aoti_torch_empty_strided fn empty_strided(dim: i64, sizes: *const i64, strides: *const i64, dtype: i32, device: i32, index: i32, tensor: *mut TensorHandle);
    aoti_torch_copy_ fn copy(to: TensorHandle, from: TensorHandle, non_blocking: i32);

    torch_new_list_reserve_size fn new_list(size: usize, list: *mut ListHandle);
    torch_list_size fn list_size(list: ListHandle, size: *mut usize);
    torch_list_get_item fn list_get_item(list: ListHandle, index: usize, item: *mut StableIValue);
    torch_list_push_back fn list_push_back(list: ListHandle, item: StableIValue);
    torch_delete_list fn delete_list(list: ListHandle);

    torch_string_length fn string_length(string: StringHandle, length: *mut usize);
    torch_string_c_str fn string_c_str(string: StringHandle, text: *mut *const c_char);
    torch_delete_string fn delete_string(string: StringHandle);
}

impl Torch {
    /// The functions of the PyTorch of this process.
    ///
    /// # Errors
    /// What is missing, and what to do, for people.
    pub fn find() -> Result<&'static Torch, String> {
        static TORCH: OnceLock<Result<Torch, String>> = OnceLock::new();
        TORCH.get_or_init(Torch::from_libraries).as_ref().map_err(String::clone)
    }

    /// Says that there is an operator.
    ///
    /// # Errors
    /// When there is one of that name.
    pub fn define(&self, namespace: &CStr, schema: &CStr, file: &CStr) -> Result<(), String> {
        let mut library = ptr::null_mut();
        // SAFETY: strings end with a zero byte, the place is valid. The library is never given back, as what is
        // registered with it would go with it.
        let done = unsafe {
            (self.library_init_fragment)(namespace.as_ptr(), file.as_ptr(), line!(), &mut library) == 0
                && (self.library_def)(library, schema.as_ptr()) == 0
        };
        done.then_some(()).ok_or_else(|| {
            "PyTorch refuses to define it (see its message above); another copy of this library may be loaded already, and \
             serves"
                .into()
        })
    }

    /// Gives an operator its kernel for a dispatch key.
    ///
    /// # Errors
    /// When PyTorch refuses.
    pub fn implement(
        &self,
        namespace: &CStr,
        key: &CStr,
        name: &CStr,
        file: &CStr,
        kernel: Kernel,
    ) -> Result<(), String> {
        let mut library = ptr::null_mut();
        // SAFETY: as in `define`; the kernel has the signature that PyTorch wants.
        let done = unsafe {
            (self.library_init_impl)(namespace.as_ptr(), key.as_ptr(), file.as_ptr(), line!(), &mut library)
                == 0
                && (self.library_impl)(library, name.as_ptr(), kernel, BUILT_FOR) == 0
        };
        done.then_some(())
            .ok_or_else(|| format!("PyTorch refuses its kernel for {key:?} (see its message above)"))
    }

    /// The scalar that a number of PyTorch's stands for.
    pub fn scalar(&self, dtype: c_int) -> Option<Scalar> {
        self.dtypes.iter().find(|(number, _)| *number == dtype).map(|(_, scalar)| *scalar)
    }

    /// The number that stands for a scalar.
    pub fn dtype(&self, scalar: Scalar) -> c_int {
        self.dtypes.iter().find(|(_, known)| *known == scalar).map_or(0, |(number, _)| *number)
    }

    /// The `cudaStream_t` that PyTorch queues work on, for a GPU and this thread.
    ///
    /// # Errors
    /// Why there is none.
    pub fn cuda_stream(&self, index: i32) -> Result<u64, String> {
        type Get = unsafe extern "C" fn(i32, *mut *mut c_void) -> c_int;
        static GET: OnceLock<Option<Get>> = OnceLock::new();
        let get = GET.get_or_init(|| {
            let found = symbol(CUDA, c"aoti_torch_get_current_cuda_stream")?;
            // SAFETY: PyTorch's header declares the function of that name like this.
            Some(unsafe { std::mem::transmute::<NonNull<c_void>, Get>(found) })
        });
        let get = get.ok_or("this PyTorch has no CUDA (libtorch_cuda.so is not loaded)")?;
        let mut stream = ptr::null_mut();
        // SAFETY: the place is valid.
        match unsafe { get(index, &mut stream) } {
            0 => Ok(stream.expose_provenance() as u64),
            _ => Err(format!("PyTorch has no current stream of cuda:{index} (see its message above)")),
        }
    }
}

/// Where functions may be: PyTorch's parts, and one library for builds that are not split.
const CORE: &[&CStr] = &[c"libtorch_cpu.so", c"libtorch.so"];
const CUDA: &[&CStr] = &[c"libtorch_cuda.so", c"libtorch.so"];

/// The address of a symbol of the program itself, or of one of these libraries, if they are loaded.
pub fn symbol(libraries: &[&CStr], name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: strings end with a zero byte. The libraries are only looked for, not loaded; the references to them are kept,
    // as what is found is used for good.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        if let Some(found) = NonNull::new(found) {
            return Some(found);
        }
        libraries.iter().find_map(|library| {
            let library = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() { None } else { NonNull::new(libc::dlsym(library, name.as_ptr())) }
        })
    }
}

/// A function of PyTorch by its name, which ends with a zero byte.
fn function(name: &str) -> Option<NonNull<c_void>> {
    symbol(CORE, CStr::from_bytes_with_nul(name.as_bytes()).ok()?)
}

/// The value of a function without arguments.
fn constant(name: &CStr) -> Result<c_int, String> {
    let found = symbol(CORE, name).ok_or_else(|| too_old(&name.to_string_lossy()))?;
    // SAFETY: PyTorch's header declares the functions that are asked for here like this.
    let function = unsafe { std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn() -> c_int>(found) };
    // SAFETY: they only return a number.
    Ok(unsafe { function() })
}

fn dtypes() -> Result<[(c_int, Scalar); Scalar::ALL.len()], String> {
    let mut all = [(0, Scalar::Bool); Scalar::ALL.len()];
    for (place, scalar) in all.iter_mut().zip(Scalar::ALL) {
        let name = match scalar {
            Scalar::Bool => c"aoti_torch_dtype_bool",
            Scalar::I8 => c"aoti_torch_dtype_int8",
            Scalar::I16 => c"aoti_torch_dtype_int16",
            Scalar::I32 => c"aoti_torch_dtype_int32",
            Scalar::I64 => c"aoti_torch_dtype_int64",
            Scalar::U8 => c"aoti_torch_dtype_uint8",
            Scalar::U16 => c"aoti_torch_dtype_uint16",
            Scalar::U32 => c"aoti_torch_dtype_uint32",
            Scalar::U64 => c"aoti_torch_dtype_uint64",
            Scalar::F16 => c"aoti_torch_dtype_float16",
            Scalar::BF16 => c"aoti_torch_dtype_bfloat16",
            Scalar::F32 => c"aoti_torch_dtype_float32",
            Scalar::F64 => c"aoti_torch_dtype_float64",
        };
        *place = (constant(name)?, scalar);
    }
    Ok(all)
}

fn not_loaded() -> String {
    "no PyTorch with a stable C interface (2.7 or newer) is loaded in this process: load PyTorch first, then this library \
     (in Python: import torch, then torch.ops.load_library)"
        .into()
}

fn too_old(symbol: &str) -> String {
    let mut version = String::new();
    if let Some(found) = self::symbol(CORE, c"aoti_torch_abi_version") {
        // SAFETY: PyTorch's header declares the function like this.
        let function =
            unsafe { std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn() -> u64>(found) };
        // SAFETY: it only returns a number.
        let number = unsafe { function() };
        version = format!(" {}.{}", number >> 56, (number >> 48) & 0xff);
    }
    format!("it needs PyTorch 2.10 or newer, and this is PyTorch{version} (it has no {symbol})")
}
