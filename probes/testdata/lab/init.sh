#!/bin/dash
# The guest's first process: mounts, loads modules, runs the script, switches off.
export PATH=/bin:/lab/bin HOME=/
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
mount -t tmpfs none /run
mkdir -p /run/netns /run/chrony
for module in $(cat /mod/order); do
  insmod "/mod/$module.ko" || echo "init: $module does not load"
done
ip link set lo up
mount -t 9p -o trans=virtio,version=9p2000.L,msize=131072 lab /lab || echo "init: no shared folder"
stty -F /dev/hvc0 raw -echo
cd /lab
dash /lab/script.sh >/dev/hvc0 2>&1 </dev/null
echo $? >/lab/result
dmesg >/lab/out/dmesg
sync
sleep 0.2
poweroff -f
