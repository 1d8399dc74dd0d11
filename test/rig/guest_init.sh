# Process 1 of the guest once the host's tree is mounted (see test/rig/guest): sets up the machine, runs the
# command with its output going to the virtio ports, records its status and turns the machine off.
# shellcheck shell=bash disable=SC1091,SC2154  # the settings are written by test/rig/guest
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
. /run/guest/settings
exec 2>/dev/console >&2 </dev/null
say() { echo "guest: $*" >/dev/console; }
uptime_s() { cut -d' ' -f1 /proc/uptime; }
off() {
  sync
  echo s >/proc/sysrq-trigger
  echo b >/proc/sysrq-trigger
  sleep 60
}
trap : INT TERM HUP

port() { # NAME: the device file of that virtio port
  local device
  for device in /sys/class/virtio-ports/*; do
    if [[ $(<"$device/name") == "$1" ]]; then
      echo "/dev/${device##*/}"
      return
    fi
  done
  say "no port $1"
  off
}

mkdir -p /lib/modules /dev/pts /dev/shm /sys/fs/cgroup
mount --bind "$module_tree" /lib/modules
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
ln -sf /proc/self/fd /dev/fd
for link in 0:stdin 1:stdout 2:stderr; do ln -sf "/proc/self/fd/${link%:*}" "/dev/${link#*:}"; done
hostname guest
ip link set lo up
ulimit -l unlimited
if [[ -n $share ]]; then
  mkdir -p "$share"
  mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none share "$share" || {
    say "cannot mount $share"
    off
  }
fi

load() {
  local module
  for module; do modprobe "$module" || say "modprobe $module failed"; done
}
say "set up at $(uptime_s) s"
# shellcheck disable=SC2086
if [[ -n $modules ]]; then load $modules; fi
if ((roce)); then . /run/guest/roce; fi
say "command at $(uptime_s) s"

mkfifo /run/out /run/err
cat </run/out >"$(port out)" & relay_out=$!
cat </run/err >"$(port err)" & relay_err=$!
bash /run/guest/command >/run/out 2>/run/err </dev/null
status=$?
# Processes that the command started must not keep its output open.
for process in /proc/[0-9]*; do
  case ${process#/proc/} in
    1 | "$relay_out" | "$relay_err") ;;
    *) kill -9 "${process#/proc/}" 2>/dev/null ;;
  esac
done
wait $relay_out $relay_err 2>/dev/null
echo $status >/run/guest/status
say "status $status at $(uptime_s) s"
off
