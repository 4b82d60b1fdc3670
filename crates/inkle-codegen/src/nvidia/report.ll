; How GPU code with checks reports: see `report.rs`, which replaces the names in braces.

@{SYMBOL} = addrspace(1) externally_initialized global i64 0, align 8

declare i32 @vprintf(ptr, ptr)
declare void @llvm.nvvm.exit()
declare void @llvm.nvvm.membar.sys()
declare void @llvm.trap()

; Fills in the record, if nobody has before, and ends the thread. Without a record: prints, and stops the kernel.
define void @inkle_fail(ptr %format, ptr %args, i32 %count, ptr %kinds) noinline noreturn {
entry:
  %address = load volatile i64, ptr addrspace(1) @{SYMBOL}, align 8
  %none = icmp eq i64 %address, 0
  br i1 %none, label %print, label %claim

print:
  call i32 @vprintf(ptr %format, ptr %args)
  call void @llvm.trap()
  unreachable

claim:
  %record = inttoptr i64 %address to ptr
  %claimed = cmpxchg ptr %record, i32 0, i32 1 monotonic monotonic
  %won = extractvalue { i32, i1 } %claimed, 1
  br i1 %won, label %arguments, label %end

arguments:
  %count.at = getelementptr i8, ptr %record, i64 {COUNT}
  store volatile i32 %count, ptr %count.at, align 4
  %count.wide = zext i32 %count to i64
  %args.to = getelementptr i8, ptr %record, i64 {ARGS}
  %kinds.to = getelementptr i8, ptr %record, i64 {KINDS}
  br label %argument

argument:
  %i = phi i64 [ 0, %arguments ], [ %i.next, %argument.copy ]
  %more = icmp ult i64 %i, %count.wide
  br i1 %more, label %argument.copy, label %text

argument.copy:
  %arg.from = getelementptr i64, ptr %args, i64 %i
  %arg = load i64, ptr %arg.from, align 8
  %arg.to = getelementptr i64, ptr %args.to, i64 %i
  store volatile i64 %arg, ptr %arg.to, align 8
  %kind.from = getelementptr i8, ptr %kinds, i64 %i
  %kind = load i8, ptr %kind.from, align 1
  %kind.to = getelementptr i8, ptr %kinds.to, i64 %i
  store volatile i8 %kind, ptr %kind.to, align 1
  %i.next = add i64 %i, 1
  br label %argument

text:
  %text.to = getelementptr i8, ptr %record, i64 {FORMAT}
  br label %byte

byte:
  %j = phi i64 [ 0, %text ], [ %j.next, %byte ]
  %byte.from = getelementptr i8, ptr %format, i64 %j
  %c = load i8, ptr %byte.from, align 1
  %byte.to = getelementptr i8, ptr %text.to, i64 %j
  store volatile i8 %c, ptr %byte.to, align 1
  %j.next = add i64 %j, 1
  %last = icmp eq i8 %c, 0
  br i1 %last, label %publish, label %byte

publish:
  call void @llvm.nvvm.membar.sys()
  store volatile i32 2, ptr %record, align 4
  br label %end

end:
  call void @llvm.nvvm.exit()
  unreachable
}

; Prints, unless enough was printed since the host last looked.
define void @inkle_warn(ptr %format, ptr %args, i32 %count, ptr %kinds) noinline {
entry:
  %address = load volatile i64, ptr addrspace(1) @{SYMBOL}, align 8
  %none = icmp eq i64 %address, 0
  br i1 %none, label %print, label %count.it

count.it:
  %at = add i64 %address, {WARNINGS}
  %counter = inttoptr i64 %at to ptr
  %before = atomicrmw add ptr %counter, i32 1 monotonic
  %few = icmp ult i32 %before, {MAX_WARNINGS}
  br i1 %few, label %print, label %done

print:
  call i32 @vprintf(ptr %format, ptr %args)
  br label %done

done:
  ret void
}
