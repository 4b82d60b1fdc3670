// Machine code from LLVM's modules by the passes of a target, with what LLVM's interface for C does not offer: some of the
// passes are left out. Called by `src/machine.rs`.

#include <cstddef>
#include <cstring>

#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {

/// A pass manager that leaves out the passes of the given names.
class Without : public legacy::PassManagerBase {
public:
  Without(legacy::PassManagerBase &passes, const char *const *names, size_t count)
      : passes(passes), names(names), count(count) {}

  void add(Pass *pass) override {
    StringRef name = pass->getPassName();
    for (size_t i = 0; i < count; ++i) {
      if (name == names[i]) {
        delete pass;
        ++left_out;
        return;
      }
    }
    passes.add(pass);
  }

  /// How many were left out.
  int left_out = 0;

private:
  legacy::PassManagerBase &passes;
  const char *const *names;
  size_t count;
};

} // namespace

/// Makes an object file or assembly of a module, without the passes of some names, and gives it to `take`. How many passes
/// that were; -1 when the target makes no such files.
extern "C" int inkle_emit(LLVMTargetMachineRef machine, LLVMModuleRef module, LLVMCodeGenFileType kind,
                          const char *const *without, size_t count, void *taker, void (*take)(void *, const char *, size_t)) {
  auto &target = *reinterpret_cast<TargetMachine *>(machine);
  Module &code = *unwrap(module);
  code.setDataLayout(target.createDataLayout());
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  Without chosen(passes, without, count);
  auto type = kind == LLVMObjectFile ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
  if (target.addPassesToEmitFile(chosen, stream, nullptr, type, /*DisableVerify=*/true))
    return -1;
  passes.run(code);
  take(taker, bytes.data(), bytes.size());
  return chosen.left_out;
}
