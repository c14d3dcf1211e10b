# What a script in the guest begins with: two namespaces, a and b, each with a NIC and
# its clock, joined by the cable.
#
#   a: eth0 10.0.0.1 /dev/ptp0      b: eth1 10.0.0.2 /dev/ptp1

a() { ip netns exec a "$@"; }
b() { ip netns exec b "$@"; }

# connect PORT...: lays it all out. UDP packets from or to these ports are stamped as
# they arrive; name ports of event messages only, since a NIC holds one stamp at a time.
connect() {
  rxstamps & RXSTAMPS=$!
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

# stamping NAMESPACE DEVICE on|off: hardware stamps of what leaves and of PTP events.
stamping() {
  case $3 in on) set -- "$1" "$2" 1 12 ;; *) set -- "$1" "$2" 0 0 ;; esac
  ip netns exec "$1" hwstamp_ctl -i "$2" -t "$3" -r "$4" >/dev/null
}

# clock DEVICE PPB SECONDS: sets the rate, then the time: that much ahead of the system
# clock. The emulated clock jumps when its rate is changed, so the order matters.
clock() { phc_ctl "$1" -- freq "$2" set adj "$3" >/dev/null; }

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
