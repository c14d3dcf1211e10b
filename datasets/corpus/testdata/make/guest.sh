# In the lab's guest: PTP by hardware stamps, and a step of the wall clock. The truth is
# what linuxptp's phc_ctl says (lib.sh).
. /lab/lib.sh
T=/lab/out
connect 319 || exit 1
cat >/tmp/ptp4l.conf <<X
[global]
unicast_listen 1
free_running 1
tx_timestamp_timeout 500
logSyncInterval -3
logMinDelayReqInterval -3
summary_interval -4
X
clock /dev/ptp0 0 0; clock /dev/ptp1 0 0.000123
ip netns exec a ptp4l -4 -E -H -i eth0 -m -f /tmp/ptp4l.conf --uds_address /run/master --masterOnly 1 >$T/ptp4l.log 2>&1 &
await 30 grep -qs 'to MASTER' $T/ptp4l.log || exit 1
apart | cut -d' ' -f2 >$T/ahead
b tickmark probe ptp:mode=unicast,stamps=hardware,server-stamps=hardware -o $T/ptp-hardware.trace --count 400 --interval 125ms --listen 3s --allow-nic-config 10.0.0.1 || exit 1

tickmark probe clock -o $T/clock-step.trace --count 600 --interval 10ms & probe=$!
sleep 2; step 1s
sleep 2; step -1s
wait $probe
