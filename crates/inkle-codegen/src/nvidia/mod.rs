//! NVIDIA's libraries: libdevice for GPU math, nvJitLink for machine code without a GPU. Both are found at run time
//! and only when a kernel needs them.

pub(crate) mod libdevice;
pub(crate) mod nvjitlink;
pub(crate) mod report;

use std::path::{Path, PathBuf};
use std::sync::RwLock;

static FOLDERS: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// Sets the folders that hold Python packages (`site-packages`), where NVIDIA's wheels are looked for first.
/// It holds for the whole process and for searches from now on.
pub fn set_package_folders(folders: Vec<PathBuf>) {
    *FOLDERS.write().unwrap_or_else(|e| e.into_inner()) = folders;
}

/// CUDA toolkits that may be installed.
fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    named.chain(["/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"].map(PathBuf::from)).collect()
}

/// The `nvidia/*` folders of the package folders, newest CUDA first.
fn package_roots() -> Vec<PathBuf> {
    let folders = FOLDERS.read().unwrap_or_else(|e| e.into_inner()).clone();
    let mut roots = Vec::new();
    for folder in folders {
        let Ok(entries) = folder.join("nvidia").read_dir() else { continue };
        let mut found: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
        // `cu13` comes before `cu12` and that before the per-library folders of older wheels.
        found.sort_by_key(|p| std::cmp::Reverse(package_age(p)));
        roots.extend(found);
    }
    roots
}

fn package_age(path: &Path) -> (bool, u32, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let version = name.strip_prefix("cu").and_then(|v| v.parse().ok());
    (version.is_some(), version.unwrap_or(0), name)
}

/// What a search found, or where it looked.
fn first_file(candidates: Vec<PathBuf>) -> Result<PathBuf, Vec<PathBuf>> {
    match candidates.iter().find(|p| p.is_file()) {
        Some(found) => Ok(found.clone()),
        None => {
            // Folders say where to look better than every file name tried.
            let mut folders: Vec<PathBuf> =
                candidates.iter().filter_map(|p| p.parent()).map(Path::to_owned).collect();
            folders.dedup();
            Err(folders)
        }
    }
}
