#!/bin/bash
# Makes all recordings of this folder's parent anew: as root, with chrony, linuxptp and a
# JDK at hand, in five minutes. Everything happens in two namespaces of its own, on
# loopback, and in the guest of the lab.
set -eu
root=$(cd "$(dirname "$0")/../../../.." && pwd)
into=$root/datasets/corpus
export PATH=$root/bin/tools/usr/sbin:$root/bin/tools/usr/bin:$PATH:/usr/sbin:/sbin
cd "$root" && make -s build
tickmark=$root/bin/tickmark
T=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; ip netns del tma 2>/dev/null || true; ip netns del tmb 2>/dev/null || true; rm -rf "$T"' EXIT

# keep NAME TITLE MADE TRUTH: the recording of that name, with what is known of it.
keep() {
  awk -v title="$2" -v made="$3" -v truth="$4" '{ print } NR == 1 { print "title: " title; print "made: " made; print "truth: " truth }' "$T/$1.trace" |
    zstd -q -19 -f -o "$into/$1.trace.zst"
  echo "$1: $("$tickmark" show -f json --table header "$into/$1.trace.zst" | wc -c) bytes of header, $(stat -c %s "$into/$1.trace.zst") in all"
}

ip netns add tma; ip netns add tmb
ip link add va netns tma type veth peer name vb netns tmb
for e in tma,va,1 tmb,vb,2; do
  IFS=, read -r ns dev n <<<"$e"
  ip -n $ns addr add 10.7.0.$n/24 dev $dev; ip -n $ns link set lo up; ip -n $ns link set $dev up
done
a() { ip netns exec tma "$@"; }
b() { ip netns exec tmb "$@"; }

# its own freezes are the server's to know
"$tickmark" serve --udp 127.0.0.1:9123 --fault freeze:after=5s,every=8s,for=250ms --duration 45s & sleep 0.5
"$tickmark" probe udp -o "$T/loopback-freezes.trace" --interval 2ms --duration 40s 127.0.0.1:9123
keep loopback-freezes "round trips on loopback, 500 a second; the echo froze five times for 250 ms" \
  "tickmark serve --fault freeze:after=5s,every=8s,for=250ms; tickmark probe udp --interval 2ms" \
  "the server answered nothing from second 5, 13, 21, 29, 37 of its own time on, for 250 ms each; the probe began about half a second after it"

b "$tickmark" serve --udp 10.7.0.2:9123 --duration 40s & sleep 0.5
a "$tickmark" probe udp -o "$T/veth-stops.trace" --interval 2ms --duration 20s 10.7.0.2:9123 & probe=$!
for _ in 1 2 3; do sleep 5; kill -STOP $probe; sleep 0.3; kill -CONT $probe; done
wait $probe
keep veth-stops "round trips over veth, 500 a second; the probe itself was stopped three times for 300 ms" \
  "tickmark probe udp --interval 2ms between two network namespaces; kill -STOP, sleep 0.3, kill -CONT, each 5 s" \
  "three stops of our own process, 300 ms and a few ms each: they stand in the column stall, and no answer was late on the path"

b "$tickmark" serve --ntp 10.7.0.2:9124 --fault offset:by=1.234567ms --duration 40s & sleep 0.5
for mode in basic interleaved; do
  a "$tickmark" probe ntp:mode=$mode -o "$T/ntp-$mode.trace" --count 2000 --interval 5ms --i-own-this-server 10.7.0.2:9124
  keep ntp-$mode "NTP, $mode mode, with a server that lies by 1.234567 ms" \
    "tickmark serve --ntp --fault offset:by=1.234567ms; tickmark probe ntp:mode=$mode over veth" \
    "one clock: theta is +1.234567 ms, and its rate 0"
done

cat >"$T/ptp4l.conf" <<X
[global]
unicast_listen 1
free_running 1
logSyncInterval -4
logMinDelayReqInterval -4
X
b ptp4l -4 -S -i vb -m -f "$T/ptp4l.conf" --uds_address "$T/master" --masterOnly 1 >"$T/ptp4l.log" 2>&1 & ptp4l=$!
until grep -qs 'to MASTER' "$T/ptp4l.log"; do sleep 0.5; done
a "$tickmark" probe ptp:mode=unicast -o "$T/ptp-software.trace" --count 600 --interval 62500us 10.7.0.2
kill $ptp4l
keep ptp-software "PTP with software stamps, a ptp4l as master" \
  "ptp4l -S free_running; tickmark probe ptp:mode=unicast over veth" \
  "one clock: theta is 0; what is read is the difference of two software stamps' ways"

go build -o bin/lab/lab ./probes/testdata/lab
CGO_ENABLED=0 go build -o bin/lab/tickmark ./cmd/tickmark
CGO_ENABLED=0 go build -o bin/lab/step ./datasets/corpus/testdata/make/step
bin/lab/lab -out "$T/guest" datasets/corpus/testdata/make/guest.sh bin/lab/tickmark bin/lab/step >"$T/guest.log" || { tail "$T/guest.log"; exit 1; }
mv "$T"/guest/*/* "$T"
keep ptp-hardware "PTP with hardware stamps of two emulated Intel 82576, a ptp4l as master" \
  "make lab's guest: ptp4l -H free_running; tickmark probe ptp:mode=unicast,stamps=hardware" \
  "by phc_ctl our NIC's clock is ahead by $(cat "$T/ahead") ns: theta is the negative of it; both clocks run at one rate"
keep clock-step "the four clocks of a host whose wall clock was set, a second ahead and back" \
  "make lab's guest: tickmark probe clock --interval 10ms; clock_settime, twice" \
  "two steps of REALTIME, +1 s at about second 2 and -1 s at about second 4; the other clocks have none"

javac -d "$T" datasets/corpus/testdata/make/Server.java
java -Dsun.net.httpserver.nodelay=true -Xmx256m -XX:+UseSerialGC "-Xlog:gc*,safepoint:file=$T/gc.log:uptime,time" -cp "$T" Server 9125 & server=$!
until curl -so /dev/null http://127.0.0.1:9125/; do sleep 0.2; done
"$tickmark" probe pause:of=jvm,log="$T/gc.log" -o "$T/gc-process.trace" --duration 62s & watch=$!
sleep 1
"$tickmark" probe http -o "$T/http-gc.trace" --rate 400 --duration 60s http://127.0.0.1:9125/
wait $watch
kill $server
keep http-gc "HTTP round trips, 400 a second, of a Java server whose collector stops it" \
  "a JDK's HttpServer with 4 threads, -Xmx256m -XX:+UseSerialGC, growing and dropping its heap; tickmark probe http --rate 400" \
  "the server's own pauses are in builtin:gc-process, recorded beside it"
keep gc-process "the stops of the Java server of builtin:http-gc, as its collector's log tells them" \
  "tickmark probe pause:of=jvm on its -Xlog:gc*,safepoint" \
  "the JVM's own word, to the ns that it prints; its clock and the probe's are one"
du -ch "$into"/*.zst | tail -1
