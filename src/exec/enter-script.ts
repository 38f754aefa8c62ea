/**
 * Builds the view of a command in the namespaces that it is started in, then runs the command. Constant text:
 * everything of the caller comes in as an argument. Descriptors: 2 gets the complaints of the programs that build the
 * view, 3 is told when it stands, 4 becomes the command's own 2, and 5 is the lock of the run, which it does not get.
 *
 * Arguments: `none` or `=` and the language of the command, which the programs before it do without; steps of several
 * words each, `run`, the working directory, the name of the program, then the command, which may begin with another one.
 * It is the first process of its process namespace: when it ends, whatever the command has left running ends too.
 */
export const ENTER_SCRIPT = `
set -e
# Shows 1 at 2, read only; or not at all, as when it has just been unmounted: then what lies below is seen.
show_still() {
  if mount --bind -- "$1" "$2" 2>/dev/null; then
    mount -o remount,bind,ro -- "$2" || umount -- "$2"
  fi
}
# What whoever starts the command would say too, but in the name of another program.
refuse() {
  printf 'coffer: %s: %s\\n' "$program" "$1" >&2
  exit "$2"
}
able=
# Ordinary users mostly do not have the folders in their PATH that these programs are in.
own_path=\${PATH-}
PATH=\${PATH:+$PATH:}/usr/sbin:/usr/bin:/sbin:/bin
export LIBMOUNT_FORCE_MOUNT2=always
language=$1; shift
while [ "$1" != run ]; do
  step=$1; shift
  case $step in
    overlay)
      # In folder 1 with the options 2 at 3, unless that has just gone. Where it cannot be, 3 shows 4, read only.
      if [ -e "$3" ] && ! (cd -- "$1" && mount -t overlay overlay -o "$2" -- "$3" 2>/dev/null); then
        [ "$5" = there ] || show_still "$4" "$3"
        printf 'fixed %s\\0' "$4" >&3
      fi
      shift 5 ;;
    at-once)
      # The mounts of table 2 in folder 1, for which 4 words follow as single steps. Where one of them cannot be, they
      # are all taken away again from 3, and the steps tell what becomes of it.
      if (cd -- "$1" && mount -a -T "$2" 2>/dev/null); then
        words=$4; shift 4; shift "$words"
      else
        # Lazily, which takes everything below along, also what could not be taken away alone.
        umount -l -- "$3" 2>/dev/null || :
        # What says that a layer was not synced would keep it from being mounted again. Layers have numbers as names.
        for numbered in "$1"/[0-9]*; do
          (cd -- "$numbered" && cd work && rm -rf -- work) || :
        done
        shift 4
        continue
      fi ;;
    layer) (cd -- "$1" && mount -t overlay overlay -o "$2" -- "$3"); shift 3 ;;
    bind) mount --bind -- "$1" "$2"; shift 2 ;;
    still) show_still "$1" "$2"; shift 3 ;;
    link)
      # Program 1 and 2 shows the link 3 at 4, of the real path 5, unless a sandbox has no such file there.
      if [ -f "$4" ]; then NODE_OPTIONS= "$1" "$2" "$3" "$4"; else printf 'hidden %s\\0' "$5" >&3; fi
      shift 5 ;;
    tree) mount --rbind -- "$1" "$2"; shift 2 ;;
    attempts) mount -a -T "$1" 2>/dev/null || :; shift ;;
    fixed)
      # Whoever cannot enter a mount cannot change anything there, and one that has just gone is part of another.
      mount -o remount,bind,ro -- "$1" 2>/dev/null || [ ! -x "$1" ] || ! mountpoint -q -- "$1"
      shift 2 ;;
    mask) [ ! -d "$1" ] || mount -t tmpfs -o mode=0755,size=1m tmpfs -- "$1"; shift ;;
    hide) [ ! -d "$1" ] || mount -t tmpfs -o ro,mode=0755,size=1m tmpfs -- "$1"; shift ;;
    room)
      # The sandbox of a folder around it leaves it out; what has to be made for it must not look like an edit.
      if [ ! -d "$1" ]; then
        stamp=$(stat -c %y -- "\${1%/*}" 2>/dev/null) || stamp=
        mkdir -p -- "$1"
        [ -z "$stamp" ] || touch -m -d "$stamp" -- "\${1%/*}"
      fi
      mount -t tmpfs -o mode=0755,size=1m tmpfs -- "$1"; shift ;;
    folder) mkdir -p -- "$1"; shift ;;
    pivot)
      # The old root lies over the new one for a moment, so that it needs no place of its own: see pivot_root(2).
      cd -- "$1"; pivot_root . .; umount -l -- .; cd /
      shift ;;
    closed) mount -o remount,ro -- "$1"; shift ;;
    processes) mount -t proc proc -- "$1"; shift ;;
    loopback) ip link set lo up 2>/dev/null || : ;;
  esac
  # Whoever may do the first may do all: what fails from now on is no lack of rights.
  [ -n "$able" ] || printf 'able\\0' >&3
  able=yes
done
if [ ! -d "$2" ]; then printf 'nowhere\\0' >&3; exit 1; fi
cd -- "$2"
program=$3
shift 3
unset LIBMOUNT_FORCE_MOUNT2
if [ "$language" = none ]; then unset LC_ALL; else LC_ALL=\${language#=}; fi
PATH=$own_path
printf 'ready\\0' >&3
exec 2>&4 3>&- 4>&-
set +e
# The terminal sends these to everybody; what becomes of them is the command's affair.
trap : INT QUIT
case $program in
  */*)
    [ -e "$program" ] || refuse 'not found' 127
    [ ! -d "$program" ] || refuse 'is a directory' 126
    [ -x "$program" ] || refuse 'Permission denied' 126 ;;
  *) command -v -- "$program" >/dev/null || refuse 'not found' 127 ;;
esac
(exec "$@" 5>&-)
exit $?
`;

/** Gives up every capability before the command: those of a user namespace are for building the view alone. */
export const WITHOUT_CAPABILITIES: readonly string[] = [
  "setpriv",
  "--inh-caps=-all",
  "--ambient-caps=-all",
  "--bounding-set=-all",
  "--no-new-privs",
  "--",
];
