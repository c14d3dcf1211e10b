# What a script in the guest begins with: two namespaces, a and b, each with a NIC and
# its clock, joined by the cable.
#
#   a: eth0 10.0.0.1 /dev/ptp0      b: eth1 10.0.0.2 /dev/ptp1

a() { ip netns exec a "$@"; }
b() { ip netns exec b "$@"; }

# connect PORT...: lays it all out. UDP packets from or to these ports are stamped as
# they arrive; name ports of event messages only, since a NIC holds one stamp at a time.
# While the process STAMPS_A or STAMPS_B is stopped, that NIC stamps no arrival.
connect() {
  rxstamps 0 & STAMPS_A=$!
  rxstamps 1 & STAMPS_B=$!
  ip netns add a; ip link set eth0 netns a; a ip addr add 10.0.0.1/24 dev eth0
  ip netns add b; ip link set eth1 netns b; b ip addr add 10.0.0.2/24 dev eth1
  mark a eth0 "$@" && mark b eth1 "$@" || return
  a ip link set lo up; b ip link set lo up
  a ip link set eth0 up; b ip link set eth1 up
  tries=0
  until a ping -c 1 -W 1 10.0.0.2 >/dev/null 2>&1; do
    tries=$((tries + 1)); [ $tries -lt 60 ] || { echo "the cable is dead"; return 1; }
  done
}

# mark NAMESPACE DEVICE PORT...: the emulated NIC stamps IPv4 packets whose TOS byte
# ends in 0010 (see rxstamps), so what leaves is given such a one.
mark() {
  space=$1 device=$2; shift 2
  ip netns exec "$space" tc qdisc add dev "$device" clsact || return
  for port; do for end in src_port dst_port; do
    ip netns exec "$space" tc filter add dev "$device" egress protocol ip flower ip_proto udp $end "$port" \
      action pedit ex munge ip tos set 0x02 retain 0x0f pipe action csum ip4h || return
  done; done
}

# stamping NAMESPACE DEVICE on|off|arrivals: hardware stamps of what leaves and of PTP
# events that arrive, of neither, of the latter alone.
stamping() {
  case $3 in on) set -- "$1" "$2" 1 12 ;; off) set -- "$1" "$2" 0 0 ;; arrivals) set -- "$1" "$2" 0 12 ;; esac
  ip netns exec "$1" hwstamp_ctl -i "$2" -t "$3" -r "$4" >/dev/null
}

# clock DEVICE PPB SECONDS: sets the rate, then the time: that much ahead of the system
# clock. The emulated clock jumps when its rate is changed, so the order matters.
clock() { phc_ctl "$1" -- freq "$2" set adj "$3" >/dev/null 2>&1; }

# against DEVICE: its time in seconds, and the system clock minus it in ns, both by
# linuxptp's phc_ctl. The difference is the mean of one reading before that of the time
# and one after, some 0.2 ms each way: at 20 ppm, 4 ns that cancel.
against() {
  phc_ctl "$1" get cmp get cmp | awk '
    /clock time is/ { time = $5 }
    /offset from CLOCK_REALTIME/ { n++; sum += $NF }
    END { printf "%s %.1f\n", time, sum / n }'
}

# apart: the time in seconds, and b's clock minus a's in ns. a's is read before and after
# b's, since the system clock, which both are held against, drifts meanwhile.
apart() {
  echo "$(against /dev/ptp0) $(against /dev/ptp1) $(against /dev/ptp0)" |
    awk '{ printf "%.6f %.1f\n", $3, $2 + ($6 - $2) * ($3 - $1) / ($5 - $1) - $4 }'
}

# misread TRACE SIGN FROM TILL: the median, in ns, of SIGN times a row's offset, minus what
# lies on the line from FROM to TILL (two answers of against) at that time.
misread() {
  awk -F '\t' -v sign="$2" -v from="$3" -v till="$4" '
    function ns(x) { return substr(x, 5) + 0 } # what a double holds of it
    BEGIN { split(from, f, " "); split(till, l, " ") }
    $1 == "seq" { for (i = 1; i <= NF; i++) at[$i] = i; next }
    /^[0-9]/ && $at["t1"] != "-" && $at["t4"] != "-" {
      theta = (ns($at["t2"]) - ns($at["t1"]) + ns($at["t3"]) - ns($at["t4"]) + $at["correction_back"]) / 2
      line = f[2] + (l[2] - f[2]) * (ns($at["t4"]) / 1e9 - (f[1] - 1767e6)) / (l[1] - f[1])
      print sign * theta - line
    }' "$1" | sort -n | awk '{ v[NR] = $1 } END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

failures=0
pass() { echo "PASS $*"; }
fail() { echo "FAIL $*"; failures=$((failures + 1)); }

# holds WHAT VALUE WANTED WITHIN: a number is as it should be.
holds() {
  if awk -v v="$2" -v w="$3" -v e="$4" 'BEGIN { d = v - w; exit !(v != "" && d <= e && d >= -e) }'; then
    pass "$1: $2, wanted $3 ± $4"
  else
    fail "$1: '$2', wanted $3 ± $4"
  fi
}

# same WHAT VALUE WANTED: a word is as it should be.
same() { if [ "$2" = "$3" ]; then pass "$1: $2"; else fail "$1: '$2', wanted '$3'"; fi; }

# await SECONDS COMMAND...: until the command succeeds.
await() {
  tries=$(($1 * 5)); shift
  until "$@"; do
    tries=$((tries - 1)); [ $tries -gt 0 ] || return 1
    sleep 0.2
  done
}

# end PROCESS: and wait for it.
end() { kill "$1"; wait "$1"; }
