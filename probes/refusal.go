package probes

import (
	"errors"
	"slices"
	"syscall"
)

// refusal says that an attempt cannot be answered, and why.
type refusal struct {
	seq uint16 // the last bits of its number: no more fits into the packet's header
	why string
}

func (r *refusal) Error() string { return r.why }

// toldByICMP reports whether an error is what a connected socket tells of an ICMP message:
// Linux, icmp_err_convert in net/ipv4/icmp.c, tab_unreach in net/ipv6/icmp.c, and EMSGSIZE
// of __udp4_lib_err.
func toldByICMP(err error) bool {
	var e syscall.Errno
	return errors.As(err, &e) && slices.Contains([]syscall.Errno{
		syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH,
		syscall.ENOPROTOOPT, syscall.EACCES, syscall.EPROTO, syscall.EMSGSIZE,
	}, e)
}

// isRefusal reports whether a reading that fails so was told that the network did not
// carry a packet to where it was to go. A sending that fails so may have found out by
// itself, but for ECONNREFUSED.
func isRefusal(err error) bool {
	var r *refusal
	return errors.As(err, &r) || toldByICMP(err)
}
