//! The extension module `inkle._native` behind the Python package `inkle`.
//!
//! This crate converts between Python objects and the crates below; it has no type rules, compiler logic or caching
//! of its own, so everything Python can do, Rust can do too.

mod adjoint;
mod ahead;
mod algorithms;
mod aot;
mod arguments;
mod array;
mod array_arguments;
mod array_data;
mod array_io;
mod array_new;
mod array_view;
mod bounds;
mod builtin;
mod bundle;
mod cache;
mod cli;
mod coloring;
mod components;
mod composite;
mod decorators;
mod device;
mod dlpack;
mod dtype;
mod environment;
mod error;
mod fabric;
mod families;
mod function;
mod graph;
mod host_call;
mod indexed;
mod interface;
mod kernel;
mod launch;
mod linear;
mod loading;
mod lowering;
mod module;
mod native;
mod number;
mod observe;
mod overload;
mod pack;
mod parameters;
mod reference;
mod report;
mod scalar;
mod scope;
mod source;
mod storage;
mod stream;
mod strided;
mod structs;
mod tape;
mod trace;
mod units;

/// The native half of `inkle`; use `import inkle`.
#[pyo3::pymodule(gil_used = true)]
mod _native {
    use pyo3::prelude::*;

    use crate::error;

    #[pymodule_export]
    use crate::algorithms::{
        array_cast, array_inner, array_scan, array_sum, radix_sort_pairs, runlength_encode,
        segmented_sort_pairs,
    };
    #[pymodule_export]
    use crate::aot::{compile_aot_module, get_cuda_supported_archs, load_aot_module};
    #[pymodule_export]
    use crate::arguments::type_of;
    #[pymodule_export]
    use crate::array::{Array, array_kind};
    #[pymodule_export]
    use crate::array_new::{
        clone_array, copy_array, dtype_from_numpy, dtype_to_numpy, empty, empty_like, from_numpy, from_ptr,
        full, full_like, ones, ones_like, zeros, zeros_like,
    };
    #[pymodule_export]
    use crate::builtin::{Builtin, builtin, builtin_names};
    #[pymodule_export]
    use crate::bundle::{
        bundle_chain, bundle_kernels, capture_debug_dot_print, capture_load, capture_load_from_bytes,
        capture_save, describe_function, parse_signature,
    };
    #[pymodule_export]
    use crate::cache::{clear_kernel_cache, clear_lto_cache, kernel_cache_dir};
    #[pymodule_export]
    use crate::cli::run_command;
    #[pymodule_export]
    use crate::coloring::{graph_coloring_assign, graph_coloring_balance, graph_coloring_groups};
    #[pymodule_export]
    use crate::composite::{Value, rebuild_value};
    #[pymodule_export]
    use crate::decorators::{constant, func, kernel};
    #[pymodule_export]
    use crate::device::{
        PyDevice, get_cuda_device, get_cuda_device_count, get_cuda_devices, get_cuda_driver_version,
        get_device, get_devices, get_mempool_release_threshold, get_mempool_used_mem_current,
        get_mempool_used_mem_high, get_preferred_device, is_cpu_available, is_cuda_available,
        is_device_available, is_mempool_enabled, is_mempool_supported, is_peer_access_supported, set_device,
        set_mempool_enabled, set_mempool_release_threshold, synchronize, synchronize_device,
    };
    #[pymodule_export]
    use crate::dlpack::{from_dlpack, to_dlpack};
    #[pymodule_export]
    use crate::dtype::{
        NativeType, are_same_floats, float_parts, matrix, named_type, quaternion, scalar_family,
        transformation, type_kind, type_names, type_repr, type_size, type_size_in_bytes, type_to_warp,
        types_equal, vector,
    };
    #[pymodule_export]
    use crate::fabric::{FabricArray, IndexedFabricArray};
    #[pymodule_export]
    use crate::families::{Matrix, Quaternion, Transform, Vector};
    #[pymodule_export]
    use crate::function::Function;
    #[pymodule_export]
    use crate::graph::{
        PyGraph, capture_abandon, capture_begin, capture_end, capture_if, capture_launch, capture_pause,
        capture_resume, capture_while, is_capturing, is_conditional_graph_supported,
    };
    #[pymodule_export]
    use crate::indexed::IndexedArray;
    #[pymodule_export]
    use crate::kernel::Kernel;
    #[pymodule_export]
    use crate::kernel::access::launch_access;
    #[pymodule_export]
    use crate::launch::{Launch, launch};
    #[pymodule_export]
    use crate::loading::{
        check_kernel, compile_statistics, force_load, get_suggested_block_size, kernel_ir, load_kernel,
        load_module,
    };
    #[pymodule_export]
    use crate::module::{Module, get_module, get_module_options, set_module_options, setting_changes};
    #[pymodule_export]
    use crate::native::func_native;
    #[pymodule_export]
    use crate::observe::{live_abandon, live_begin, live_end, live_serial, set_observer};
    #[pymodule_export]
    use crate::overload::{overload, result_types};
    #[pymodule_export]
    use crate::reference::Reference;
    #[pymodule_export]
    use crate::scalar::ScalarValue;
    #[pymodule_export]
    use crate::stream::{
        PyEvent, PyStream, get_event_elapsed_time, get_stream, record_event, set_stream, synchronize_event,
        synchronize_stream, wait_event, wait_stream,
    };
    #[pymodule_export]
    use crate::strided::StridedArray;
    #[pymodule_export]
    use crate::structs::{Struct, StructInstance, struct_};
    #[pymodule_export]
    use crate::tape::{LaunchTape, get_tape, set_tape, set_tape_watch};
    #[pymodule_export]
    use crate::units::{flat, repeated, units};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        // NVIDIA's wheels are looked for where Python looks for packages, when a kernel needs them.
        let folders: Vec<std::path::PathBuf> = py.import("sys")?.getattr("path")?.extract()?;
        inkle_module::set_package_folders(folders);
        #[cfg(feature = "remote-cache")]
        inkle_module::set_remote_opener(inkle_remote::open);
        crate::trace::follow_environment(py)?;
        module.add("version", env!("CARGO_PKG_VERSION"))?;
        module.add("llvm_version", inkle_module::llvm_version())?;
        module.add("CompileError", crate::error::compile_error_class(py)?)?;
        for mistake in [error::Mistake::Name, error::Mistake::Attribute, error::Mistake::Other] {
            module.add(mistake.class(py)?.name()?, mistake.class(py)?)?;
        }
        module.add("ArgumentError", crate::error::argument_error_class(py)?)?;
        module.add("RangeError", crate::error::range_error_class(py)?)?;
        module.add("OutOfMemoryError", crate::error::memory_error_class(py)?)?;
        Ok(())
    }
}
