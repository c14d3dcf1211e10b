# What tickmark reads of clocks that are known. The truth is what linuxptp's phc_ctl says of
# them (lib.sh), good to some 10 ns; where ptp4l measures too, it is a second opinion.
. /lab/lib.sh
T=/lab/out
connect 319 123 || exit 1

# cell TRACE TABLE COLUMN [ROW]: one cell of what clocks prints.
cell() {
  tickmark clocks -f csv --table "$2" "$1" 2>/dev/null | tr -d '"' | awk -F, -v c="$3" -v r="$4" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) at = i }
    NR > 1 && (r == "" || $2 == r) { print $at; exit }'
}
offset() { cell "$1" summary offset_p50 | awk '{ printf "%.1f", $1 * 1e9 }'; }
stamps() { tickmark clocks -f json --table summary "$1" 2>/dev/null | sed -n 's/.*"stamps": *"\([^"]*\)".*/\1/p'; }
trailer() { sed -n "s/^# $2: //p" "$1"; }
rows() { grep -c '^[0-9]' "$1"; }
# lacking TRACE COLUMN: how many samples were answered and have no such stamp.
lacking() {
  awk -F '\t' -v c="$2" '$1 == "seq" { for (i = 1; i <= NF; i++) at[$i] = i }
    /^[0-9]/ && $at["outcome"] == "replied" && $at[c] == "-" { n++ } END { print n + 0 }' "$1"
}
# missing WHAT TRACE COLUMN: some are, and they are counted.
missing() {
  n=$(lacking "$2" "$3")
  if [ "$n" -gt 0 ]; then same "$1, counted" "$(trailer "$2" "$3-missing")" "$n"; else fail "$1: 0, so nothing is shown"; fi
}
ns() { echo "$1" | cut -d' ' -f2; }
# slope FROM TILL: of the line between two answers of apart or against, in ppm.
slope() { echo "$1 $2" | awk '{ printf "%.4f", ($4 - $2) / ($3 - $1) / 1e3 }'; }
header() { sed -n "s/^$2: //p" "$1"; }
# has WHAT FILE TEXT: the file has a line with the text.
has() { if line=$(grep -m 1 -e "$3" "$2"); then pass "$1: $(echo "$line" | xargs)"; else fail "$1: no '$3'"; fi; }

echo "== two NICs' clocks of one rate, 123 us apart"
clock /dev/ptp0 0 0; clock /dev/ptp1 0 0.000123
ahead=$(ns "$(apart)")
tickmark probe phc:against=/dev/ptp0 -o $T/phc.trace --count 50 --interval 100ms /dev/ptp1 2>/dev/null || fail "probe phc: exit $?"
holds "NIC clock against another, ns" "$(offset $T/phc.trace)" "$ahead" 20
from=$(against /dev/ptp1)
b tickmark probe phc -o $T/iface.trace --count 20 --interval 50ms eth1 2>/dev/null || fail "probe phc eth1: exit $?"
holds "NIC clock by its interface, less what it is ahead of the system's, ns" "$(misread $T/iface.trace -1 "$from" "$(against /dev/ptp1)")" 0 20
# The driver igb has no cross time-stamping (Linux, igb_ptp.c: no getcrosststamp).
has "PRECISE is refused" $T/iface.trace '^ways-refused: precise: operation not supported$'
same "so the way is" "$(header $T/iface.trace way)" extended

echo "== PTP in hardware, master ptp4l"
cat >/tmp/ptp4l.conf <<X
[global]
unicast_listen 1
free_running 1
tx_timestamp_timeout 500
logAnnounceInterval 0
logSyncInterval -3
logMinDelayReqInterval -3
summary_interval -4
X
ip netns exec a ptp4l -4 -E -H -i eth0 -m -f /tmp/ptp4l.conf --uds_address /run/master --masterOnly 1 >$T/ptp4l.log 2>&1 &
MASTER=$!
await 30 grep -qs 'to MASTER' $T/ptp4l.log || fail "ptp4l is no master"
ptp() { trace=$1; shift; b tickmark probe ptp:mode=unicast,stamps=hardware,server-stamps=hardware -o "$trace" "$@" 10.0.0.1; }
set_to() { b hwstamp_ctl -i eth1 | xargs; }
was=$(set_to)
ptp $T/off.trace --count 2 2>$T/off.err && fail "stamps that are off were used"
has "refused" $T/off.err 'switched off .*--allow-nic-config'
ahead=$(ns "$(apart)")
ptp $T/ptp.trace --count 60 --interval 125ms --listen 3s --allow-nic-config 2>/dev/null || fail "probe ptp: exit $?"
# The master's clock minus ours.
holds "PTP offset in hardware, ns" "$(offset $T/ptp.trace)" "-$ahead" 10
same "T1 to T4" "$(stamps $T/ptp.trace)" "hardware, hardware, hardware, hardware"
same "the local clock" "$(header $T/ptp.trace local-clock)" /dev/ptp1
same "the NIC's setting, for as long" "$(header $T/ptp.trace nic-config)" "tx on, rx ptpv2-event"
same "the NIC's setting, put back" "$(set_to)" "$was"

echo "== the same by ptp4l as the slave"
stamping b eth1 on
b timeout 10 ptp4l -4 -E -H -s -i eth1 -m -f /tmp/ptp4l.conf --uds_address /run/slave >$T/slave.log 2>&1
# Its sign is the other one.
holds "PTP offset by ptp4l, ns" "$(sed -n 's/.*master offset *\(-*[0-9]*\) .*/\1/p' $T/slave.log | tail -1)" "$ahead" 10

echo "== stamps that do not come"
{
  sleep 2; kill -STOP $STAMPS_B; sleep 2; kill -CONT $STAMPS_B # arrivals here
  sleep 1; kill -STOP $STAMPS_A; sleep 2; kill -CONT $STAMPS_A # arrivals there: it cannot answer
  sleep 1; stamping b eth1 arrivals; sleep 2; stamping b eth1 on # departures here
} &
ptp $T/lost.trace --count 60 --interval 200ms --listen 1s 2>/dev/null && pass "the probe goes on" || fail "probe ptp: exit $?"
same "samples" "$(rows $T/lost.trace)" 60
missing "PTP samples without T4" $T/lost.trace t4
missing "PTP samples without T1" $T/lost.trace t1
n=$(grep -c timed-out $T/lost.trace)
[ "$n" -gt 0 ] && pass "PTP samples that the master could not answer: $n" || fail "the master answered all, so nothing is shown"
holds "PTP offset of the others, ns" "$(offset $T/lost.trace)" "-$ahead" 10
end $MASTER

echo "== NTP in hardware, server chronyd, interleaved; our NIC's clock 20 ppm fast"
clock /dev/ptp1 20000 0.000123
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
ip netns exec a chronyd -x -u root -d -f /tmp/chrony.conf >$T/chrony.log 2>&1 &
CHRONYD=$!
await 20 test -e /run/chrony/sock || fail "chronyd does not come up"
sleep 5 # in which it gets to know its NIC's clock
from=$(against /dev/ptp1)
b tickmark probe ntp:mode=interleaved,stamps=hardware -o $T/ntp.trace --count 60 --interval 100ms 10.0.0.1 2>/dev/null || fail "probe ntp: exit $?"
till=$(against /dev/ptp1)
# chronyd moves its NIC's T2 from the start of the packet to the end, which is where NTP has
# a packet arrive, and the probe corrects T4 by the same: 94 bytes at 1 Gbit/s, 752 ns.
# Then it converts T2 and T3 to the system's clock by a line through its readings of both,
# each 154 ns wide: of 20 ns and, over these 6 s, of 0.1 ppm nobody can be surer.
holds "NTP offset in hardware, less what the clocks are apart, ns" "$(misread $T/ntp.trace 1 "$from" "$till")" 0 20
holds "NTP rate, ppm" "$(cell $T/ntp.trace rate ppm theil-sen)" "$(slope "$from" "$till")" 0.1
same "the local clock" "$(header $T/ntp.trace local-clock)" /dev/ptp1
case $(stamps $T/ntp.trace) in "hardware, "*", hardware") pass "T1 and T4 by hardware" ;; *) fail "stamps by $(stamps $T/ntp.trace)" ;; esac

echo "== and stamps of it that do not come"
{ sleep 1; kill -STOP $STAMPS_B; sleep 1; kill -CONT $STAMPS_B; sleep 1; stamping b eth1 arrivals; sleep 1; stamping b eth1 on; } &
b tickmark probe ntp:mode=interleaved,stamps=hardware -o $T/ntplost.trace --count 50 --interval 100ms 10.0.0.1 2>/dev/null || fail "probe ntp: exit $?"
same "samples" "$(rows $T/ntplost.trace)" 50
missing "NTP samples without T4" $T/ntplost.trace t4
missing "NTP samples without T1" $T/ntplost.trace t1
end $CHRONYD

echo "== PHC against PHC, 20 ppm fast"
clock /dev/ptp0 0 0; clock /dev/ptp1 20000 0.000123
from=$(apart)
tickmark probe phc:against=/dev/ptp0 -o $T/rate.trace --count 100 --interval 200ms /dev/ptp1 2>/dev/null || fail "probe phc: exit $?"
till=$(apart)
holds "offset, less what the clocks are apart, ns" "$(misread $T/rate.trace 1 "$from" "$till")" 0 20
# The 82576 counts 2^23 units in 16 ns and is told how many more (Linux, igb_ptp.c): 20
# ppm are 167.77 of them, of which it takes 167: 19.908 ppm.
rate=$(slope "$from" "$till")
holds "phc_ctl's rate, ppm" "$rate" 19.908 0.005
holds "rate, ppm" "$(cell $T/rate.trace rate ppm theil-sen)" "$rate" 0.01
lo=$(cell $T/rate.trace rate ppm_lo endpoints) hi=$(cell $T/rate.trace rate ppm_hi endpoints)
awk -v lo="$lo" -v hi="$hi" -v r="$rate" 'BEGIN { exit !(lo != "" && lo <= r && r <= hi) }' && pass "hard limits [$lo, $hi] hold $rate ppm" || fail "hard limits [$lo, $hi] of $rate"

echo "== what else there is"
b tickmark doctor >$T/doctor.txt
has "doctor" $T/doctor.txt 'eth1.*stamps PTP only'
has "doctor" $T/doctor.txt '/dev/ptp0'
has "doctor" $T/doctor.txt '/dev/ptp1 .*of eth1'
stamping b eth1 off
b env TICKMARK_LAB_NIC=eth1 nic.test -test.run '^TestHardware$' -test.v >$T/nic.txt 2>&1 || { fail "nic.test: exit $?"; cat $T/nic.txt; }
has "nic.test" $T/nic.txt ' was tx off, rx none, then tx on, rx ptpv2-event, then tx off, rx none$'
has "nic.test" $T/nic.txt '^--- PASS: TestHardware '

echo "== the wall clock is set a second ahead, and back, under every kind of round trip"
TICKMARK_LAB_STEP=1 probes.test -test.run '^TestWallStepChangesNoLatency$' -test.v >$T/step.txt 2>&1 || fail "probes.test: exit $?"
cat $T/step.txt
has "probes.test" $T/step.txt '^--- PASS: TestWallStepChangesNoLatency '
[ $failures = 0 ] || { echo "$failures failed"; exit 1; }
