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

/// The passes that make code of modules, one after the other, and where it is put.
struct Emitter {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream{bytes};
  legacy::PassManager passes;
};

} // namespace

/// Prepares object files or assembly to be made, without the passes of some names. `left_out` gets how many passes those
/// were. Null when the target makes no such files.
extern "C" Emitter *inkle_emitter(LLVMTargetMachineRef machine, LLVMCodeGenFileType kind, const char *const *without,
                                  size_t count, int *left_out) {
  auto &target = *reinterpret_cast<TargetMachine *>(machine);
  auto *emitter = new Emitter;
  Without chosen(emitter->passes, without, count);
  auto type = kind == LLVMObjectFile ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
  if (target.addPassesToEmitFile(chosen, emitter->stream, nullptr, type, /*DisableVerify=*/true)) {
    delete emitter;
    return nullptr;
  }
  *left_out = chosen.left_out;
  return emitter;
}

/// Makes the code of a module, and gives it to `take`.
extern "C" void inkle_emit(Emitter *emitter, LLVMTargetMachineRef machine, LLVMModuleRef module, void *taker,
                           void (*take)(void *, const char *, size_t)) {
  Module &code = *unwrap(module);
  code.setDataLayout(reinterpret_cast<TargetMachine *>(machine)->createDataLayout());
  emitter->passes.run(code);
  take(taker, emitter->bytes.data(), emitter->bytes.size());
  emitter->bytes.clear();
}

extern "C" void inkle_emitter_drop(Emitter *emitter) { delete emitter; }
