// Command rxstamps N makes the Nth of the NICs that qemu emulates, from 0, hand out receive
// stamps to the driver igb, for as long as it runs. It reaches into the registers, so it
// needs root and a kernel started with iomem=relaxed.
//
// The 82576 (Intel's datasheet, chapter 8) stamps packets that a filter on the type of
// the frame selects and whose first bytes look like a PTP message of one type. qemu
// compares those bytes as if they came right behind the Ethernet header. Declared as
// that type of frame, an IPv4 packet passes if its first byte, 0x45, is taken for the
// message type, and the low half of its second, the TOS byte, for PTP's version 2.
//
// The NIC holds one stamp. Real ones let go of it when its upper half is read, as the
// driver does; qemu waits for a read of another register, which the driver leaves alone.
// That read is made here, once the driver has had the time for its own.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Registers, by their offset.
const (
	etqf0      = 0x05cb0 // filter on the type of the frame
	tsyncrxcfg = 0x05f50 // the message type, in the second byte
	tsyncrxctl = 0x0b620 // bit 0: there is a stamp
	rxstmpl    = 0x0b624 // the stamp
	rxstmph    = 0x0b628
	rxsatrh    = 0x0b630 // the read that lets go of it
	size       = 0x20000
)

const (
	ipv4    = 0x0800
	enabled = 1<<26 | 1<<30 // the filter, and the stamping of what passes it
	first   = 0x45 << 8     // of an IPv4 header without options
)

// grace is how long the driver has for fetching a stamp.
const grace = 3 * time.Millisecond

type device struct {
	registers []byte
	held      uint64 // the stamp seen last, 0 for none
	since     time.Time
}

func (d *device) at(offset int) *uint32 { return (*uint32)(unsafe.Pointer(&d.registers[offset])) }

// read is atomic so that a read whose result nobody uses is made all the same.
func (d *device) read(offset int) uint32 { return atomic.LoadUint32(d.at(offset)) }

func (d *device) keep(offset int, value uint32) {
	if d.read(offset) != value {
		atomic.StoreUint32(d.at(offset), value)
	}
}

func (d *device) step(now time.Time) {
	// The driver resets these whenever stamping is switched.
	d.keep(etqf0, ipv4|enabled)
	d.keep(tsyncrxcfg, first)
	if d.read(tsyncrxctl)&1 == 0 {
		d.held = 0
		return
	}
	stamp := uint64(d.read(rxstmph))<<32 | uint64(d.read(rxstmpl))
	if stamp != d.held {
		d.held, d.since = stamp, now
	} else if now.Sub(d.since) >= grace {
		d.read(rxsatrh)
		d.held = 0
	}
}

func open(path string) (*device, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_SYNC, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return &device{registers: b}, err
}

func main() {
	d, err := numbered(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rxstamps:", err)
		os.Exit(1)
	}
	for {
		d.step(time.Now())
		time.Sleep(2 * time.Millisecond)
	}
}

// numbered opens the NIC that the arguments say, in the order of the slots.
func numbered(args []string) (*device, error) {
	paths, err := filepath.Glob("/sys/bus/pci/drivers/igb/*/resource0")
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, fmt.Errorf("want the number of a NIC, below %d", len(paths))
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 0 || n >= len(paths) {
		return nil, fmt.Errorf("NIC %q: want a number below %d", args[0], len(paths))
	}
	return open(paths[n])
}
