/**
 * The functions of the C library that we call. Every pointer is passed as a plain number: the address of memory that
 * we own for the life of the thread, which is the cheapest form and leaves nothing for the collector to move.
 */
export const PROTOTYPES = {
  openat: "int openat(int, uintptr_t, int, uint)",
  close: "int close(int)",
  mkdirat: "int mkdirat(int, uintptr_t, uint)",
  unlinkat: "int unlinkat(int, uintptr_t, int)",
  symlinkat: "int symlinkat(uintptr_t, int, uintptr_t)",
  readlinkat: "long readlinkat(int, uintptr_t, uintptr_t, size_t)",
  linkat: "int linkat(int, uintptr_t, int, uintptr_t, int)",
  renameat2: "int renameat2(int, uintptr_t, int, uintptr_t, uint)",
  chmod: "int chmod(uintptr_t, uint)",
  fchmod: "int fchmod(int, uint)",
  fchown: "int fchown(int, uint, uint)",
  fchownat: "int fchownat(int, uintptr_t, uint, uint, int)",
  futimens: "int futimens(int, uintptr_t)",
  utimensat: "int utimensat(int, uintptr_t, uintptr_t, int)",
  statx: "int statx(int, uintptr_t, int, uint, uintptr_t)",
  fstatfs: "int fstatfs(int, uintptr_t)",
  lgetxattr: "long lgetxattr(uintptr_t, uintptr_t, uintptr_t, size_t)",
  lsetxattr: "int lsetxattr(uintptr_t, uintptr_t, uintptr_t, size_t, int)",
  llistxattr: "long llistxattr(uintptr_t, uintptr_t, size_t)",
  lremovexattr: "int lremovexattr(uintptr_t, uintptr_t)",
  fgetxattr: "long fgetxattr(int, uintptr_t, uintptr_t, size_t)",
  fsetxattr: "int fsetxattr(int, uintptr_t, uintptr_t, size_t, int)",
  flistxattr: "long flistxattr(int, uintptr_t, size_t)",
  fremovexattr: "int fremovexattr(int, uintptr_t)",
  copy_file_range: "long copy_file_range(int, uintptr_t, int, uintptr_t, size_t, uint)",
  lseek: "long lseek(int, long, int)",
  ftruncate: "int ftruncate(int, long)",
  fallocate: "int fallocate(int, int, long, long)",
  ioctl: "int ioctl(int, ulong, uintptr_t)",
  fsync: "int fsync(int)",
  syncfs: "int syncfs(int)",
  flock: "int flock(int, int)",
  mount: "int mount(uintptr_t, uintptr_t, uintptr_t, ulong, uintptr_t)",
  umount2: "int umount2(uintptr_t, int)",
  name_to_handle_at: "int name_to_handle_at(int, uintptr_t, uintptr_t, uintptr_t, int)",
  read: "long read(int, uintptr_t, size_t)",
  syscall: "long syscall(long, long, long, long, long, long)",
  syscall6: "long syscall(long, long, long, long, long, long, long)",
} as const;

/** The bound functions; each returns -1 on failure and leaves the reason in `errno`. */
export type NativeCalls = {
  readonly [Name in keyof typeof PROTOTYPES]: (...args: readonly number[]) => number;
};

/** Numbers of the calls that older C libraries have no function for. */
export interface SyscallNumbers {
  readonly getdents64: number;
  readonly mknodat: number;
  readonly open_tree: number;
  readonly move_mount: number;
  readonly fsopen: number;
  readonly fsconfig: number;
  readonly fsmount: number;
  readonly openat2: number;
  readonly fchmodat2: number;
  readonly getxattrat: number;
  readonly listxattrat: number;
}

const SHARED = {
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  openat2: 437,
  fchmodat2: 452,
  getxattrat: 464,
  listxattrat: 465,
} as const;
const GENERIC: SyscallNumbers = { ...SHARED, getdents64: 61, mknodat: 33 };

/** The processors whose calling convention and structure layouts the bindings were written for. */
export const SYSCALL_NUMBERS: ReadonlyMap<string, SyscallNumbers> = new Map([
  ["x64", { ...SHARED, getdents64: 217, mknodat: 259 }],
  ["arm64", GENERIC],
  ["riscv64", GENERIC],
  ["loong64", GENERIC],
]);
