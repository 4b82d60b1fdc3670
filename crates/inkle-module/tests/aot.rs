//! Modules compiled ahead of time, from Rust.

use inkle_diag::SourceFile;
use inkle_frontend::CheckOptions;
use inkle_module::{
    AotCode, AotError, AotFile, AotInput, CacheSettings, CudaOutput, Kernel, KernelIr, Options, Target,
    compile_ahead, configure_cache, file_suffix, find_file, library_function, library_names, module_hash,
    statistics,
};
use inkle_python::{FileEnvironment, Library};
use inkle_runtime::Device;

const SOURCE: &str = "
import inkle as wp

@wp.kernel
def scale(x: wp.array(dtype=float), s: float):
    i = wp.tid()
    x[i] = s * x[i]

@wp.kernel
def count(out: wp.array(dtype=int)):
    wp.atomic_add(out, 0, 1)
";

fn kernels(source: &str) -> Vec<(String, Kernel)> {
    let file = SourceFile::register("kernels.py", source);
    let env = FileEnvironment::new(&file, Library { functions: library_function, names: library_names });
    let build = |(name, key): &(&str, _)| {
        let types = env.kernel_types(*key).unwrap().expect("its parameters are annotated");
        let ir = KernelIr::build(&env, *key, &types, CheckOptions::default());
        ((*name).to_owned(), Kernel::new(ir.unwrap_or_else(|e| panic!("{e}"))))
    };
    env.kernels().iter().map(build).collect()
}

fn inputs<'a>(kernels: &'a [(String, Kernel)], options: &'a Options) -> Vec<AotInput<'a>> {
    kernels.iter().map(|(name, kernel)| AotInput { name, kernel, options }).collect()
}

#[test]
fn a_file_gives_back_what_was_compiled_and_is_reused() {
    configure_cache(CacheSettings { enabled: false, ..CacheSettings::default() });
    let dir = tempfile::tempdir().unwrap();
    let (kernels, options) = (kernels(SOURCE), Options::default());
    let inputs = inputs(&kernels, &options);
    let device = Device::cpu();
    let name = format!("wp_mine_{}", module_hash(&inputs));
    for target in ["native", "aarch64", "sm_90"] {
        let target = Target::named(target, CudaOutput::Ptx).unwrap();
        let path = dir.path().join(format!("{name}{}", file_suffix(&target)));
        let made = compile_ahead(&inputs, &target, None).unwrap();
        // Where there are arrays: the fast variant first, then one for any launch.
        let variants = &made.kernels[0].variants;
        assert_eq!(variants.iter().map(|v| v.contiguous).collect::<Vec<_>>(), [1, 0]);
        made.write(&path).unwrap();
        let read = AotFile::read(&path).unwrap();
        assert_eq!(read, made);
        let before = statistics().compiled;
        assert_eq!(compile_ahead(&inputs, &target, Some(&read)).unwrap(), made);
        assert_eq!(statistics().compiled, before);
    }
    let (path, file) = find_file(dir.path(), "mine", &name, device, None, None).unwrap();
    let types: Vec<_> = kernels[0].1.ir().params().iter().map(|p| p.ty).collect();
    let code = AotCode::of_kernel(&path, &file, device, "scale", Some(&types), true).unwrap();
    assert!(code[0].takes(&types) && code[0].is_of(kernels[0].1.ir()) && !code[0].is_of(kernels[1].1.ir()));
    let fast = code[0].load(&Options { contiguous: 1, ..options.clone() }).unwrap();
    let any = code[0].load(&options).unwrap();
    assert!(!std::sync::Arc::ptr_eq(&fast, &any));
    let error = AotCode::of_kernel(&path, &file, device, "scale", Some(&types[..1]), true).unwrap_err();
    assert!(matches!(error, AotError::NoKernel { .. }), "{error}");
    let error = find_file(dir.path(), "mine", "wp_mine_0000000", device, None, None).unwrap_err();
    let AotError::Missing { found, .. } = &error else { panic!("{error}") };
    assert_eq!(found.len(), 3);
}

#[test]
fn the_hash_is_that_of_kernels_and_options() {
    let (one, other) = (kernels(SOURCE), kernels(&SOURCE.replace("s * x[i]", "x[i] + s")));
    let plain = Options::default();
    let fast = Options { fast_math: true, ..plain.clone() };
    let hash = module_hash(&inputs(&one, &plain));
    assert_eq!(hash, module_hash(&inputs(&kernels(SOURCE), &plain)));
    assert_ne!(hash, module_hash(&inputs(&other, &plain)));
    assert_ne!(hash, module_hash(&inputs(&one, &fast)));
}
