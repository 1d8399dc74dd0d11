#!/bin/busybox sh
# First process of the guest (see test/rig/guest): loads modules from the initial file system, mounts an overlay
# in memory over the host's tree, and continues with guest_init.sh there.
b=/bin/busybox
$b mount -t devtmpfs dev /dev
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
for module in /mod/*; do $b insmod "$module"; done
options=trans=virtio,version=9p2000.L,msize=512000
try() {
  "$@" && return
  echo "guest: failed: $*"
  $b reboot -f
}
try $b mount -t 9p -o $options,ro,cache=loose host /host
$b mount -t tmpfs -o size=50%,mode=755 rw /rw
$b mkdir /rw/upper /rw/work
try $b mount -t overlay -o lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work overlay /new
for directory in proc sys dev run; do $b mkdir -p /new/$directory; done
for directory in proc sys dev; do $b mount --move /$directory /new/$directory; done
$b mount -t tmpfs -o mode=755 run /new/run
$b mkdir -p /new/run/guest
try $b mount -t 9p -o $options,cache=none control /new/run/guest
exec $b switch_root /new /bin/bash /run/guest/init
