# What tickmark reads of clocks that are known. The truth is what linuxptp's phc_ctl says
# of each NIC's clock against the system clock, one right after the other: good to some
# 10 ns, the time of a reading.
. /lab/lib.sh
T=/lab/out
connect 319 123 || exit 1

# against DEVICE: the system clock minus the device's, in ns.
against() { phc_ctl "$1" cmp | sed -n 's/.*offset from CLOCK_REALTIME is \(-*[0-9]*\)ns.*/\1/p'; }
truth() { zero=$(against /dev/ptp0); echo $((zero - $(against /dev/ptp1))); }
# cell TRACE TABLE COLUMN [ROW]: one cell of what clocks prints, seconds as ns.
cell() {
  tickmark clocks -f csv --table "$2" "$1" 2>/dev/null | tr -d '"' | awk -F, -v c="$3" -v r="$4" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) at = i }
    NR > 1 && (r == "" || $2 == r) { print $at; exit }'
}
ns() { awk -v s="$1" 'BEGIN { if (s != "") printf "%.1f", s * 1e9 }'; }
trailer() { sed -n "s/^# $2: //p" "$1"; }

echo "== two NICs' clocks of one rate, 123 us apart"
{ clock /dev/ptp0 0 0; clock /dev/ptp1 0 0.000123; } 2>/dev/null
before=$(truth)
tickmark probe phc:against=/dev/ptp0 -o $T/phc.trace --count 50 --interval 100ms /dev/ptp1 2>/dev/null || fail "probe phc: exit $?"
holds "NIC clock against another, ns" "$(ns "$(cell $T/phc.trace summary offset_p50)")" "$before" 20
# The system clock is some 0.1 ppm off them, so the truth is the middle of what it was
# before and after.
from=$(against /dev/ptp1)
b tickmark probe phc -o $T/iface.trace --count 20 --interval 50ms eth1 2>/dev/null || fail "probe phc eth1: exit $?"
till=$(against /dev/ptp1)
holds "NIC clock by its interface against the system's, ns" "$(ns "$(cell $T/iface.trace summary offset_p50)")" $((-(from + till) / 2)) $(((till - from > 0 ? till - from : from - till) / 2 + 20))
grep -q '^way: extended$' $T/iface.trace && pass "no PRECISE here: EXTENDED is taken" || fail "$(grep ^way: $T/iface.trace)"

echo "== PTP in hardware, master ptp4l"
cat >/tmp/ptp4l.conf <<X
[global]
unicast_listen 1
free_running 1
tx_timestamp_timeout 500
logSyncInterval -3
logMinDelayReqInterval -3
X
a ptp4l -4 -E -H -i eth0 -m -f /tmp/ptp4l.conf --masterOnly 1 >$T/ptp4l.log 2>&1 &
MASTER=$!
n=0
until grep -q 'to MASTER' $T/ptp4l.log || [ $n -ge 60 ]; do sleep 0.5; n=$((n + 1)); done
set_to() { b hwstamp_ctl -i eth1 | tr '\n' ' '; }
was=$(set_to)
b tickmark probe ptp:mode=unicast,stamps=hardware,server-stamps=hardware -o $T/off.trace --count 2 10.0.0.1 2>$T/off.err
case $? in 0) fail "stamps that are off were used" ;; *) pass "refused: $(cat $T/off.err)" ;; esac
before=$(truth)
b tickmark probe ptp:mode=unicast,stamps=hardware,server-stamps=hardware --allow-nic-config -o $T/ptp.trace --count 60 --interval 125ms --listen 3s 10.0.0.1 2>/dev/null || fail "probe ptp: exit $?"
# The master's clock minus ours.
holds "PTP offset in hardware, ns" "$(ns "$(cell $T/ptp.trace summary offset_p50)")" $((-before)) 20
stamps=$(tickmark clocks -f json --table summary $T/ptp.trace 2>/dev/null | sed -n 's/.*"stamps": *"\([^"]*\)".*/\1/p')
[ "$stamps" = "hardware, hardware, hardware, hardware" ] && pass "T1 to T4 by $stamps" || fail "T1 to T4 by '$stamps'"
grep -q '^local-clock: /dev/ptp1$' $T/ptp.trace && pass "the local clock is /dev/ptp1" || fail "$(grep ^local-clock $T/ptp.trace)"
[ "$(set_to)" = "$was" ] && pass "the NIC's setting is put back:$was" || fail "the NIC was '$was', is '$(set_to)'"

echo "== a NIC that gives no stamps for a while"
stamping b eth1 on
{ sleep 2; kill -STOP $RXSTAMPS; sleep 3; kill -CONT $RXSTAMPS; } &
b tickmark probe ptp:mode=unicast,stamps=hardware,server-stamps=hardware -o $T/lost.trace --count 40 --interval 200ms --listen 1s 10.0.0.1 2>/dev/null
[ $? = 0 ] && pass "lost stamps end nothing" || fail "lost stamps ended the probe"
rows=$(grep -c '^[0-9]' $T/lost.trace)
[ "$rows" = 40 ] && pass "40 samples; T4 missing of $(trailer $T/lost.trace t4-missing), T1 of $(trailer $T/lost.trace t1-missing), timed out $(grep -c timed-out $T/lost.trace)" || fail "$rows samples of 40"
[ $(($(trailer $T/lost.trace t4-missing) + $(grep -c timed-out $T/lost.trace))) -gt 0 ] || fail "no stamp was lost: the test shows nothing"
kill $MASTER; wait $MASTER

echo "== NTP in hardware, server chronyd, interleaved"
stamping a eth0 on
cat >/tmp/chrony.conf <<X
local stratum 1
allow
hwtimestamp eth0 rxfilter ptp
cmdport 0
bindcmdaddress /run/chrony/sock
pidfile /run/chrony/pid
X
chmod 700 /run/chrony
a chronyd -x -u root -d -f /tmp/chrony.conf >$T/chrony.log 2>&1 &
CHRONYD=$!
sleep 5
from=$(against /dev/ptp1)
b tickmark probe ntp:mode=interleaved,stamps=hardware -o $T/ntp.trace --count 60 --interval 100ms 10.0.0.1 2>/dev/null || fail "probe ntp: exit $?"
till=$(against /dev/ptp1)
# chronyd tells the system's time: the truth is the system clock minus ours. It turns its
# NIC's stamps into that by samples of its own, and what the emulation makes of those is
# off by some 2 us.
holds "NTP offset in hardware, ns" "$(ns "$(cell $T/ntp.trace summary offset_p50)")" $(((from + till) / 2)) 4000
kinds=$(tickmark clocks -f json --table summary $T/ntp.trace 2>/dev/null | sed -n 's/.*"stamps": *"\([^"]*\)".*/\1/p')
case $kinds in "hardware, user, kernel, hardware") pass "T1 and T4 by hardware" ;; *) fail "stamps by '$kinds'" ;; esac
kill $CHRONYD; wait $CHRONYD

echo "== one clock 20 ppm fast"
{ clock /dev/ptp0 0 0; clock /dev/ptp1 20000 0.000123; } 2>/dev/null
tickmark probe phc:against=/dev/ptp0 -o $T/rate.trace --count 100 --interval 200ms /dev/ptp1 2>/dev/null || fail "probe phc: exit $?"
# The 82576 counts 2^23 units in 16 ns and is told how many more (Linux, igb_ptp.c): 20
# ppm are 167.77 of them, of which it takes 167.
rate=$(awk 'BEGIN { printf "%.6f", 167 / 8388608 * 1e6 }')
holds "rate, ppm" "$(cell $T/rate.trace rate ppm theil-sen)" "$rate" 0.01
lo=$(cell $T/rate.trace rate ppm_lo endpoints) hi=$(cell $T/rate.trace rate ppm_hi endpoints)
awk -v lo="$lo" -v hi="$hi" -v r="$rate" 'BEGIN { exit !(lo != "" && lo <= r && r <= hi) }' && pass "hard limits [$lo, $hi] hold $rate ppm" || fail "hard limits [$lo, $hi] of $rate"

echo "== what else there is"
b tickmark doctor >$T/doctor.txt
grep -q 'stamps PTP only: NTP stays kernel' $T/doctor.txt && pass "doctor: PTP only" || fail "doctor does not say PTP only"
if [ -x /lab/bin/nic.test ]; then
  stamping b eth1 off
  b env TICKMARK_LAB_NIC=eth1 nic.test -test.run TestHardware -test.v >$T/nic.txt 2>&1 && pass "a NIC's setting is changed and put back" || { cat $T/nic.txt; fail "nic.test"; }
fi
[ $failures = 0 ] || { echo "$failures failed"; exit 1; }
